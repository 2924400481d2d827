#include "piddm/files/tensor_map.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

namespace piddm {

static_assert(std::endian::native == std::endian::little, "the file formats are little-endian and copied as they are");

namespace {

constexpr std::pair<NumberType, torch::ScalarType> kTypes[] = {
    {NumberType::f64, torch::kFloat64},   {NumberType::f32, torch::kFloat32}, {NumberType::f16, torch::kFloat16},
    {NumberType::bf16, torch::kBFloat16}, {NumberType::i64, torch::kInt64},   {NumberType::i32, torch::kInt32},
    {NumberType::i16, torch::kInt16},     {NumberType::i8, torch::kInt8},     {NumberType::u8, torch::kUInt8},
    {NumberType::boolean, torch::kBool}};

}  // namespace

torch::ScalarType scalar_type(NumberType type) { return kTypes[static_cast<size_t>(type)].second; }

std::optional<NumberType> number_type(torch::ScalarType type) {
  for (const auto& [ours, theirs] : kTypes)
    if (theirs == type) return ours;
  return std::nullopt;
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
