#pragma once
// For tests of what only a GPU does: skipped where there is none, or no kernels.

#include "piddm/core/cuda.h"
#include "tests/testing.h"

#define NEEDS_GPU() \
  if (!piddm::cuda::kBuilt || !torch::cuda::is_available()) GTEST_SKIP() << "no GPU, or built without CUDA"

namespace piddm::testing {

inline const torch::Device kGpu(torch::kCUDA, 0);

/// Float32 numbers on the GPU that are all NaN: what a kernel leaves out shows.
inline Tensor poisoned(const std::vector<int64_t>& shape, torch::ScalarType dtype = torch::kFloat32) {
  return torch::full(shape, NAN, torch::TensorOptions(dtype).device(kGpu));
}

}  // namespace piddm::testing
