#pragma once
// The most memory a piece of work took.

#include "piddm/core/tensor.h"

namespace piddm {

/// From construction on. GPU: bytes LibTorch has handed out, weights included (NaN in a build without CUDA kernels).
/// CPU: growth of the process's resident memory over what it was.
class PeakMemory {
 public:
  explicit PeakMemory(torch::Device device);
  double mib() const;

 private:
  torch::Device device_;
  int64_t before_ = 0;
};

}  // namespace piddm
