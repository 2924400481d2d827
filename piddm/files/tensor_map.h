#pragma once
// Named tensors, and what every tensor file needs to know about them.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "piddm/core/tensor.h"

namespace piddm {

using TensorMap = std::map<std::string, Tensor>;

/// Largest rank any of our formats reads or writes.
constexpr size_t kMaxRank = 8;

/// product(shape) * item_bytes, or nothing if a size is negative or anything overflows int64 (also hidden behind a zero
/// size).
std::optional<int64_t> checked_bytes(const std::vector<int64_t>& shape, int64_t item_bytes);

/// The tensor as contiguous CPU memory, detached, conjugation resolved.
Tensor packed(const Tensor& x);

/// The bytes of a packed tensor.
std::string_view bytes_of(const Tensor& x);

/// True if every byte of a freshly read bool tensor is 0 or 1; others are undefined behaviour in C++.
bool valid_bools(const Tensor& x);

}  // namespace piddm
