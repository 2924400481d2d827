#pragma once
// Initial weights of a network: normals of Stream::parameters, one index of the stream per parameter in the order they
// are asked for, so that a seed always gives the same weights.

#include <cstdint>
#include <string>
#include <vector>

#include "piddm/core/tensor.h"

namespace piddm {

class ParameterDraw {
 public:
  ParameterDraw(torch::nn::Module& owner, uint64_t seed) : owner_(owner), seed_(seed) {}

  /// Registers a parameter of `owner`, mean + std N(0,1); dots in the name become underscores.
  Tensor operator()(const std::string& name, const std::vector<int64_t>& shape, double std, double mean = 0);

 private:
  torch::nn::Module& owner_;
  uint64_t seed_;
  int64_t drawn_ = 0;
};

}  // namespace piddm
