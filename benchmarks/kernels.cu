// Every kernel of the FNO on its own, at the paper's size: microseconds, bytes that must move, and the rate that makes.
//   bench_kernels [BATCH] [bf16|tf32|fp32] [NAME]      NAME: only kernels whose name contains it; medians of 20 runs
// Inputs are random; results are not looked at (tests/cuda/fused_fno_test.cpp does that).

#include <cuda_bf16.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "piddm/cuda/check.cuh"
#include "piddm/cuda/fno.h"

namespace piddm::cuda {
namespace {

constexpr int kHeight = 128, kWidth = 128, kChannels = 64, kModes1 = 32, kModes2 = 17, kHidden = 256, kFields = 2,
              kNarrow = 8, kRuns = 20;
constexpr int64_t kPoints = int64_t{kHeight} * kWidth;

template <class T>
__global__ void fill(T* to, size_t n, float scale, unsigned seed) {
  for (size_t i = blockIdx.x * size_t{256} + threadIdx.x; i < n; i += gridDim.x * size_t{256}) {
    unsigned h = (static_cast<unsigned>(i) + seed) * 2654435761u;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    to[i] = T(scale * (static_cast<float>(h >> 8) / 8388608.f - 1.f));
  }
}

template <class T>
T* random(size_t n, float scale) {
  static unsigned seed = 0;
  T* memory = nullptr;
  check(cudaMalloc(&memory, n * sizeof(T)), "memory");
  fill<<<1024, 256>>>(memory, n, scale, ++seed);
  return memory;
}
float* floats(size_t n, float scale = 1) { return random<float>(n, scale); }
void* stored(Precision precision, size_t n, float scale = 1) {
  if (precision == Precision::bf16) return random<__nv_bfloat16>(n, scale);
  return floats(n, scale);
}

class Table {
 public:
  Table(Precision precision, std::string only) : element_(element_bytes(precision)), only_(std::move(only)) {}

  /// `elements` in storage and `bytes` beside them are what the kernel must read and write.
  void row(const std::string& name, double elements, double bytes, const std::function<void()>& kernel) const {
    if (name.find(only_) == std::string::npos) return;
    kernel();
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin), "event");
    check(cudaEventCreate(&end), "event");
    std::vector<float> times(kRuns);
    for (float& time : times) {
      cudaEventRecord(begin);
      kernel();
      cudaEventRecord(end);
      check(cudaEventSynchronize(end), name.c_str());
      cudaEventElapsedTime(&time, begin, end);
    }
    std::nth_element(times.begin(), times.begin() + kRuns / 2, times.end());
    const double us = 1e3 * times[kRuns / 2], total = elements * static_cast<double>(element_) + bytes;
    std::printf("%-24s %9.1f us %9.1f MB %7.2f TB/s\n", name.c_str(), us, total / 1e6, total / us / 1e6);
  }

 private:
  int64_t element_;
  std::string only_;
};

/// Sizes and random contents of everything the kernels read and write.
struct Buffers {
  explicit Buffers(int samples, Precision precision) : batch(samples), p(precision) {}

  int batch;
  Precision p;
  int64_t rows = int64_t{batch} * kHeight, line = int64_t{kModes2} * kChannels, across = int64_t{batch} * kChannels;
  size_t activation = rows * kWidth * kChannels, words = rows * line * 2, modes = kModes1 * kModes2 * across * 2,
         mixing = size_t{kModes1} * kModes2 * 2 * kChannels * kChannels;
  void *h = stored(p, activation), *z = stored(p, activation), *word = stored(p, words, .1f),
       *m0 = stored(p, modes, .1f), *m1 = stored(p, modes, .1f), *narrow = stored(p, batch*kPoints*kNarrow),
       *small = stored(p, 16 * kHidden, .3f), *wide = stored(p, kHidden*kChannels, .1f),
       *skip = stored(p, kChannels*kChannels, .1f), *basis = stored(p, 1 << 16, .01f);
  float *x = floats(batch * kFields * kPoints), *y = floats(batch * kFields * kPoints), *grid = floats(2 * kPoints),
        *bias1 = floats(size_t(batch) * kHidden), *bias = floats(kHidden), *weight = floats(mixing, .1f),
        *dweight = floats(mixing), *sums = floats(size_t{1024} * kHidden * kChannels),
        *small_sums = floats(size_t{1024} * kHidden * 16), *bias_sums = floats(size_t(batch) * 8 * kHidden);
};

void run_forward(const Table& table, const Buffers& b) {
  table.row("interleave", double(b.batch * kPoints * kNarrow), 4. * b.batch * kFields * kPoints, [&] {
    interleave(b.p, {b.batch, kFields, 2, kNarrow, kPoints, b.x, b.grid, b.narrow}, nullptr);
  });
  table.row("lift", double(b.activation), 0, [&] {
    lift(b.p, {b.batch, kNarrow, kHidden, kChannels, kPoints, true, b.narrow, b.bias1, b.bias, b.small, b.wide, b.h},
         nullptr);
  });
  table.row("analyse", double(b.activation + b.words), 0, [&] {
    analyse(b.p, {b.rows, kWidth, kChannels, kModes2, 1e-3f, b.h, b.basis, b.word}, nullptr);
  });
  table.row("to modes", double(b.words + b.modes), 0, [&] {
    transform(b.p,
              {b.batch, kModes2, kChannels, kHeight, kModes1, b.line, kHeight * b.line, kChannels, kModes2 * b.across,
               kChannels, b.across, b.word, b.basis, b.m0},
              nullptr);
  });
  for (const bool adjoint : {false, true})
    table.row(adjoint ? "mix, adjoint" : "mix", 2. * b.modes, 4. * b.mixing, [&] {
      mix(b.p, {b.batch, kChannels, kChannels, kModes1, kModes2, 0, kModes2, adjoint, b.weight, b.m0, b.m1}, nullptr);
    });
  table.row("mix, weights", 2. * b.modes, 4. * b.mixing, [&] {
    mix_gradient(b.p, {b.batch, kChannels, kChannels, kModes1, kModes2, 0, kModes2, b.m0, b.m1, b.dweight}, nullptr);
  });
  table.row("to grid", double(b.words + b.modes), 0, [&] {
    transform(b.p,
              {b.batch, kModes2, kChannels, kModes1, kHeight, kModes2 * b.across, kChannels, b.across, b.line,
               kHeight * b.line, kChannels, b.m1, b.basis, b.word},
              nullptr);
  });
  for (void* next : {b.word, static_cast<void*>(nullptr)})
    table.row(next ? "layer" : "layer, last", 2. * b.activation + (next ? 2. : 1.) * b.words, 0, [&] {
      layer_forward(b.p,
                    {b.rows, kWidth, kChannels, kModes2, true, false, 1e-3f, b.h, b.word, b.basis, b.basis, b.skip,
                     b.bias, b.z, next},
                    nullptr);
    });
  table.row("project", double(b.activation), 0, [&] {
    project(b.p, {b.batch, kHidden, kChannels, kFields, kPoints, b.h, b.bias, b.bias, b.wide, b.small, b.y}, nullptr);
  });
}

void run_backward(const Table& table, const Buffers& b) {
  for (const bool lifting : {false, true}) {
    const std::string name = lifting ? "lift" : "project";
    const MlpBackward m{lifting,
                        b.batch,
                        kNarrow,
                        kHidden,
                        kChannels,
                        kFields,
                        kPoints,
                        lifting,
                        lifting ? b.bias1 : b.bias,
                        b.narrow,
                        b.h,
                        b.small,
                        b.wide,
                        b.wide,
                        b.wide,
                        lifting ? static_cast<void*>(b.y) : b.z,
                        b.sums,
                        b.small_sums,
                        b.bias_sums};
    table.row(name + ", gradient", (lifting ? 1. : 2.) * b.activation, 0, [&] { mlp_input_gradient(b.p, m, nullptr); });
    table.row(name + ", weights", double(b.activation), 0, [&] { mlp_weight_gradient(b.p, m, nullptr); });
  }
  for (float* dskip : {b.sums, static_cast<float*>(nullptr)})
    table.row(dskip ? "layer, backward" : "layer, gradient only", 3. * b.activation + 2. * b.words, 0, [&] {
      layer_backward(b.p,
                     {b.rows, kWidth, kChannels, kModes2, true, false, b.z, b.h, b.word, b.basis, b.basis, b.skip, b.z,
                      b.word, dskip},
                     nullptr);
    });
}

}  // namespace
}  // namespace piddm::cuda

int main(int argc, char** argv) {
  using piddm::cuda::Precision;
  const int batch = argc > 1 ? std::atoi(argv[1]) : 128;
  const std::string precision = argc > 2 ? argv[2] : "bf16";
  if (batch < 1 || (precision != "bf16" && precision != "tf32" && precision != "fp32")) {
    std::fprintf(stderr, "bench_kernels [BATCH] [bf16|tf32|fp32] [NAME]\n");
    return 2;
  }
  const Precision p = precision == "bf16" ? Precision::bf16 : precision == "tf32" ? Precision::tf32 : Precision::fp32;
  const piddm::cuda::Table table(p, argc > 3 ? argv[3] : "");
  const piddm::cuda::Buffers buffers(batch, p);
  piddm::cuda::run_forward(table, buffers);
  piddm::cuda::run_backward(table, buffers);
}
