#include "piddm/files/tensor_map.h"

#include <algorithm>
#include <bit>
#include <string_view>

namespace piddm {

static_assert(std::endian::native == std::endian::little, "the file formats are little-endian and copied as they are");

std::optional<int64_t> checked_bytes(const std::vector<int64_t>& shape, int64_t item_bytes) {
  int64_t bytes = item_bytes;
  bool empty = false;
  for (const int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(bytes, std::max<int64_t>(size, 1), &bytes)) return std::nullopt;
    empty = empty || size == 0;
  }
  return empty ? 0 : bytes;
}

Tensor packed(const Tensor& x) { return x.detach().to(torch::kCPU).resolve_conj().resolve_neg().contiguous(); }

std::string_view bytes_of(const Tensor& x) {
  return {static_cast<const char*>(x.data_ptr()), static_cast<size_t>(x.numel()) * x.element_size()};
}

bool valid_bools(const Tensor& x) {
  const auto bytes = bytes_of(x);
  return std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte == 0 || byte == 1; });
}

}  // namespace piddm
