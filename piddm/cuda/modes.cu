// Transforms of words along H, mode mixing and the gradient of its weights.
#include "piddm/cuda/fragment.cuh"
#include "piddm/cuda/launch.cuh"

namespace piddm::cuda {
namespace {

extern __shared__ __align__(16) unsigned char shared_memory[];

// A block takes one (sample, k2). Its warps share the channels, 16 each, and take 32 of the outputs at a time; or,
// where there is little to do (Small), they share the outputs, 8 each, of 16 channels.
template <Precision P, bool Small>
__global__ void __launch_bounds__(128) transform_kernel(AlongH a) {
  constexpr int kGroup = Small ? 1 : 4, kVector = 16 / sizeof(Pair<P>);
  const Lane lane;
  const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const int together = Small ? 16 : 16 * warps, per_line = together / kVector, stride = together + kRowPad<P>;
  const int b = blockIdx.x / a.kept2, k2 = blockIdx.x % a.kept2, c0 = blockIdx.y * together;
  const auto* in = static_cast<const Pair<P>*>(a.in) + b * a.in_b + k2 * a.in_k2 + c0;
  auto* out = static_cast<Pair<P>*>(a.out) + b * a.out_b + k2 * a.out_k2 + c0;
  const int steps = (a.n_in + 7) / 8, row_tiles = (a.n_out + 7) / 8, channels = a.channels - c0;
  auto* tile = reinterpret_cast<Pair<P>*>(shared_memory);
  for (int i = threadIdx.x; i < 8 * steps * per_line; i += blockDim.x) {
    const int line = i / per_line, c = i % per_line * kVector;
    const bool inside = line < a.n_in && c < channels;
    copy16(tile + line * stride + c, inside ? in + line * a.in_i + c : in, inside);
  }
  end_copies();
  copies_done();
  __syncthreads();
  const int mine = Small ? 0 : 16 * warp, first = Small ? blockIdx.z * warps + warp : 0;
  if (mine >= channels) return;
  for (int m0 = first; m0 < row_tiles; m0 += Small ? row_tiles : kGroup) {
    float acc[kGroup][2][4] = {};
#pragma unroll 4
    for (int ks = 0; ks < steps; ++ks) {
      FragmentB<P> x[2];
#pragma unroll
      for (int q = 0; q < 2; ++q)
#pragma unroll
        for (int p = 0; p < 2; ++p) x[q].v[p] = tile[(8 * ks + 4 * p + lane.t) * stride + mine + 8 * q + lane.g];
#pragma unroll
      for (int m = 0; m < kGroup; ++m) {
        const auto e = packed_a<P>(a.basis, min(m0 + m, row_tiles - 1) * steps + ks);
        multiply<P>(acc[m][0], e, x[0]);
        multiply<P>(acc[m][1], e, x[1]);
      }
    }
#pragma unroll
    for (int m = 0; m < kGroup; ++m)
#pragma unroll
      for (int q = 0; q < 2; ++q) {
        const int j = 8 * (m0 + m) + lane.g, c = mine + 8 * q + 2 * lane.t;
        const auto& d = acc[m][q];
        if (j < a.n_out && c < channels)
          *reinterpret_cast<Quad<P>*>(out + j * a.out_j + c) =
              make_quad(make_pair<P>(d[0], d[2]), make_pair<P>(d[1], d[3]));
      }
  }
}

/// The right factor of a mode: rows are (re, im) of 8 inputs, columns (re, im) of 4 outputs; parts [outputs, inputs] in
/// shared memory.
///   y = w x:    (re y, im y) = (wr xr - wi xi, wi xr + wr xi)
///   adjoint:    (wr xr + wi xi, -wi xr + wr xi) with w transposed
template <Precision P, bool Adjoint>
__device__ inline FragmentB<P> mode_factor(const float* real, const float* imaginary, int stride, int ks, int nt) {
  const Lane lane;
  const int n = 4 * nt + lane.g / 2;
  FragmentB<P> b;
#pragma unroll
  for (int p = 0; p < 2; ++p) {
    const int k = 8 * ks + 4 * p + lane.t, at = Adjoint ? k * stride + n : n * stride + k;
    const float wr = real[at], cross = Adjoint ? imaginary[at] : -imaginary[at];
    b.v[p] = lane.g % 2 == 0 ? make_pair<P>(wr, cross) : make_pair<P>(-cross, wr);
  }
  return b;
}

/// Samples b0 .. of a mode, words [B, count] as elements [rows, 2 count], zero beyond the batch and up to `padded`
/// words.
template <Precision P>
__device__ void fetch_samples(Element<P>* to, const Pair<P>* from, int b0, int batch, int count, int padded, int rows,
                              int stride) {
  constexpr int kVector = 16 / sizeof(Element<P>);
  const int per_row = 2 * padded / kVector;
  for (int i = threadIdx.x; i < rows * per_row; i += blockDim.x) {
    const int b = i / per_row, e = i % per_row * kVector;
    const bool inside = b0 + b < batch && e < 2 * count;
    const auto* at = reinterpret_cast<const Element<P>*>(from + int64_t{inside ? b0 + b : 0} * count);
    copy16(to + b * stride + e, at + (inside ? e : 0), inside);
  }
}

constexpr int kMixSamples = 64;

// A block takes one mode; a warp holds the factor of NT column tiles and goes through the samples.
template <Precision P, int KS, int NT, bool Adjoint>
__global__ void __launch_bounds__(256) mix_kernel(ModeMixing m) {
  constexpr int kPadded = 8 * KS, kWeightStride = kPadded + 4, kStride = 2 * kPadded + kRowPad<P>;
  const Lane lane;
  const int warp = threadIdx.x / 32, warps = blockDim.x / 32, mode = blockIdx.x;
  const int rows = Adjoint ? m.outputs : m.inputs, columns = Adjoint ? m.inputs : m.outputs;
  const int64_t size = int64_t{m.inputs} * m.outputs;
  const float* weight = m.weight + (int64_t{m.first1 + mode / m.kept2} * m.full2 + mode % m.kept2) * 2 * size;
  const auto* in = static_cast<const Pair<P>*>(m.in) + int64_t{mode} * m.batch * rows;
  auto* out = static_cast<Pair<P>*>(m.out) + int64_t{mode} * m.batch * columns;
  auto* real = reinterpret_cast<float*>(shared_memory);
  float* imaginary = real + kPadded * kWeightStride;
  auto* tile = reinterpret_cast<Element<P>*>(imaginary + kPadded * kWeightStride);
  for (int i = threadIdx.x; i < 2 * kPadded * (kPadded / 4); i += blockDim.x) {
    const int part = i / (kPadded * (kPadded / 4)), o = i / (kPadded / 4) % kPadded, c = i % (kPadded / 4) * 4;
    const bool inside = o < m.outputs && c < m.inputs;
    copy16(real + (part * kPadded + o) * kWeightStride + c, inside ? weight + part * size + o * m.inputs + c : weight,
           inside);
  }
  for (int start = 0; start < m.batch; start += kMixSamples) {
    if (start > 0) __syncthreads();
    fetch_samples<P>(tile, in, start, m.batch, rows, kPadded, min(kMixSamples, (m.batch - start + 15) / 16 * 16),
                     kStride);
    end_copies();
    copies_done();
    __syncthreads();
    for (int n0 = warp * NT; n0 < (columns + 3) / 4; n0 += warps * NT) {
      FragmentB<P> w[KS][NT];
#pragma unroll
      for (int ks = 0; ks < KS; ++ks)
#pragma unroll
        for (int n = 0; n < NT; ++n)
          w[ks][n] = mode_factor<P, Adjoint>(real, imaginary, kWeightStride, ks, min(n0 + n, 2 * KS - 1));
      for (int b0 = start; b0 < min(m.batch, start + kMixSamples); b0 += 16) {
        float acc[NT][4] = {};
#pragma unroll
        for (int ks = 0; ks < KS; ++ks) {
          const auto a = a_from_points<P>(tile + (b0 - start) * kStride + 16 * ks, kStride);
#pragma unroll
          for (int n = 0; n < NT; ++n) multiply<P>(acc[n], a, w[ks][n]);
        }
#pragma unroll
        for (int n = 0; n < NT; ++n)
#pragma unroll
          for (int r = 0; r < 2; ++r) {
            const int b = b0 + lane.g + 8 * r, c = 4 * (n0 + n) + lane.t;
            if (b < m.batch && c < columns)
              out[int64_t{b} * columns + c] = make_pair<P>(acc[n][2 * r], acc[n][2 * r + 1]);
          }
      }
    }
  }
}

template <Precision P, int KS>
size_t mix_bytes(int batch) {
  return 2 * size_t{8 * KS} * (8 * KS + 4) * sizeof(float) +
         size_t(std::min(kMixSamples, round_up(batch, 16))) * (16 * KS + kRowPad<P>)*sizeof(Element<P>);
}

constexpr int kSamples = 64;  ///< of a pass of the weights' gradient

// D[(o,part), (i,part)] = sum_b dy x; then dwr = D[re,re] + D[im,im], dwi = D[im,re] - D[re,im]. Parts of one o are
// neighbouring rows.
template <Precision P>
__global__ void __launch_bounds__(256) mix_gradient_kernel(ModeGradient m) {
  constexpr int NT = 16;
  const Lane lane;
  const int warp = threadIdx.x / 32, warps = blockDim.x / 32, mode = blockIdx.x;
  const int stride_y = 2 * m.outputs + kRowPad<P>, stride_x = 2 * m.inputs + kRowPad<P>;
  auto* dy = reinterpret_cast<Element<P>*>(shared_memory);
  auto* x = dy + kSamples * stride_y;
  const int64_t size = int64_t{m.inputs} * m.outputs;
  const auto* from_y = static_cast<const Pair<P>*>(m.dy) + int64_t{mode} * m.batch * m.outputs;
  const auto* from_x = static_cast<const Pair<P>*>(m.x) + int64_t{mode} * m.batch * m.inputs;
  float* to = m.dweight + (int64_t{m.first1 + mode / m.kept2} * m.full2 + mode % m.kept2) * 2 * size;
  for (int mt0 = 0; mt0 < m.outputs / 8; mt0 += warps)
    for (int n0 = 0; n0 < m.inputs / 4; n0 += NT) {
      const int mt = mt0 + warp;
      const bool busy = mt < m.outputs / 8;
      float acc[NT][4] = {};
      for (int b0 = 0; b0 < m.batch; b0 += kSamples) {
        __syncthreads();
        fetch_samples<P>(dy, from_y, b0, m.batch, m.outputs, m.outputs, kSamples, stride_y);
        fetch_samples<P>(x, from_x, b0, m.batch, m.inputs, m.inputs, kSamples, stride_x);
        end_copies();
        copies_done();
        __syncthreads();
        if (!busy) continue;
#pragma unroll
        for (int ks = 0; ks < kSamples / 16; ++ks) {
          const auto a = a_from_rows<P>(dy + 16 * ks * stride_y + 16 * mt, stride_y);
#pragma unroll
          for (int n = 0; n < NT; ++n)
            if (n0 + n < m.inputs / 4)
              multiply<P>(acc[n], a, b_from_rows<P>(x + 16 * ks * stride_x + 8 * (n0 + n), stride_x));
        }
      }
#pragma unroll
      for (int n = 0; n < NT; ++n)
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          const float mine = acc[n][2 * r], cross = __shfl_xor_sync(~0u, acc[n][2 * r + 1], 4);
          const int part = lane.g % 2, o = 8 * mt + lane.g / 2 + 4 * r, i = 4 * (n0 + n) + lane.t;
          if (busy && i < m.inputs)
            to[part * size + int64_t{o} * m.inputs + i] = part == 0 ? mine + cross : mine - cross;
        }
    }
}

template <Precision P, int KS>
void launch_mix(const ModeMixing& m, Stream stream) {
  constexpr int NT = P == Precision::bf16 && KS <= 8 ? 2 : 1;
  const auto kernel = m.adjoint ? mix_kernel<P, KS, NT, true> : mix_kernel<P, KS, NT, false>;
  resident_blocks(kernel, 256, mix_bytes<P, KS>(m.batch), 1);
  kernel<<<m.kept1 * m.kept2, 256, mix_bytes<P, KS>(m.batch), stream_of(stream)>>>(m);
}

}  // namespace

void transform(Precision precision, const AlongH& a, Stream stream) {
  const bool small = a.batch * a.kept2 < 2 * device_attribute(cudaDevAttrMultiProcessorCount);
  const int row_tiles = (a.n_out + 7) / 8, warps = std::min(4, small ? row_tiles : (a.channels + 15) / 16);
  const int together = small ? 16 : 16 * warps;
  const dim3 grid(a.batch * a.kept2, (a.channels + together - 1) / together,
                  small ? (row_tiles + warps - 1) / warps : 1);
  for_precision(precision, [&](auto p) {
    const size_t bytes = size_t(round_up(a.n_in, 8)) * (together + kRowPad<p>)*sizeof(Pair<p>);
    const auto kernel = small ? transform_kernel<p, true> : transform_kernel<p, false>;
    resident_blocks(kernel, 32 * warps, bytes, 1);
    kernel<<<grid, 32 * warps, bytes, stream_of(stream)>>>(a);
  });
  check_launch("transform");
}

void mix(Precision precision, const ModeMixing& m, Stream stream) {
  for_precision(precision, [&](auto p) {
    for_channels(std::max(m.inputs, m.outputs), [&](auto kc) { launch_mix<p, 2 * kc>(m, stream); });
  });
  check_launch("mix");
}

void mix_gradient(Precision precision, const ModeGradient& m, Stream stream) {
  for_precision(precision, [&](auto p) {
    const size_t bytes = size_t{kSamples} * (2 * (m.inputs + m.outputs) + 2 * kRowPad<p>)*sizeof(Element<p>);
    const auto kernel = mix_gradient_kernel<p>;
    resident_blocks(kernel, 256, bytes, 1);
    kernel<<<m.kept1 * m.kept2, 256, bytes, stream_of(stream)>>>(m);
  });
  check_launch("mix_gradient");
}

}  // namespace piddm::cuda
