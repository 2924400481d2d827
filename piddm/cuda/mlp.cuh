#pragma once
// What the kernels of lifting and projection share: tiles of points as factors, biases, results, and how many blocks
// there are.

#include "piddm/cuda/fragment.cuh"
#include "piddm/cuda/launch.cuh"

namespace piddm::cuda {

constexpr int kWarps = 8, kThreads = 32 * kWarps;

/// Tiles of 16 points a warp holds at a time, where there are points enough for all warps.
template <Precision P, int KC>
inline constexpr int kPointTiles = KC == 8 || P != Precision::bf16 ? 1 : 2;

__device__ inline const void* load_packed(unsigned char*& to, const void* from, size_t bytes) {
  const void* start = to;
  for (size_t i = threadIdx.x; i < bytes / 16; i += blockDim.x)
    reinterpret_cast<uint4*>(to)[i] = static_cast<const uint4*>(from)[i];
  to += bytes;
  return start;
}

/// Interleaved values [P, width] at points g and g+8 of a tile as a left factor, natural order.
template <Precision P>
__device__ inline FragmentA<P> narrow_factor(const Element<P>* values, int width, int64_t points, int64_t point) {
  const Lane lane;
  FragmentA<P> a;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int64_t at = point + lane.g + 8 * r;
    a.v[r] = a.v[r + 2] = make_pair<P>(0, 0);
    if (at >= points) continue;
    a.v[r] = *reinterpret_cast<const Pair<P>*>(values + at * width + 2 * lane.t);
    if (width == 16) a.v[r + 2] = *reinterpret_cast<const Pair<P>*>(values + at * width + 8 + 2 * lane.t);
  }
  return a;
}

/// Channels [P, channels] at points g and g+8 of a tile, columns 16 ks .., wide order.
template <Precision P>
__device__ inline FragmentA<P> wide_factor(const Element<P>* values, int channels, int64_t points, int64_t point,
                                           int ks) {
  const Lane lane;
  const int c = 16 * ks + 4 * lane.t;
  FragmentA<P> a;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int64_t at = point + lane.g + 8 * r;
    Quad<P> value = make_quad(make_pair<P>(0, 0), make_pair<P>(0, 0));
    if (at < points && c < channels) value = *reinterpret_cast<const Quad<P>*>(values + at * channels + c);
    a.v[r] = first(value), a.v[r + 2] = second(value);
  }
  return a;
}

/// d = bias of columns `column` and the next in both rows.
__device__ inline void set_bias(float (&d)[4], const float* bias, int column) {
  const float2 value = *reinterpret_cast<const float2*>(bias + column);
  d[0] = d[2] = value.x, d[1] = d[3] = value.y;
}
__device__ inline void set_bias(float (&d)[4], const float* bias, int column, int columns) {
  d[0] = d[2] = column < columns ? bias[column] : 0.f;
  d[1] = d[3] = column + 1 < columns ? bias[column + 1] : 0.f;
}

/// gelu of two neighbouring result tiles as the activated left factor of the next product.
template <Precision P>
__device__ inline FragmentA<P> activated(const float (&low)[4], const float (&high)[4]) {
  FragmentA<P> a;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    a.v[r] = activated_pair<P>(low[2 * r], low[2 * r + 1]);
    a.v[r + 2] = activated_pair<P>(high[2 * r], high[2 * r + 1]);
  }
  return a;
}

/// Result tiles 2j and 2j+1 of wide columns to [P, channels].
template <Precision P, int KC>
__device__ inline void store_wide(Element<P>* to, const float (&acc)[2 * KC][4], int channels, int64_t points,
                                  int64_t point) {
  const Lane lane;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int64_t at = point + lane.g + 8 * r;
    if (at >= points) continue;
#pragma unroll
    for (int j = 0; j < KC; ++j) {
      const int c = 16 * j + 4 * lane.t;
      if (c < channels)
        *reinterpret_cast<Quad<P>*>(to + at * channels + c) =
            make_quad(make_pair<P>(acc[2 * j][2 * r], acc[2 * j][2 * r + 1]),
                      make_pair<P>(acc[2 * j + 1][2 * r], acc[2 * j + 1][2 * r + 1]));
    }
  }
}

__device__ inline void store_narrow(float* to, const float (&acc)[4], int count, int64_t points, int64_t point) {
  const Lane lane;
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const int64_t at = point + lane.g + 8 * (e / 2);
    const int c = 2 * lane.t + e % 2;
    if (at < points && c < count) to[c * points + at] = acc[e];
  }
}

/// Calls f(sample, first point) for the tiles of this warp.
template <class F>
__device__ inline void for_tiles(int batch, int64_t points, int tile, F&& f) {
  const int64_t per_sample = (points + tile - 1) / tile, total = per_sample * batch;
  for (int64_t i = int64_t{blockIdx.x} * kWarps + threadIdx.x / 32; i < total; i += int64_t{gridDim.x} * kWarps)
    f(static_cast<int>(i / per_sample), i % per_sample * tile);
}

template <Precision P>
size_t hidden_bytes(int hidden, int columns) {
  return size_t(round_up(hidden, 16)) * columns * sizeof(Element<P>);
}

inline int64_t blocks_for(int batch, int64_t points, int tile) {
  return (batch * ((points + tile - 1) / tile) + kWarps - 1) / kWarps;
}

}  // namespace piddm::cuda
