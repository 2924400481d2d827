#pragma once
// What the kernels over rows of a plane share: a row [W, C] in shared memory, its words, and its transform along W.

#include "piddm/cuda/fragment.cuh"
#include "piddm/cuda/launch.cuh"

namespace piddm::cuda {

/// Shapes of a row kernel for 16 KC channels: warps of a block and tiles of 16 points a warp works on at a time.
template <Precision P, int KC>
struct RowShape {
  static constexpr int kChannels = 16 * KC;
  static constexpr int kWarps = KC == 8 ? 8 : 4, kThreads = 32 * kWarps, kPointTiles = KC == 8 ? 1 : 2;
  static constexpr int kStride = kChannels + kRowPad<P>;      ///< elements from point to point
  static constexpr int kWordStride = kChannels + kRowPad<P>;  ///< words from frequency to frequency
  static constexpr int kVector = 16 / sizeof(Element<P>);     ///< elements of a 16-byte access
  static constexpr size_t kSkipBytes = size_t{kChannels} * kChannels * sizeof(Element<P>);
  __host__ __device__ static int row_elements(int width) { return (width + 15) / 16 * 16 * kStride; }
  __host__ __device__ static int word_elements(int kept2) { return (kept2 + 7) / 8 * 8 * kWordStride; }
  __host__ __device__ static int basis_elements(int width, int kept2) {
    return (width + 15) / 16 * 16 * ((kept2 + 3) / 4 * 8);
  }
};

/// Rows W .. of the tile are zero for good: they are summed over.
template <Precision P, int KC>
__device__ void clear_padding(Element<P>* tile, int width) {
  using S = RowShape<P, KC>;
  for (int i = width * S::kStride + threadIdx.x; i < S::row_elements(width); i += S::kThreads)
    tile[i] = Element<P>(0.f);
}

/// Begins to copy a global row [W, channels] into the tile; channels beyond the real ones become zero.
template <Precision P, int KC>
__device__ void fetch_row(Element<P>* tile, const Element<P>* row, int width, int channels) {
  using S = RowShape<P, KC>;
  constexpr int kPerPoint = S::kChannels / S::kVector;
  for (int i = threadIdx.x; i < width * kPerPoint; i += S::kThreads) {
    const int w = i / kPerPoint, c = i % kPerPoint * S::kVector;
    copy16(tile + w * S::kStride + c, c < channels ? row + w * channels + c : row, c < channels);
  }
}
template <Precision P, int KC>
__device__ void store_row(Element<P>* row, const Element<P>* tile, int width, int channels) {
  using S = RowShape<P, KC>;
  constexpr int kPerPoint = S::kChannels / S::kVector;
  for (int i = threadIdx.x; i < width * kPerPoint; i += S::kThreads) {
    const int w = i / kPerPoint, c = i % kPerPoint * S::kVector;
    if (c < channels)
      *reinterpret_cast<uint4*>(row + w * channels + c) = *reinterpret_cast<const uint4*>(tile + w * S::kStride + c);
  }
}

/// Begins to copy words [K2, channels] of a row, zero up to a multiple of 8 frequencies and 16 KC channels.
template <Precision P, int KC>
__device__ void fetch_words(Pair<P>* to, const Pair<P>* from, int kept2, int channels) {
  using S = RowShape<P, KC>;
  constexpr int kVector = 16 / sizeof(Pair<P>), kPerLine = S::kChannels / kVector;
  for (int i = threadIdx.x; i < (kept2 + 7) / 8 * 8 * kPerLine; i += S::kThreads) {
    const int k = i / kPerLine, c = i % kPerLine * kVector;
    const bool inside = k < kept2 && c < channels;
    copy16(to + k * S::kWordStride + c, inside ? from + k * channels + c : from, inside);
  }
}

/// Begins to copy packed tiles; returns where they will be.
template <Precision P, int KC>
__device__ const void* fetch_packed(unsigned char* to, const void* from, size_t bytes) {
  for (int i = threadIdx.x; i < int(bytes / 16); i += RowShape<P, KC>::kThreads)
    copy16(to + 16 * i, static_cast<const unsigned char*>(from) + 16 * i, true);
  return to;
}

/// acc[m][n] += synthesis of the words at the points of tile first + m.
template <Precision P, int KC>
__device__ inline void synthesise(float (&acc)[RowShape<P, KC>::kPointTiles][2 * KC][4], const Pair<P>* words,
                                  const void* basis, int first, int point_tiles, int kept2) {
  using S = RowShape<P, KC>;
  const Lane lane;
  const int steps = (kept2 + 7) / 8;
#pragma unroll 3
  for (int ks = 0; ks < steps; ++ks) {
    FragmentA<P> a[S::kPointTiles];
#pragma unroll
    for (int m = 0; m < S::kPointTiles; ++m) a[m] = packed_a<P>(basis, min(first + m, point_tiles - 1) * steps + ks);
    const Pair<P>* at = words + (8 * ks + lane.t) * S::kWordStride + lane.g;
#pragma unroll
    for (int n = 0; n < 2 * KC; ++n) {
      FragmentB<P> b;
      b.v[0] = at[8 * n], b.v[1] = at[4 * S::kWordStride + 8 * n];
#pragma unroll
      for (int m = 0; m < S::kPointTiles; ++m) multiply<P>(acc[m][n], a[m], b);
    }
  }
}

/// words[k2,c] = scale sum_w e(w,k2) tile[w,c], with Activate of gelu(tile). A warp takes 16 channels at a time and up
/// to 24 frequencies.
template <Precision P, int KC, bool Activate>
__device__ void analyse_tile(const Element<P>* tile, const void* basis, Pair<P>* words, int width, int kept2,
                             int channels, float scale) {
  using S = RowShape<P, KC>;
  constexpr int kGroup = 6;
  const Lane lane;
  const int warp = threadIdx.x / 32, steps = (width + 15) / 16, column_tiles = (kept2 + 3) / 4;
  for (int mt = warp; mt < KC; mt += S::kWarps)
    for (int n0 = 0; n0 < column_tiles; n0 += kGroup) {
      float acc[kGroup][4] = {};
#pragma unroll 2
      for (int ks = 0; ks < steps; ++ks) {
        auto a = a_from_rows<P>(tile + 16 * ks * S::kStride + 16 * mt, S::kStride);
        if constexpr (Activate)
#pragma unroll
          for (auto& pair : a.v) pair = activated_pair<P>(pair);
#pragma unroll
        for (int n = 0; n < kGroup; ++n)
          if (n0 + n < column_tiles) {
            const auto b = packed_b<P>(basis, ks * column_tiles + n0 + n);
            if constexpr (Activate)
              multiply_activated<P>(acc[n], a, b);
            else
              multiply<P>(acc[n], a, b);
          }
      }
#pragma unroll
      for (int n = 0; n < kGroup; ++n)
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          const int k = 4 * (n0 + n) + lane.t, c = 16 * mt + lane.g + 8 * r;
          if (k < kept2 && c < channels)
            words[k * channels + c] = make_pair<P>(scale * acc[n][2 * r], scale * acc[n][2 * r + 1]);
        }
    }
}

}  // namespace piddm::cuda
