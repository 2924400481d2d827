#pragma once
// Clocks, turns, ceilings and memory of the benchmarks.

#include <functional>
#include <optional>
#include <vector>

#include "piddm/core/precision.h"
#include "piddm/core/tensor.h"

namespace piddm::cli {

using Contestant = std::function<void()>;

/// Milliseconds of each contestant: all take turns, `repeats` times; the median of a contestant's turns counts. A turn
/// of short work is many runs. On a GPU the clock starts and stops with nothing in flight.
std::vector<double> take_turns(const std::vector<Contestant>& contestants, int64_t repeats, torch::Device device);

/// What this machine can do at best, measured now.
struct Ceilings {
  double copy_gbps = 0;  ///< bytes read and written by a large copy
  double gemm_tflops =
      0;  ///< a large matrix product in this precision; fp32 on a GPU: or three in tf32, whichever is faster
};
Ceilings measure_ceilings(Precision precision, torch::Device device);

/// Matrix products of LibTorch with float32 operands rounded to tf32, while the object lives.
class AllowTf32 {
 public:
  explicit AllowTf32(bool allow);
  ~AllowTf32();
};

/// Most memory in use since construction: on a GPU what LibTorch handed out, on the CPU the resident memory of this
/// process, which contains what is kept for reuse.
class PeakMemory {
 public:
  explicit PeakMemory(torch::Device device);
  std::optional<int64_t> bytes() const;  ///< nothing where the system does not say

 private:
  torch::Device device_;
};

/// Memory that can be had now, in bytes.
double available_bytes(torch::Device device);

/// `work` recorded as a CUDA graph.
Contestant captured(const Contestant& work);

}  // namespace piddm::cli
