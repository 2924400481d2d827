#pragma once
// Clocks, turns, ceilings and memory of the benchmarks.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "piddm/core/precision.h"
#include "piddm/core/tensor.h"

namespace piddm::bench {

inline std::string precision_name(Precision precision) {
  return enum_names(precision).at(static_cast<size_t>(precision));
}

using Contestant = std::function<void()>;

/// On the CPU with one thread processor time is what a clock shows on an idle machine, whatever else runs.
enum class Clock { wall, processor };

/// Milliseconds of each contestant: all take turns, `repeats` times; the median of a contestant's turns counts. A turn
/// of short work is many runs. On a GPU the clock starts and stops with nothing in flight.
std::vector<double> take_turns(const std::vector<Contestant>& contestants, int64_t repeats, torch::Device device,
                               Clock clock = Clock::wall);

/// Processor time of this process so far.
double processor_seconds();

/// What this machine can do at best, measured now.
struct Ceilings {
  double copy_gbps = 0;  ///< bytes read and written by a large copy
  /// A large matrix product in this precision; fp32 on a GPU: or three in tf32, whichever is faster.
  double gemm_tflops = 0;
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
class PeakBytes {
 public:
  explicit PeakBytes(torch::Device device);
  std::optional<int64_t> bytes() const;  ///< nothing where the system does not say

 private:
  torch::Device device_;
};

/// GFLOP/s of a product of two 768 x 768 matrices in float32: a quick look, for `piddm doctor`.
double quick_gemm_gflops(torch::Device device);

/// Memory that can be had now, in bytes.
double available_bytes(torch::Device device);

/// `work` recorded as a CUDA graph.
Contestant captured(const Contestant& work);

}  // namespace piddm::bench
