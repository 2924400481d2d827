#include <algorithm>

#include "piddm/cuda/check.cuh"
#include "piddm/cuda/flow_batch.h"
#include "piddm/cuda/normals.cuh"

namespace piddm::cuda {

namespace {

constexpr int kThreads = 128;
constexpr int64_t kMaxGridY = 65535;

__device__ float combine(float a, float x, float b, float y) { return __fadd_rn(__fmul_rn(a, x), __fmul_rn(b, y)); }

// Four entries at once where every sample begins at a multiple of 16 bytes.
template <bool kVector>
__device__ void load(const float* from, int n, float (&to)[4]) {
  if constexpr (kVector) {
    const float4 v = *reinterpret_cast<const float4*>(from);
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
  } else {
#pragma unroll
    for (int k = 0; k < 4; ++k) to[k] = k < n ? from[k] : 0;
  }
}

template <bool kVector>
__device__ void store(float* to, int n, const float (&from)[4]) {
  if constexpr (kVector) {
    *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
  } else {
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (k < n) to[k] = from[k];
  }
}

template <bool kVector>
__global__ void flow_batch_kernel(FlowBatch b) {
  const Samples& s = b.noise;
  const int64_t block = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (4 * block >= s.size) return;
  const int64_t first = s.first + (s.first_device ? *s.first_device : 0);
  const int n = static_cast<int>(min(int64_t{4}, s.size - 4 * block));
  for (int64_t i = blockIdx.y; i < s.count; i += gridDim.y) {
    float x0[4], x_t[4], target[4];
    load<kVector>(b.data + b.rows[i] * s.size + 4 * block, n, x0);
    const Four e = normals_of(philox(detail::counter_of(s.stream, static_cast<uint64_t>(first + i), block), s.seed));
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const auto noise = static_cast<float>(e.value[k]);
      x_t[k] = combine(b.alpha[i], x0[k], b.sigma[i], noise);
      target[k] = combine(b.d_alpha[i], x0[k], b.d_sigma[i], noise);
    }
    store<kVector>(b.x_t + i * s.size + 4 * block, n, x_t);
    store<kVector>(b.target + i * s.size + 4 * block, n, target);
  }
}

bool aligned(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer) % sizeof(float4) == 0; }

}  // namespace

void flow_batch(const FlowBatch& b, Stream stream) {
  const auto& s = b.noise;
  if (s.count == 0 || s.size == 0) return;
  const int64_t blocks = (s.size + 3) / 4;
  const dim3 grid(static_cast<unsigned>((blocks + kThreads - 1) / kThreads),
                  static_cast<unsigned>(std::min(s.count, kMaxGridY)));
  const auto on = static_cast<cudaStream_t>(stream);
  if (s.size % 4 == 0 && aligned(b.data) && aligned(b.x_t) && aligned(b.target))
    flow_batch_kernel<true><<<grid, kThreads, 0, on>>>(b);
  else
    flow_batch_kernel<false><<<grid, kThreads, 0, on>>>(b);
  check_launch("flow-matching batch");
}

}  // namespace piddm::cuda
