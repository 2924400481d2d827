#include <algorithm>

#include "piddm/cuda/check.cuh"
#include "piddm/cuda/optimizer.h"

namespace piddm::cuda {

namespace {

constexpr int kThreads = 256;
constexpr int64_t kMaxBlocks = int64_t{1} << 30;

__device__ double sum_of_block(double value) {
  __shared__ double warps[kThreads / 32];
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  double sum = 0;
  if (threadIdx.x == 0)
    for (const double part : warps) sum += part;
  return sum;  // of thread 0
}

__device__ double square(float x) { return static_cast<double>(x) * x; }

__global__ void norm_kernel(AdamBuffers b) {
  const int64_t stride = static_cast<int64_t>(kNormBlocks) * kThreads;
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int64_t quads = b.size / 4;
  double sum = 0;
  for (int64_t i = thread; i < quads; i += stride) {
    const float4 g = reinterpret_cast<const float4*>(b.gradient)[i];
    sum += (square(g.x) + square(g.y)) + (square(g.z) + square(g.w));
  }
  if (4 * quads + thread < b.size) sum += square(b.gradient[4 * quads + thread]);
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) b.partial[blockIdx.x] = sum;
}

// One block: the norm, the scale by clipping, and whether this step may be made.
__global__ void status_kernel(AdamBuffers b, double clip) {
  double sum = 0;
  for (int i = threadIdx.x; i < kNormBlocks; i += kThreads) sum += b.partial[i];
  sum = sum_of_block(sum);
  if (threadIdx.x > 0) return;
  const double norm = sqrt(sum);
  b.status->norm = norm;
  b.status->scale = clip > 0 && norm > clip ? clip / norm : 1;
  if (b.status->failed < 0 && !(isfinite(norm) && isfinite(*b.loss))) b.status->failed = b.numbers->step;
}

struct StepNumbers {
  float scale, step_size, root_correction2, ema_share;
};

struct Entry {
  float gradient, exp_avg, exp_avg_sq, weight, ema;
};

__device__ void update(Entry& e, const AdamConstants& c, const StepNumbers& n) {
  const float g = e.gradient * n.scale;
  e.exp_avg = c.beta1 * e.exp_avg + c.one_minus_beta1 * g;
  e.exp_avg_sq = c.beta2 * e.exp_avg_sq + c.one_minus_beta2 * g * g;
  e.weight -= n.step_size * e.exp_avg / (sqrtf(e.exp_avg_sq) / n.root_correction2 + c.eps);
  e.ema =
      n.ema_share < 0.5f ? e.ema + n.ema_share * (e.weight - e.ema) : e.weight - (e.weight - e.ema) * (1 - n.ema_share);
}

__global__ void __launch_bounds__(kThreads) adam_kernel(AdamBuffers b, AdamConstants c) {
  if (b.status->failed >= 0) return;
  const StepNumbers n{static_cast<float>(b.status->scale), static_cast<float>(b.numbers->step_size),
                      static_cast<float>(b.numbers->root_correction2), static_cast<float>(b.numbers->ema_share)};
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (4 * i + 4 <= b.size) {
    const float4 g = reinterpret_cast<const float4*>(b.gradient)[i];
    float4& m = reinterpret_cast<float4*>(b.exp_avg)[i];
    float4& s = reinterpret_cast<float4*>(b.exp_avg_sq)[i];
    float4& w = reinterpret_cast<float4*>(b.weights)[i];
    float4& a = reinterpret_cast<float4*>(b.ema)[i];
    const float4 m0 = m, s0 = s, w0 = w, a0 = a;
    Entry e[4] = {{g.x, m0.x, s0.x, w0.x, a0.x},
                  {g.y, m0.y, s0.y, w0.y, a0.y},
                  {g.z, m0.z, s0.z, w0.z, a0.z},
                  {g.w, m0.w, s0.w, w0.w, a0.w}};
#pragma unroll
    for (auto& entry : e) update(entry, c, n);
    m = make_float4(e[0].exp_avg, e[1].exp_avg, e[2].exp_avg, e[3].exp_avg);
    s = make_float4(e[0].exp_avg_sq, e[1].exp_avg_sq, e[2].exp_avg_sq, e[3].exp_avg_sq);
    w = make_float4(e[0].weight, e[1].weight, e[2].weight, e[3].weight);
    a = make_float4(e[0].ema, e[1].ema, e[2].ema, e[3].ema);
  } else {
    for (int64_t k = 4 * i; k < b.size; ++k) {
      Entry e{b.gradient[k], b.exp_avg[k], b.exp_avg_sq[k], b.weights[k], b.ema[k]};
      update(e, c, n);
      b.exp_avg[k] = e.exp_avg, b.exp_avg_sq[k] = e.exp_avg_sq, b.weights[k] = e.weight, b.ema[k] = e.ema;
    }
  }
}

}  // namespace

void adam_step(const AdamBuffers& b, const AdamConstants& c, Stream stream) {
  const auto on = static_cast<cudaStream_t>(stream);
  const int64_t blocks = (b.size + 4 * kThreads - 1) / (4 * kThreads);
  if (blocks == 0 || blocks > kMaxBlocks) throw std::runtime_error("CUDA, Adam: no weights, or too many");
  norm_kernel<<<kNormBlocks, kThreads, 0, on>>>(b);
  check_launch("gradient norm");
  status_kernel<<<1, kThreads, 0, on>>>(b, c.clip);
  check_launch("step status");
  adam_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, on>>>(b, c);
  check_launch("Adam");
}

}  // namespace piddm::cuda
