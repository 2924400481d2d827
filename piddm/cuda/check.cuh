#pragma once
// A launch that the driver refuses becomes an error that names the kernel.

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace piddm::cuda {

inline void check(cudaError_t code, const char* what) {
  if (code != cudaSuccess) throw std::runtime_error(std::string("CUDA, ") + what + ": " + cudaGetErrorString(code));
}

/// Call right after `kernel<<<...>>>`.
inline void check_launch(const char* kernel) { check(cudaGetLastError(), kernel); }

}  // namespace piddm::cuda
