#include <algorithm>

#include "piddm/cuda/check.cuh"
#include "piddm/cuda/normals.cuh"
#include "piddm/cuda/random.h"

namespace piddm::cuda {

namespace {

constexpr int kThreads = 128;
constexpr int64_t kMaxGridY = 65535;

// A thread makes the four numbers of one counter; blocks of a row of the grid work on one sample at a time.
template <Law kLaw, class T>
__global__ void draw_kernel(Samples s, T* out) {
  const int64_t block = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (4 * block >= s.size) return;
  const int64_t first = s.first + (s.first_device ? *s.first_device : 0);
  const int n = static_cast<int>(min(int64_t{4}, s.size - 4 * block));
  for (int64_t sample = blockIdx.y; sample < s.count; sample += gridDim.y) {
    const auto bits = philox(detail::counter_of(s.stream, static_cast<uint64_t>(first + sample), block), s.seed);
    const Four values = kLaw == Law::uniform ? uniforms_of(bits) : normals_of(bits);
    T* const to = out + sample * s.size + 4 * block;
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (k < n) to[k] = static_cast<T>(values.value[k]);
  }
}

template <class T>
void launch(Law law, const Samples& s, T* out, Stream stream) {
  if (s.count == 0 || s.size == 0) return;
  const int64_t blocks = (s.size + 3) / 4;
  const dim3 grid(static_cast<unsigned>((blocks + kThreads - 1) / kThreads),
                  static_cast<unsigned>(std::min(s.count, kMaxGridY)));
  const auto on = static_cast<cudaStream_t>(stream);
  if (law == Law::uniform)
    draw_kernel<Law::uniform><<<grid, kThreads, 0, on>>>(s, out);
  else
    draw_kernel<Law::normal><<<grid, kThreads, 0, on>>>(s, out);
  check_launch("random numbers");
}

}  // namespace

void draw(Law law, const Samples& samples, float* out, Stream stream) { launch(law, samples, out, stream); }
void draw(Law law, const Samples& samples, double* out, Stream stream) { launch(law, samples, out, stream); }

}  // namespace piddm::cuda
