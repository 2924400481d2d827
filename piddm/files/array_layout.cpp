#include "piddm/files/array_layout.h"

#include <algorithm>

namespace piddm {

int64_t item_bytes(NumberType type) {
  switch (type) {
    case NumberType::f64:
    case NumberType::i64:
      return 8;
    case NumberType::f32:
    case NumberType::i32:
      return 4;
    case NumberType::f16:
    case NumberType::bf16:
    case NumberType::i16:
      return 2;
    default:
      return 1;
  }
}

std::optional<int64_t> checked_bytes(const std::vector<int64_t>& shape, int64_t item_bytes) {
  int64_t bytes = item_bytes;
  bool empty = false;
  for (const int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(bytes, std::max<int64_t>(size, 1), &bytes)) return std::nullopt;
    empty = empty || size == 0;
  }
  return empty ? 0 : bytes;
}

}  // namespace piddm
