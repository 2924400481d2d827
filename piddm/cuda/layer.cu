// Row kernels: one block works on one row of a plane at a time, all of its points and channels.
#include "piddm/cuda/rows.cuh"

namespace piddm::cuda {
namespace {

extern __shared__ __align__(16) unsigned char shared_memory[];

template <Precision P, int KC>
__global__ void __launch_bounds__(RowShape<P, KC>::kThreads) analyse_kernel(Analysis a) {
  using S = RowShape<P, KC>;
  auto* tile = reinterpret_cast<Element<P>*>(shared_memory);
  const void* basis = fetch_packed<P, KC>(reinterpret_cast<unsigned char*>(tile + S::row_elements(a.width)), a.basis,
                                          S::basis_elements(a.width, a.kept2) * sizeof(Element<P>));
  clear_padding<P, KC>(tile, a.width);
  const int64_t row_size = int64_t{a.width} * a.channels, word_size = int64_t{a.kept2} * a.channels;
  for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    fetch_row<P, KC>(tile, static_cast<const Element<P>*>(a.x) + row * row_size, a.width, a.channels);
    end_copies();
    copies_done();
    __syncthreads();
    analyse_tile<P, KC, false>(tile, basis, static_cast<Pair<P>*>(a.words) + row * word_size, a.width, a.kept2,
                               a.channels, a.scale);
    __syncthreads();
  }
}

/// Puts result tiles into rows of points.
template <Precision P, int KC>
__device__ inline void store_points(Element<P>* tile, const float (&acc)[RowShape<P, KC>::kPointTiles][2 * KC][4],
                                    int first_tile, int width) {
  using S = RowShape<P, KC>;
  const Lane lane;
#pragma unroll
  for (int m = 0; m < S::kPointTiles; ++m)
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int w = 16 * (first_tile + m) + lane.g + 8 * r;
      if (w >= width) continue;
#pragma unroll
      for (int n = 0; n < 2 * KC; ++n)
        *reinterpret_cast<Pair<P>*>(tile + w * S::kStride + 8 * n + 2 * lane.t) =
            make_pair<P>(acc[m][n][2 * r], acc[m][n][2 * r + 1]);
    }
}

/// Adds rows of points to result tiles.
template <Precision P, int KC>
__device__ inline void add_points(float (&acc)[RowShape<P, KC>::kPointTiles][2 * KC][4], const Element<P>* tile,
                                  int first_tile, int width) {
  using S = RowShape<P, KC>;
  const Lane lane;
#pragma unroll
  for (int m = 0; m < S::kPointTiles; ++m)
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int w = 16 * (first_tile + m) + lane.g + 8 * r;
      if (w >= width) continue;
#pragma unroll
      for (int n = 0; n < 2 * KC; ++n) {
        const float2 x = floats(*reinterpret_cast<const Pair<P>*>(tile + w * S::kStride + 8 * n + 2 * lane.t));
        acc[m][n][2 * r] += x.x, acc[m][n][2 * r + 1] += x.y;
      }
    }
}

/// acc += S x, or with Activate S gelu(x), at the points of tile first + m.
template <Precision P, int KC, bool Activate>
__device__ inline void add_skip(float (&acc)[RowShape<P, KC>::kPointTiles][2 * KC][4], const Element<P>* tile,
                                const void* skip, int first_tile, int point_tiles) {
  using S = RowShape<P, KC>;
  constexpr int MT = S::kPointTiles;
#pragma unroll
  for (int ks = 0; ks < KC; ++ks) {
    FragmentA<P> a[MT];
#pragma unroll
    for (int m = 0; m < MT; ++m) {
      a[m] = a_from_points<P>(tile + 16 * min(first_tile + m, point_tiles - 1) * S::kStride + 16 * ks, S::kStride);
      if constexpr (Activate)
#pragma unroll
        for (auto& pair : a[m].v) pair = activated_pair<P>(pair);
    }
#pragma unroll
    for (int n = 0; n < 2 * KC; ++n) {
      const auto b = packed_b<P>(skip, ks * 2 * KC + n);
#pragma unroll
      for (int m = 0; m < MT; ++m) {
        if constexpr (Activate)
          multiply_activated<P>(acc[m][n], a[m], b);
        else
          multiply<P>(acc[m][n], a[m], b);
      }
    }
  }
}

/// What the layer adds to the spectral part: S x, S gelu(x), or x itself.
enum class Skip { plain, activated, given };

template <Precision P, int KC, Skip kSkip>
__global__ void __launch_bounds__(RowShape<P, KC>::kThreads) layer_forward_kernel(LayerForward l) {
  using S = RowShape<P, KC>;
  constexpr int MT = S::kPointTiles;
  const Lane lane;
  const int warp = threadIdx.x / 32, point_tiles = (l.width + 15) / 16;
  const size_t basis_bytes = S::basis_elements(l.width, l.kept2) * sizeof(Element<P>);
  const void* skip = fetch_packed<P, KC>(shared_memory, l.skip, kSkip == Skip::given ? 0 : S::kSkipBytes);
  const void* basis = fetch_packed<P, KC>(shared_memory + S::kSkipBytes, l.analysis, l.next ? basis_bytes : 0);
  // Two buffers of points and words each: a row is worked on while the next one arrives.
  auto* tiles = reinterpret_cast<Element<P>*>(shared_memory + S::kSkipBytes + basis_bytes);
  auto* words = reinterpret_cast<Pair<P>*>(tiles + 2 * S::row_elements(l.width));
  const auto fetch = [&](int buffer, int64_t row) {
    if (row < l.rows) {
      fetch_words<P, KC>(words + buffer * S::word_elements(l.kept2),
                         static_cast<const Pair<P>*>(l.words) + row * l.kept2 * l.channels, l.kept2, l.channels);
      fetch_row<P, KC>(tiles + buffer * S::row_elements(l.width),
                       static_cast<const Element<P>*>(l.x) + row * l.width * l.channels, l.width, l.channels);
    }
    end_copies();
  };
  clear_padding<P, KC>(tiles, l.width);
  clear_padding<P, KC>(tiles + S::row_elements(l.width), l.width);
  fetch(0, blockIdx.x);
  int current = 0;
  for (int64_t row = blockIdx.x; row < l.rows; row += gridDim.x, current ^= 1) {
    copies_done();
    __syncthreads();
    fetch(current ^ 1, row + gridDim.x);
    Element<P>* tile = tiles + current * S::row_elements(l.width);
    for (int first_tile = warp * MT; first_tile < point_tiles; first_tile += S::kWarps * MT) {
      float acc[MT][2 * KC][4];
#pragma unroll
      for (int n = 0; n < 2 * KC; ++n) {
        const int c = 8 * n + 2 * lane.t;
        const float2 bias = c < l.channels ? *reinterpret_cast<const float2*>(l.bias + c) : make_float2(0, 0);
#pragma unroll
        for (int m = 0; m < MT; ++m) acc[m][n][0] = acc[m][n][2] = bias.x, acc[m][n][1] = acc[m][n][3] = bias.y;
      }
      synthesise<P, KC>(acc, words + current * S::word_elements(l.kept2), l.synthesis, first_tile, point_tiles,
                        l.kept2);
      if constexpr (kSkip == Skip::given)
        add_points<P, KC>(acc, tile, first_tile, l.width);
      else
        add_skip<P, KC, kSkip == Skip::activated>(acc, tile, skip, first_tile, point_tiles);
      __syncwarp();
      store_points<P, KC>(tile, acc, first_tile, l.width);
    }
    __syncthreads();
    store_row<P, KC>(static_cast<Element<P>*>(l.z) + row * l.width * l.channels, tile, l.width, l.channels);
    if (l.next != nullptr)
      analyse_tile<P, KC, true>(tile, basis, static_cast<Pair<P>*>(l.next) + row * l.kept2 * l.channels, l.width,
                                l.kept2, l.channels, l.scale);
  }
}

/// The share of a warp in dskip [out, in]: tiles of one or more row tiles.
template <Precision P, int KC>
struct SkipGradient {
  using S = RowShape<P, KC>;
  static constexpr int kTiles = KC * 2 * KC, kMine = (kTiles + S::kWarps - 1) / S::kWarps;
  float acc[kMine][4] = {};

  /// += dz^T y over tiles of 16 points from `first` to `end`.
  __device__ void add(const Element<P>* dz, const Element<P>* y, int first, int end) {
    const int warp = threadIdx.x / 32;
    if (warp * kMine >= kTiles) return;
    for (int ks = first; ks < end; ++ks) {
      const int offset = 16 * ks * S::kStride;
      FragmentA<P> a = a_from_rows<P>(dz + offset + 16 * (warp * kMine / (2 * KC)), S::kStride);
#pragma unroll
      for (int i = 0; i < kMine; ++i) {
        const int id = warp * kMine + i, n = id % (2 * KC);
        if (i > 0 && n == 0) a = a_from_rows<P>(dz + offset + 16 * (id / (2 * KC)), S::kStride);
        multiply<P>(acc[i], a, b_from_rows<P>(y + offset + 8 * n, S::kStride));
      }
    }
  }
  __device__ void store(float* to, int channels) const {
    const Lane lane;
    const int warp = threadIdx.x / 32;
#pragma unroll
    for (int i = 0; i < kMine; ++i) {
      const int id = warp * kMine + i;
      if (id >= kTiles) continue;
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int o = 16 * (id / (2 * KC)) + lane.g + 8 * (e / 2), c = 8 * (id % (2 * KC)) + 2 * lane.t + e % 2;
        if (o < channels && c < channels) to[o * channels + c] = acc[i][e];
      }
    }
  }
};

// Tiles of points in turn, kWarps kPointTiles at a time: dy in registers; then y over x, of which dskip is made; then
// dx over dz.
template <Precision P, int KC>
__global__ void __launch_bounds__(RowShape<P, KC>::kThreads) layer_backward_kernel(LayerBackward l) {
  using S = RowShape<P, KC>;
  constexpr int MT = S::kPointTiles, kTogether = S::kWarps * MT;
  const Lane lane;
  const int warp = threadIdx.x / 32, point_tiles = (l.width + 15) / 16;
  const size_t basis_bytes = S::basis_elements(l.width, l.kept2) * sizeof(Element<P>);
  const void* skip = fetch_packed<P, KC>(shared_memory, l.skip, l.given ? 0 : S::kSkipBytes);
  const void* basis = fetch_packed<P, KC>(shared_memory + S::kSkipBytes, l.analysis, l.next ? basis_bytes : 0);
  auto* dz = reinterpret_cast<Element<P>*>(shared_memory + S::kSkipBytes + basis_bytes);
  auto* x = dz + S::row_elements(l.width);
  auto* words = reinterpret_cast<Pair<P>*>(x + S::row_elements(l.width));
  clear_padding<P, KC>(dz, l.width);
  clear_padding<P, KC>(x, l.width);
  SkipGradient<P, KC> dskip;
  const int64_t row_size = int64_t{l.width} * l.channels, word_size = int64_t{l.kept2} * l.channels;
  for (int64_t row = blockIdx.x; row < l.rows; row += gridDim.x) {
    fetch_words<P, KC>(words, static_cast<const Pair<P>*>(l.words) + row * word_size, l.kept2, l.channels);
    fetch_row<P, KC>(dz, static_cast<const Element<P>*>(l.dz) + row * row_size, l.width, l.channels);
    fetch_row<P, KC>(x, static_cast<const Element<P>*>(l.x) + row * row_size, l.width, l.channels);
    end_copies();
    copies_done();
    __syncthreads();
    for (int start = 0; start < point_tiles; start += kTogether) {
      const int first_tile = start + warp * MT;
      float acc[MT][2 * KC][4] = {};
      if (first_tile < point_tiles) {
        synthesise<P, KC>(acc, words, l.synthesis, first_tile, point_tiles, l.kept2);
        if (l.given)
          add_points<P, KC>(acc, dz, first_tile, l.width);
        else
          add_skip<P, KC, false>(acc, dz, skip, first_tile, point_tiles);
        if (l.activate)
#pragma unroll
          for (int m = 0; m < MT; ++m)
#pragma unroll
            for (int r = 0; r < 2; ++r) {
              const int w = 16 * (first_tile + m) + lane.g + 8 * r;
              if (w >= l.width) continue;
#pragma unroll
              for (int n = 0; n < 2 * KC; ++n) {
                auto* at = reinterpret_cast<Pair<P>*>(x + w * S::kStride + 8 * n + 2 * lane.t);
                float2 y, slope;
                gelu_and_slope<P>(floats(*at), y, slope);
                *at = make_pair<P>(y.x, y.y);
                acc[m][n][2 * r] *= slope.x, acc[m][n][2 * r + 1] *= slope.y;
              }
            }
      }
      __syncthreads();
      if (l.dskip != nullptr) dskip.add(dz, x, start, min(start + kTogether, point_tiles));
      __syncthreads();
      store_points<P, KC>(dz, acc, first_tile, l.width);
    }
    __syncthreads();
    store_row<P, KC>(static_cast<Element<P>*>(l.dx) + row * row_size, dz, l.width, l.channels);
    if (l.next != nullptr)
      analyse_tile<P, KC, false>(dz, basis, static_cast<Pair<P>*>(l.next) + row * word_size, l.width, l.kept2,
                                 l.channels, 1.f);
    __syncthreads();
  }
  if (l.dskip != nullptr) dskip.store(l.dskip + int64_t{blockIdx.x} * l.channels * l.channels, l.channels);
}

/// Shared memory of skip and basis, and of `tiles` rows of points and `words` of words.
template <Precision P, int KC>
size_t shared_bytes(int width, int kept2, int tiles, int words) {
  using S = RowShape<P, KC>;
  return S::kSkipBytes +
         (S::basis_elements(width, kept2) + size_t(tiles) * S::row_elements(width)) * sizeof(Element<P>) +
         size_t(words) * S::word_elements(kept2) * sizeof(Pair<P>);
}
template <Precision P, int KC>
size_t forward_bytes(int width, int kept2) {
  return shared_bytes<P, KC>(width, kept2, 2, 2);
}
template <Precision P, int KC>
size_t backward_bytes(int width, int kept2) {
  return shared_bytes<P, KC>(width, kept2, 2, 1);
}

}  // namespace

void analyse(Precision precision, const Analysis& a, Stream stream) {
  for_kernel(precision, a.channels, [&](auto p, auto kc) {
    using S = RowShape<p, kc>;
    const auto kernel = analyse_kernel<p, kc>;
    const size_t bytes = shared_bytes<p, kc>(a.width, a.kept2, 1, 0) - S::kSkipBytes;
    kernel<<<resident_blocks(kernel, S::kThreads, bytes, a.rows), S::kThreads, bytes, stream_of(stream)>>>(a);
  });
  check_launch("analyse");
}

void layer_forward(Precision precision, const LayerForward& l, Stream stream) {
  for_kernel(precision, l.channels, [&](auto p, auto kc) {
    using S = RowShape<p, kc>;
    const auto kernel = l.given      ? layer_forward_kernel<p, kc, Skip::given>
                        : l.activate ? layer_forward_kernel<p, kc, Skip::activated>
                                     : layer_forward_kernel<p, kc, Skip::plain>;
    const size_t bytes = forward_bytes<p, kc>(l.width, l.kept2);
    kernel<<<resident_blocks(kernel, S::kThreads, bytes, l.rows), S::kThreads, bytes, stream_of(stream)>>>(l);
  });
  check_launch("layer_forward");
}

int layer_backward_blocks(Precision precision, const LayerBackward& l) {
  int blocks = 0;
  for_kernel(precision, l.channels, [&](auto p, auto kc) {
    blocks = resident_blocks(layer_backward_kernel<p, kc>, RowShape<p, kc>::kThreads,
                             backward_bytes<p, kc>(l.width, l.kept2), l.rows);
  });
  return blocks;
}

void layer_backward(Precision precision, const LayerBackward& l, Stream stream) {
  const int blocks = layer_backward_blocks(precision, l);
  for_kernel(precision, l.channels, [&](auto p, auto kc) {
    layer_backward_kernel<p, kc>
        <<<blocks, RowShape<p, kc>::kThreads, backward_bytes<p, kc>(l.width, l.kept2), stream_of(stream)>>>(l);
  });
  check_launch("layer_backward");
}

bool row_fits(Precision precision, int width, int channels, int kept2) {
  size_t bytes = 0;
  for_kernel(precision, channels, [&](auto p, auto kc) { bytes = forward_bytes<p, kc>(width, kept2); });
  return bytes <= static_cast<size_t>(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
}

}  // namespace piddm::cuda
