#include "piddm/cuda/fragment.cuh"
#include "piddm/cuda/launch.cuh"

namespace piddm::cuda {
namespace {

constexpr int kJobs = 24, kThreads = 256;

struct Jobs {
  PackB job[kJobs];
  int count;
};

template <Precision P>
__device__ Pair<P> packed_pair(float x, float y, bool activated) {
  if constexpr (P == Precision::bf16)
    if (activated) return bits(__floats2half2_rn(x, y));
  return make_pair<P>(x, y);
}

__device__ float entry(const PackB& j, int k, int n) {
  return k < j.depth && n < j.columns ? j.source[k * j.stride_k + n * j.stride_n] : 0.f;
}

// Block (x, y): 256 lanes of job y. A tile (ks, nt) covers rows 16 ks.. and columns 8 nt..
template <Precision P>
__global__ void pack_b_kernel(Jobs jobs) {
  const PackB& j = jobs.job[blockIdx.y];
  const int column_tiles = j.padded_columns / 8, tiles = j.padded_depth / 16 * column_tiles;
  for (int item = blockIdx.x * kThreads + threadIdx.x; item < tiles * 32; item += gridDim.x * kThreads) {
    const int tile = item / 32, g = item % 32 / 4, t = item % 4, ks = tile / column_tiles, nt = tile % column_tiles;
    const int n = j.wide_n ? 16 * (nt / 2) + 4 * (g / 2) + 2 * (nt % 2) + g % 2 : 8 * nt + g;
    Pair<P> pair[2];
    for (int p = 0; p < 2; ++p) {
      const int k = 16 * ks + (j.wide_k ? 4 * t + 2 * p : 8 * p + 2 * t);
      pair[p] = packed_pair<P>(entry(j, k, n), entry(j, k + 1, n), j.activated);
    }
    reinterpret_cast<Quad<P>*>(j.target)[item] = make_quad(pair[0], pair[1]);
  }
}

template <Precision P>
__global__ void pack_a_kernel(const float* source, Quad<P>* target, int rows, int depth) {
  const int item = blockIdx.x * kThreads + threadIdx.x, steps = depth / 16;
  if (item >= rows / 16 * steps * 32) return;
  const int tile = item / 32, g = item % 32 / 4, t = item % 4, mt = tile / steps, ks = tile % steps;
  Pair<P> pair[4];
  for (int p = 0; p < 2; ++p)
    for (int r = 0; r < 2; ++r) {
      const float* at = source + (16 * mt + g + 8 * r) * depth + 16 * ks + 8 * p + 2 * t;
      set(pair[r + 2 * p], at[0], at[1]);
    }
  target[2 * item] = make_quad(pair[0], pair[1]);
  target[2 * item + 1] = make_quad(pair[2], pair[3]);
}

}  // namespace

void pack(Precision precision, const std::vector<PackB>& jobs, Stream stream) {
  for (size_t start = 0; start < jobs.size(); start += kJobs) {
    Jobs table{};
    table.count = static_cast<int>(std::min<size_t>(kJobs, jobs.size() - start));
    for (int i = 0; i < table.count; ++i) table.job[i] = jobs[start + i];
    for_precision(precision,
                  [&](auto p) { pack_b_kernel<p><<<dim3(16, table.count), kThreads, 0, stream_of(stream)>>>(table); });
    check_launch("pack");
  }
}

void pack_a(Precision precision, const float* source, void* target, int rows, int depth, Stream stream) {
  const int items = rows / 16 * (depth / 16) * 32, blocks = (items + kThreads - 1) / kThreads;
  for_precision(precision, [&](auto p) {
    pack_a_kernel<p><<<blocks, kThreads, 0, stream_of(stream)>>>(source, static_cast<Quad<p>*>(target), rows, depth);
  });
  check_launch("pack_a");
}

}  // namespace piddm::cuda
