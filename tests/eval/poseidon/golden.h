#pragma once
// The reference data of tests/golden/scot-tiny.

#include "piddm/core/json_text.h"
#include "piddm/files/safetensors.h"
#include "tests/testing.h"

namespace piddm::testing {

inline const Tensor& scot_golden(const std::string& name) {
  static const TensorMap tensors = [] {
    TensorMap all;
    for (const char* part : {"1", "2", "3"})
      all.merge(read_safetensors(golden(std::string("scot-tiny/golden-") + part + ".safetensors")).tensors);
    return all;
  }();
  return tensors.at(name);
}

inline json scot_expected() { return json::parse(read_text(golden("scot-tiny/expected.json"))); }

inline double largest_error(const Tensor& a, const Tensor& b) {
  if (a.sizes() != b.sizes()) return INFINITY;
  return (a.to(torch::kFloat64) - b.to(torch::kFloat64)).abs().max().item<double>();
}

}  // namespace piddm::testing
