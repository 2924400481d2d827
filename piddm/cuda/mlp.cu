// Lifting and projection: a warp takes a tile of points through both layers in registers; the hidden layer is never
// stored.
#include "piddm/cuda/mlp.cuh"

namespace piddm::cuda {
namespace {

extern __shared__ __align__(16) unsigned char shared_memory[];

__global__ void time_bias_kernel(TimeBias l) {
  extern __shared__ float encoding[];
  const int n = l.features / 2;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    const double phase = 2000.0 * pow(2000.0, -double(i) / (n - 1)) * double(l.t[blockIdx.x]);
    encoding[i] = float(sin(phase)), encoding[n + i] = float(cos(phase));
  }
  __syncthreads();
  for (int j = threadIdx.x; j < l.hidden; j += blockDim.x) {
    float sum = l.bias[j];
    for (int f = 0; f < l.features; ++f) sum = fmaf(encoding[f], l.weight[j * l.stride + f], sum);
    l.out[int64_t{blockIdx.x} * l.hidden + j] = sum;
  }
}

template <Precision P>
__global__ void interleave_kernel(Interleave l) {
  const int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x, total = l.points * l.batch;
  if (i >= total) return;
  const int64_t b = i / l.points, at = i % l.points;
  auto* to = static_cast<Element<P>*>(l.out) + i * l.width;
  const auto value = [&](int c) {
    if (c < l.count) return l.fields[(b * l.count + c) * l.points + at];
    return c < l.count + l.fixed ? l.coordinates[(c - l.count) * l.points + at] : 0.f;
  };
  for (int c = 0; c < l.width; c += 4)
    *reinterpret_cast<Quad<P>*>(to + c) =
        make_quad(make_pair<P>(value(c), value(c + 1)), make_pair<P>(value(c + 2), value(c + 3)));
}

template <Precision P, int KC, int MT>
__global__ void __launch_bounds__(kThreads, P == Precision::bf16 && KC <= 4 ? 2 : 1) lift_kernel(Lift l) {
  const Lane lane;
  const int steps = (l.hidden + 15) / 16;
  unsigned char* memory = shared_memory;
  const void* w1 = load_packed(memory, l.w1, size_t(steps) * 16 * 16 * sizeof(Element<P>));
  const void* w2 = load_packed(memory, l.w2, size_t(steps) * 16 * 16 * KC * sizeof(Element<P>));
  __syncthreads();
  for_tiles(l.batch, l.points, 16 * MT, [&](int b, int64_t point) {
    const float* bias1 = l.bias1 + (l.bias_per_sample ? int64_t{b} * l.hidden : 0);
    FragmentA<P> x[MT];
    float y[MT][2 * KC][4];
#pragma unroll
    for (int m = 0; m < MT; ++m) {
      x[m] = narrow_factor<P>(static_cast<const Element<P>*>(l.x) + b * l.points * l.narrow, l.narrow, l.points,
                              point + 16 * m);
#pragma unroll
      for (int n = 0; n < 2 * KC; ++n) set_bias(y[m][n], l.bias2, 16 * (n / 2) + 4 * lane.t + 2 * (n % 2), l.channels);
    }
    for (int ks = 0; ks < steps; ++ks) {
      float h[MT][2][4];
#pragma unroll
      for (int q = 0; q < 2; ++q) {
        const auto w = packed_b<P>(w1, 2 * ks + q);
#pragma unroll
        for (int m = 0; m < MT; ++m) {
          set_bias(h[m][q], bias1, 16 * ks + 8 * q + 2 * lane.t);
          multiply<P>(h[m][q], x[m], w);
        }
      }
      FragmentA<P> a[MT];
#pragma unroll
      for (int m = 0; m < MT; ++m) a[m] = activated<P>(h[m][0], h[m][1]);
#pragma unroll
      for (int n = 0; n < 2 * KC; ++n) {
        const auto w = packed_b<P>(w2, ks * 2 * KC + n);
#pragma unroll
        for (int m = 0; m < MT; ++m) multiply_activated<P>(y[m][n], a[m], w);
      }
    }
#pragma unroll
    for (int m = 0; m < MT; ++m)
      store_wide<P, KC>(static_cast<Element<P>*>(l.y) + b * l.points * l.channels, y[m], l.channels, l.points,
                        point + 16 * m);
  });
}

template <Precision P, int KC, int MT>
__global__ void __launch_bounds__(kThreads, P == Precision::bf16 && KC <= 4 ? 2 : 1) project_kernel(Project l) {
  const Lane lane;
  const int steps = (l.hidden + 15) / 16;
  unsigned char* memory = shared_memory;
  const void* w1 = load_packed(memory, l.w1, size_t(steps) * 16 * 16 * KC * sizeof(Element<P>));
  const void* w2 = load_packed(memory, l.w2, size_t(steps) * 16 * 8 * sizeof(Element<P>));
  __syncthreads();
  for_tiles(l.batch, l.points, 16 * MT, [&](int b, int64_t point) {
    FragmentA<P> x[MT][KC];
    float y[MT][4];
#pragma unroll
    for (int m = 0; m < MT; ++m) {
#pragma unroll
      for (int k = 0; k < KC; ++k)
        x[m][k] = wide_factor<P>(static_cast<const Element<P>*>(l.x) + b * l.points * l.channels, l.channels, l.points,
                                 point + 16 * m, k);
      set_bias(y[m], l.bias2, 2 * lane.t, l.outputs);
    }
#pragma unroll 2
    for (int ks = 0; ks < steps; ++ks) {
      float h[MT][2][4];
#pragma unroll
      for (int q = 0; q < 2; ++q) {
#pragma unroll
        for (int m = 0; m < MT; ++m) set_bias(h[m][q], l.bias1, 16 * ks + 8 * q + 2 * lane.t);
#pragma unroll
        for (int k = 0; k < KC; ++k) {
          const auto w = packed_b<P>(w1, k * 2 * steps + 2 * ks + q);
#pragma unroll
          for (int m = 0; m < MT; ++m) multiply<P>(h[m][q], x[m][k], w);
        }
      }
      const auto w = packed_b<P>(w2, ks);
#pragma unroll
      for (int m = 0; m < MT; ++m) multiply_activated<P>(y[m], activated<P>(h[m][0], h[m][1]), w);
    }
#pragma unroll
    for (int m = 0; m < MT; ++m)
      store_narrow(l.y + int64_t{b} * l.outputs * l.points, y[m], l.outputs, l.points, point + 16 * m);
  });
}

}  // namespace

void time_bias(const TimeBias& b, Stream stream) {
  time_bias_kernel<<<b.times, kThreads, b.features * sizeof(float), stream_of(stream)>>>(b);
  check_launch("time_bias");
}

void interleave(Precision precision, const Interleave& i, Stream stream) {
  const int64_t blocks = (i.batch * i.points + kThreads - 1) / kThreads;
  for_precision(precision,
                [&](auto p) { interleave_kernel<p><<<static_cast<int>(blocks), kThreads, 0, stream_of(stream)>>>(i); });
  check_launch("interleave");
}

void lift(Precision precision, const Lift& l, Stream stream) {
  for_kernel(precision, l.channels, [&](auto p, auto kc) {
    constexpr int kTiles = kPointTiles<p, kc>;
    const bool many = blocks_for(l.batch, l.points, 16 * kTiles) >= device_attribute(cudaDevAttrMultiProcessorCount);
    const auto kernel = many ? lift_kernel<p, kc, kTiles> : lift_kernel<p, kc, 1>;
    const size_t bytes = hidden_bytes<p>(l.hidden, 16 + 16 * kc);
    const int blocks = resident_blocks(kernel, kThreads, bytes, blocks_for(l.batch, l.points, many ? 16 * kTiles : 16));
    kernel<<<blocks, kThreads, bytes, stream_of(stream)>>>(l);
  });
  check_launch("lift");
}

void project(Precision precision, const Project& l, Stream stream) {
  for_kernel(precision, l.channels, [&](auto p, auto kc) {
    constexpr int kTiles = kPointTiles<p, kc>;
    const bool many = blocks_for(l.batch, l.points, 16 * kTiles) >= device_attribute(cudaDevAttrMultiProcessorCount);
    const auto kernel = many ? project_kernel<p, kc, kTiles> : project_kernel<p, kc, 1>;
    const size_t bytes = hidden_bytes<p>(l.hidden, 16 * kc + 8);
    const int blocks = resident_blocks(kernel, kThreads, bytes, blocks_for(l.batch, l.points, many ? 16 * kTiles : 16));
    kernel<<<blocks, kThreads, bytes, stream_of(stream)>>>(l);
  });
  check_launch("project");
}

bool hidden_fits(Precision precision, int hidden, int channels) {
  size_t bytes = 0;
  for_kernel(precision, channels, [&](auto p, auto kc) { bytes = hidden_bytes<p>(hidden, 16 + 32 * kc); });
  return bytes <= static_cast<size_t>(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
}

}  // namespace piddm::cuda
