#pragma once
// Types and sizes of stored arrays, without LibTorch: what the headers of files are parsed into.

#include <cstdint>
#include <optional>
#include <vector>

namespace piddm {

/// Every type that any of our formats stores.
enum class NumberType { f64, f32, f16, bf16, i64, i32, i16, i8, u8, boolean };

int64_t item_bytes(NumberType type);

/// Largest rank any of our formats reads or writes.
constexpr size_t kMaxRank = 8;

/// product(shape) * item_bytes, or nothing if a size is negative or anything overflows int64 (also hidden behind a zero
/// size).
std::optional<int64_t> checked_bytes(const std::vector<int64_t>& shape, int64_t item_bytes);

}  // namespace piddm
