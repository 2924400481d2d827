#pragma once
// Launching kernels: shared memory beyond the default, and grids that fill the GPU once.

#include <algorithm>
#include <string>

#include "piddm/cuda/check.cuh"
#include "piddm/cuda/fno.h"

namespace piddm::cuda {

inline int device_attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  check(cudaGetDevice(&device), "current device");
  check(cudaDeviceGetAttribute(&value, attribute, device), "device attribute");
  return value;
}

/// Blocks of this kernel that run at the same time, at most `wanted`.
template <class Kernel>
int resident_blocks(Kernel kernel, int threads, size_t shared, int64_t wanted) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)),
        "shared memory of a kernel");
  int per_processor = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, kernel, threads, shared), "occupancy");
  const int64_t fit = int64_t{per_processor} * device_attribute(cudaDevAttrMultiProcessorCount);
  return static_cast<int>(std::max<int64_t>(1, std::min(wanted, fit)));
}

inline cudaStream_t stream_of(Stream stream) { return static_cast<cudaStream_t>(stream); }

/// f(std::integral_constant<int, KC>) with 16 KC the padded number of channels.
template <class F>
void for_channels(int channels, F&& f) {
  switch (padded_channels(channels)) {
    case 16:
      return f(std::integral_constant<int, 1>{});
    case 32:
      return f(std::integral_constant<int, 2>{});
    case 64:
      return f(std::integral_constant<int, 4>{});
    default:
      return f(std::integral_constant<int, 8>{});
  }
}

template <class F>
void for_precision(Precision precision, F&& f) {
  switch (precision) {
    case Precision::fp32:
      return f(std::integral_constant<Precision, Precision::fp32>{});
    case Precision::tf32:
      return f(std::integral_constant<Precision, Precision::tf32>{});
    case Precision::bf16:
      return f(std::integral_constant<Precision, Precision::bf16>{});
  }
}

/// f(precision, KC) as constants.
template <class F>
void for_kernel(Precision precision, int channels, F&& f) {
  for_precision(precision, [&](auto p) { for_channels(channels, [&](auto kc) { f(p, kc); }); });
}

}  // namespace piddm::cuda
