// Gradients of lifting and projection: the hidden layer is computed again, tile by tile.
#include "piddm/cuda/mlp.cuh"

namespace piddm::cuda {
namespace {

extern __shared__ __align__(16) unsigned char shared_memory[];

/// The hidden layer of a tile again, and the gradient that arrives at it: columns 16 ks + 8 q ..
template <Precision P, int KC, bool Lifting>
__device__ inline void hidden_pair(float (&before)[4], float (&gradient)[4], const FragmentA<P>& narrow,
                                   const FragmentA<P> (&wide)[KC], const FragmentB<P>& narrow_weight,
                                   const FragmentB<P> (&wide_weight)[KC]) {
  auto& from_narrow = Lifting ? before : gradient;
  auto& from_wide = Lifting ? gradient : before;
  multiply<P>(from_narrow, narrow, narrow_weight);
#pragma unroll
  for (int k = 0; k < KC; ++k) multiply<P>(from_wide, wide[k], wide_weight[k]);
}

template <Precision P, int KC, bool Lifting>
__global__ void __launch_bounds__(kThreads) input_gradient_kernel(MlpBackward l) {
  constexpr int MT = Lifting ? kPointTiles<P, KC> : 1, kOut = Lifting ? 1 : 2 * KC;
  const Lane lane;
  const int steps = (l.hidden + 15) / 16;
  unsigned char* memory = shared_memory;
  const void* narrow_weight = load_packed(memory, l.narrow_weight, size_t(steps) * 16 * 16 * sizeof(Element<P>));
  const void* wide_weight = load_packed(memory, l.wide_weight, size_t(steps) * 16 * 16 * KC * sizeof(Element<P>));
  const void* back_weight = load_packed(memory, l.back_weight, size_t(steps) * 16 * 8 * kOut * sizeof(Element<P>));
  __syncthreads();
  for_tiles(l.batch, l.points, 16 * MT, [&](int b, int64_t point) {
    const float* bias1 = l.bias1 + (l.bias_per_sample ? int64_t{b} * l.hidden : 0);
    FragmentA<P> narrow[MT], wide[MT][KC];
    float dx[MT][kOut][4] = {};
#pragma unroll
    for (int m = 0; m < MT; ++m) {
      narrow[m] = narrow_factor<P>(static_cast<const Element<P>*>(l.narrow_side) + b * l.points * l.narrow, l.narrow,
                                   l.points, point + 16 * m);
#pragma unroll
      for (int k = 0; k < KC; ++k)
        wide[m][k] = wide_factor<P>(static_cast<const Element<P>*>(l.wide_side) + b * l.points * l.channels, l.channels,
                                    l.points, point + 16 * m, k);
    }
#pragma unroll 2
    for (int ks = 0; ks < steps; ++ks) {
      FragmentA<P> a[MT];
#pragma unroll
      for (int q = 0; q < 2; ++q) {
        FragmentB<P> w[KC];
#pragma unroll
        for (int k = 0; k < KC; ++k) w[k] = packed_b<P>(wide_weight, k * 2 * steps + 2 * ks + q);
        const auto wn = packed_b<P>(narrow_weight, 2 * ks + q);
#pragma unroll
        for (int m = 0; m < MT; ++m) {
          float before[4], gradient[4] = {};
          set_bias(before, bias1, 16 * ks + 8 * q + 2 * lane.t);
          hidden_pair<P, KC, Lifting>(before, gradient, narrow[m], wide[m], wn, w);
#pragma unroll
          for (int r = 0; r < 2; ++r) {
            float2 y, slope;
            gelu_and_slope<P>(make_float2(before[2 * r], before[2 * r + 1]), y, slope);
            a[m].v[r + 2 * q] = make_pair<P>(gradient[2 * r] * slope.x, gradient[2 * r + 1] * slope.y);
          }
        }
      }
#pragma unroll
      for (int n = 0; n < kOut; ++n) {
        const auto w = packed_b<P>(back_weight, ks * kOut + n);
#pragma unroll
        for (int m = 0; m < MT; ++m) multiply<P>(dx[m][n], a[m], w);
      }
    }
#pragma unroll
    for (int m = 0; m < MT; ++m) {
      if constexpr (Lifting)
        store_narrow(static_cast<float*>(l.dx) + int64_t{b} * l.inputs * l.points, dx[m][0], l.inputs, l.points,
                     point + 16 * m);
      else
        store_wide<P, KC>(static_cast<Element<P>*>(l.dx) + b * l.points * l.channels, dx[m], l.channels, l.points,
                          point + 16 * m);
    }
  });
}

constexpr int64_t kSlice = 2048;  ///< points of an item of the weights' gradient

/// Hidden channels a warp owns: 16 HT.
template <Precision P, int KC>
inline constexpr int kHiddenTiles = 1;
/// Warps of a block: as many as registers allow.
template <Precision P, int KC>
inline constexpr int kOwners = P == Precision::bf16&& KC <= 4 ? 16 : 8;

template <Precision P>
__device__ inline FragmentA<P> transposed(const Pair<P> (&low)[2], const Pair<P> (&high)[2]) {
  FragmentA<P> a;
  a.v[0] = transpose(low[0]), a.v[1] = transpose(high[0]), a.v[2] = transpose(low[1]), a.v[3] = transpose(high[1]);
  return a;
}

constexpr int kTile = 64;  ///< points in shared memory at a time

/// Begins to copy points from .. of [P, count] into a tile, zero from `end` on and up to `padded`.
template <Precision P>
__device__ void fetch_points(Element<P>* to, const Element<P>* from, int64_t point, int64_t end, int count, int padded,
                             int stride) {
  constexpr int kVector = 16 / sizeof(Element<P>);
  const int per_point = padded / kVector;
  for (int i = threadIdx.x; i < kTile * per_point; i += blockDim.x) {
    const int w = i / per_point, c = i % per_point * kVector;
    const bool inside = point + w < end && c < count;
    copy16(to + w * stride + c, inside ? from + (point + w) * count + c : from, inside);
  }
}

/// The hidden values of 16 points and the gradient that arrives at them, both transposed; points from `inside` on are
/// zero. The gradient is added to bias_sum. Tiles begin at the first of the points.
template <Precision P, int KC, bool Lifting, int HT>
__device__ __forceinline__ void hidden_tiles(FragmentA<P> (&hidden)[HT], FragmentA<P> (&gradient)[HT],
                                             float (&bias_sum)[HT][4], const Element<P>* narrow_tile,
                                             const Element<P>* wide_tile, const FragmentB<P> (&narrow_weight)[2 * HT],
                                             const FragmentB<P> (&wide_weight)[2 * HT][KC], const float* bias1,
                                             int first_tile, int tiles, int64_t inside) {
  constexpr int kStride = 16 * KC + kRowPad<P>, kNarrow = 16 + kRowPad<P>;
  const Lane lane;
  FragmentB<P> ones;
  ones.v[0] = ones.v[1] = make_pair<P>(1.f, 1.f);
  const auto narrow = a_from_points<P>(narrow_tile, kNarrow);
  FragmentA<P> wide[KC];
#pragma unroll
  for (int k = 0; k < KC; ++k) wide[k] = a_from_points<P>(wide_tile + 16 * k, kStride);
#pragma unroll
  for (int h = 0; h < HT; ++h) {
    Pair<P> y[2][2], d[2][2];
#pragma unroll
    for (int q = 0; q < 2; ++q) {
      float before[4], arriving[4] = {};
      set_bias(before, bias1, 8 * min(first_tile + 2 * h + q, tiles - 1) + 2 * lane.t);
      hidden_pair<P, KC, Lifting>(before, arriving, narrow, wide, narrow_weight[2 * h + q], wide_weight[2 * h + q]);
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const bool counts = lane.g + 8 * r < inside;
        float2 value, slope;
        gelu_and_slope<P>(make_float2(before[2 * r], before[2 * r + 1]), value, slope);
        y[q][r] = counts ? make_pair<P>(value.x, value.y) : make_pair<P>(0, 0);
        d[q][r] = make_pair<P>(arriving[2 * r] * slope.x, arriving[2 * r + 1] * slope.y);
        if (!counts) d[q][r] = make_pair<P>(0, 0);
      }
    }
    hidden[h] = transposed<P>(y[0], y[1]);
    gradient[h] = transposed<P>(d[0], d[1]);
    multiply<P>(bias_sum[h], gradient[h], ones);
  }
}

/// The sums of a warp, as rows of this block's part of wide_sums and narrow_sums.
template <int KC, int HT>
__device__ __forceinline__ void store_weight_sums(const MlpBackward& l, int first_tile,
                                                  const float (&wide_sum)[HT][2 * KC][4],
                                                  const float (&narrow_sum)[HT][2][4]) {
  const Lane lane;
#pragma unroll
  for (int h = 0; h < HT; ++h)
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int j = 8 * (first_tile + 2 * h) + lane.g + 8 * (e / 2);
      if (j >= l.hidden) continue;
      float* wide_row = l.wide_sums + (int64_t{blockIdx.x} * l.hidden + j) * l.channels;
      float* narrow_row = l.narrow_sums + (int64_t{blockIdx.x} * l.hidden + j) * kMaxInputs;
#pragma unroll
      for (int n = 0; n < 2 * KC; ++n) {
        const int c = 8 * n + 2 * lane.t + e % 2;
        if (c < l.channels) wide_row[c] = wide_sum[h][n][e];
      }
#pragma unroll
      for (int p = 0; p < 2; ++p) narrow_row[8 * p + 2 * lane.t + e % 2] = narrow_sum[h][p][e];
    }
}

// Every warp owns some hidden channels for good and goes through all points of its block: its weights and its sums stay
// in registers.
template <Precision P, int KC, bool Lifting>
__global__ void __launch_bounds__(32 * kOwners<P, KC>) weight_gradient_kernel(MlpBackward l, int slices) {
  constexpr int HT = kHiddenTiles<P, KC>, kStride = 16 * KC + kRowPad<P>, kNarrow = 16 + kRowPad<P>;
  constexpr int kBuffer = kTile * (kStride + kNarrow);
  const Lane lane;
  const int tiles = l.hidden / 8, first_tile = (blockIdx.y * kOwners<P, KC> + threadIdx.x / 32) * 2 * HT;
  const bool busy = first_tile < tiles;
  auto* memory = reinterpret_cast<Element<P>*>(shared_memory);
  FragmentB<P> wide_weight[2 * HT][KC], narrow_weight[2 * HT];
#pragma unroll
  for (int n = 0; n < 2 * HT; ++n) {
    const int tile = min(first_tile + n, tiles - 1);
    narrow_weight[n] = packed_b<P>(l.narrow_weight, tile);
#pragma unroll
    for (int k = 0; k < KC; ++k) wide_weight[n][k] = packed_b<P>(l.wide_weight_natural, k * tiles + tile);
  }
  float wide_sum[HT][2 * KC][4] = {}, narrow_sum[HT][2][4] = {};
  for (int item = blockIdx.x; item < l.batch * slices; item += gridDim.x) {
    const int b = item / slices, slice = item % slices;
    const float* bias1 = l.bias1 + (l.bias_per_sample ? int64_t{b} * l.hidden : 0);
    const int64_t begin = slice * kSlice, end = min(l.points, begin + kSlice);
    const auto* wide_side = static_cast<const Element<P>*>(l.wide_side) + b * l.points * l.channels;
    const auto* narrow_side = static_cast<const Element<P>*>(l.narrow_side) + b * l.points * l.narrow;
    const auto fetch = [&](int buffer, int64_t point) {
      if (point < end) {
        fetch_points<P>(memory + buffer * kBuffer, wide_side, point, end, l.channels, 16 * KC, kStride);
        fetch_points<P>(memory + buffer * kBuffer + kTile * kStride, narrow_side, point, end, l.narrow, 16, kNarrow);
      }
      end_copies();
    };
    float bias_sum[HT][4] = {};
    __syncthreads();
    fetch(0, begin);
    int current = 0;
    for (int64_t start = begin; start < end; start += kTile, current ^= 1) {
      copies_done();
      __syncthreads();
      fetch(current ^ 1, start + kTile);
      const Element<P>* wide_tile = memory + current * kBuffer;
      const Element<P>* narrow_tile = wide_tile + kTile * kStride;
      for (int at = 0; busy && at < kTile && start + at < end; at += 16) {
        FragmentA<P> hidden[HT], gradient[HT];
        hidden_tiles<P, KC, Lifting>(hidden, gradient, bias_sum, narrow_tile + at * kNarrow, wide_tile + at * kStride,
                                     narrow_weight, wide_weight, bias1, first_tile, tiles, end - (start + at));
#pragma unroll
        for (int n = 0; n < 2 * KC; ++n) {
          const auto columns = b_from_rows<P>(wide_tile + at * kStride + 8 * n, kStride);
#pragma unroll
          for (int h = 0; h < HT; ++h) multiply<P>(wide_sum[h][n], Lifting ? hidden[h] : gradient[h], columns);
        }
#pragma unroll
        for (int p = 0; p < 2; ++p) {
          if (8 * p >= l.narrow) continue;
          const auto columns = b_from_rows<P>(narrow_tile + at * kNarrow + 8 * p, kNarrow);
#pragma unroll
          for (int h = 0; h < HT; ++h) multiply<P>(narrow_sum[h][p], Lifting ? gradient[h] : hidden[h], columns);
        }
      }
    }
#pragma unroll
    for (int h = 0; h < HT; ++h)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int j = 8 * (first_tile + 2 * h) + lane.g + 8 * r;
        if (lane.t == 0 && j < l.hidden)
          l.bias_sums[(int64_t{slice} * l.batch + b) * l.hidden + j] = bias_sum[h][2 * r];
      }
  }
  store_weight_sums<KC>(l, first_tile, wide_sum, narrow_sum);
}

template <Precision P, int KC>
size_t weight_gradient_bytes() {
  return 2 * size_t{kTile} * (16 * KC + 16 + 2 * kRowPad<P>)*sizeof(Element<P>);
}

}  // namespace

void mlp_input_gradient(Precision precision, const MlpBackward& m, Stream stream) {
  for_kernel(precision, m.channels, [&](auto p, auto kc) {
    const auto kernel = m.lifting ? input_gradient_kernel<p, kc, true> : input_gradient_kernel<p, kc, false>;
    const size_t bytes = hidden_bytes<p>(m.hidden, 16 + 16 * kc + (m.lifting ? 8 : 16 * kc));
    const int tile = 16 * (m.lifting ? kPointTiles<p, kc> : 1);
    kernel<<<resident_blocks(kernel, kThreads, bytes, blocks_for(m.batch, m.points, tile)), kThreads, bytes,
             stream_of(stream)>>>(m);
  });
  check_launch("mlp_input_gradient");
}

int mlp_gradient_slices(const MlpBackward& m) { return static_cast<int>((m.points + kSlice - 1) / kSlice); }

int mlp_gradient_blocks(Precision precision, const MlpBackward& m) {
  int blocks = 0;
  for_kernel(precision, m.channels, [&](auto p, auto kc) {
    const auto kernel = m.lifting ? weight_gradient_kernel<p, kc, true> : weight_gradient_kernel<p, kc, false>;
    blocks = resident_blocks(kernel, 32 * kOwners<p, kc>, weight_gradient_bytes<p, kc>(),
                             int64_t{m.batch} * mlp_gradient_slices(m));
  });
  return blocks;
}

void mlp_weight_gradient(Precision precision, const MlpBackward& m, Stream stream) {
  const int blocks = mlp_gradient_blocks(precision, m), slices = mlp_gradient_slices(m);
  for_kernel(precision, m.channels, [&](auto p, auto kc) {
    const auto kernel = m.lifting ? weight_gradient_kernel<p, kc, true> : weight_gradient_kernel<p, kc, false>;
    const int owned = kOwners<p, kc> * 16 * kHiddenTiles<p, kc>, groups = (m.hidden + owned - 1) / owned;
    kernel<<<dim3(blocks, groups), 32 * kOwners<p, kc>, weight_gradient_bytes<p, kc>(), stream_of(stream)>>>(m, slices);
  });
  check_launch("mlp_weight_gradient");
}

}  // namespace piddm::cuda
