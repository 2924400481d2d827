#pragma once
// The arrays of tests/golden/make_core_formats.py, and damage for files.

#include <string>
#include <utility>
#include <vector>

#include "tests/memory_file.h"
#include "tests/testing.h"

namespace piddm::testing {

inline const std::vector<std::pair<std::string, torch::ScalarType>>& numpy_types() {
  static const std::vector<std::pair<std::string, torch::ScalarType>> list = {
      {"F64", torch::kFloat64}, {"F32", torch::kFloat32}, {"F16", torch::kFloat16},
      {"I64", torch::kInt64},   {"I32", torch::kInt32},   {"I16", torch::kInt16},
      {"I8", torch::kInt8},     {"U8", torch::kUInt8},    {"BOOL", torch::kBool}};
  return list;
}

/// array() of the script.
inline Tensor example(torch::ScalarType dtype) {
  const auto x = torch::arange(6, torch::kFloat64).reshape({2, 3});
  if (dtype == torch::kBool) return x.remainder(2).to(dtype);
  if (dtype == torch::kUInt8) return (x - 2).clamp_min(0).to(dtype);
  return (c10::isIntegralType(dtype, false) ? x - 2 : (x - 2) * 0.25).to(dtype);
}

inline Tensor example_grid() { return torch::arange(24, torch::kFloat64).reshape({2, 3, 4}) / 8; }

inline void expect_identical(const Tensor& got, const Tensor& expected) {
  EXPECT_EQ(got.scalar_type(), expected.scalar_type());
  EXPECT_EQ(got.sizes(), expected.sizes());
  EXPECT_TRUE(got.is_contiguous());
  EXPECT_TRUE(got.equal(expected));
}

/// `text` with one bit changed; `k` runs over all bits of the file in a scattered order.
inline std::string flip_bit(std::string text, uint64_t k) {
  const uint64_t bit = (k * 2654435761u) % (text.size() * 8);
  text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << (bit % 8)));
  return text;
}

/// Runs the golden script's `check` on a folder of files of ours; -1 where there is no python3 with numpy.
inline int check_with_python(const std::filesystem::path& folder) {
  for (const std::string python : {"python3", "/usr/bin/python3"}) {
    if (std::system((python + " -c 'import numpy' >/dev/null 2>&1").c_str()) != 0) continue;
    const auto script = golden("make_core_formats.py").string();
    return std::system(fmt::format("{} {} check {}", python, script, folder.string()).c_str());
  }
  return -1;
}

}  // namespace piddm::testing
