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

void run(int batch, Precision p, const std::string& only) {
  const Table table(p, only);
  const int64_t rows = int64_t{batch} * kHeight, line = int64_t{kModes2} * kChannels,
                across = int64_t{batch} * kChannels;
  const size_t activation = rows * kWidth * kChannels, words = rows * line * 2, modes = kModes1 * kModes2 * across * 2;
  const size_t mixing = size_t{kModes1} * kModes2 * 2 * kChannels * kChannels;
  void *h = stored(p, activation), *z = stored(p, activation), *word = stored(p, words, .1f),
       *m0 = stored(p, modes, .1f), *m1 = stored(p, modes, .1f), *narrow = stored(p, batch * kPoints * kNarrow),
       *small = stored(p, 16 * kHidden, .3f), *wide = stored(p, kHidden * kChannels, .1f),
       *skip = stored(p, kChannels * kChannels, .1f), *basis = stored(p, 1 << 16, .01f);
  float *x = floats(batch * kFields * kPoints), *y = floats(batch * kFields * kPoints), *grid = floats(2 * kPoints),
        *bias1 = floats(size_t(batch) * kHidden), *bias = floats(kHidden), *weight = floats(mixing, .1f),
        *dweight = floats(mixing), *sums = floats(size_t{1024} * kHidden * kChannels),
        *small_sums = floats(size_t{1024} * kHidden * 16), *bias_sums = floats(size_t(batch) * 8 * kHidden);

  table.row("interleave", double(batch * kPoints * kNarrow), 4. * batch * kFields * kPoints, [&] {
    interleave(p, {batch, kFields, 2, kNarrow, kPoints, x, grid, narrow}, nullptr);
  });
  table.row("lift", double(activation), 0, [&] {
    lift(p, {batch, kNarrow, kHidden, kChannels, kPoints, true, narrow, bias1, bias, small, wide, h}, nullptr);
  });
  table.row("analyse", double(activation + words), 0, [&] {
    analyse(p, {rows, kWidth, kChannels, kModes2, 1e-3f, h, basis, word}, nullptr);
  });
  table.row("to modes", double(words + modes), 0, [&] {
    transform(p,
              {batch, kModes2, kChannels, kHeight, kModes1, line, kHeight * line, kChannels, kModes2 * across,
               kChannels, across, word, basis, m0},
              nullptr);
  });
  for (const bool adjoint : {false, true})
    table.row(adjoint ? "mix, adjoint" : "mix", 2. * modes, 4. * mixing, [&] {
      mix(p, {batch, kChannels, kChannels, kModes1, kModes2, 0, kModes2, adjoint, weight, m0, m1}, nullptr);
    });
  table.row("mix, weights", 2. * modes, 4. * mixing, [&] {
    mix_gradient(p, {batch, kChannels, kChannels, kModes1, kModes2, 0, kModes2, m0, m1, dweight}, nullptr);
  });
  table.row("to grid", double(words + modes), 0, [&] {
    transform(p,
              {batch, kModes2, kChannels, kModes1, kHeight, kModes2 * across, kChannels, across, line, kHeight * line,
               kChannels, m1, basis, word},
              nullptr);
  });
  for (void* next : {word, static_cast<void*>(nullptr)})
    table.row(next ? "layer" : "layer, last", 2. * activation + (next ? 2. : 1.) * words, 0, [&] {
      layer_forward(p, {rows, kWidth, kChannels, kModes2, true, 1e-3f, h, word, basis, basis, skip, bias, z, next},
                    nullptr);
    });
  table.row("project", double(activation), 0, [&] {
    project(p, {batch, kHidden, kChannels, kFields, kPoints, h, bias, bias, wide, small, y}, nullptr);
  });
  for (const bool lifting : {false, true}) {
    const std::string name = lifting ? "lift" : "project";
    const MlpBackward m{lifting,
                        batch,
                        kNarrow,
                        kHidden,
                        kChannels,
                        kFields,
                        kPoints,
                        lifting,
                        lifting ? bias1 : bias,
                        narrow,
                        h,
                        small,
                        wide,
                        wide,
                        wide,
                        lifting ? static_cast<void*>(y) : z,
                        sums,
                        small_sums,
                        bias_sums};
    table.row(name + ", gradient", (lifting ? 1. : 2.) * activation, 0, [&] { mlp_input_gradient(p, m, nullptr); });
    table.row(name + ", weights", double(activation), 0, [&] { mlp_weight_gradient(p, m, nullptr); });
  }
  for (float* dskip : {sums, static_cast<float*>(nullptr)})
    table.row(dskip ? "layer, backward" : "layer, gradient only", 3. * activation + 2. * words, 0, [&] {
      layer_backward(p, {rows, kWidth, kChannels, kModes2, true, z, h, word, basis, basis, skip, z, word, dskip},
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
  piddm::cuda::run(batch,
                   precision == "bf16"   ? Precision::bf16
                   : precision == "tf32" ? Precision::tf32
                                         : Precision::fp32,
                   argc > 3 ? argv[3] : "");
}
