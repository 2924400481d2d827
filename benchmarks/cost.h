#pragma once
// What is measured, and the least that any implementation has to compute and to move for it. docs/performance.md
// derives the formulas.

#include "piddm/core/precision.h"
#include "piddm/model/fno.h"

namespace piddm::bench {

/// One thing to measure.
///   spectral  forward, train             one layer of the FNO, y = gelu(K x + W x + b)
///   fno       forward, train (forward and backward, no optimiser), input-gradient (value and gradient, weights frozen)
///   train     step                       flow-matching batch, forward, backward, Adam, moving average
///   sample    teacher (Euler), student (one step), latent-optimisation (one value and gradient of Algorithm 3)
struct BenchCase {
  std::string bench, what;
  FnoOptions fno;
  int64_t batch = 1;
  GridSize grid = 128;
  int64_t steps = 100;
  Precision precision = Precision::fp32;
  torch::Device device = torch::kCPU;
  uint64_t seed = 0;

  /// spectral on the CPU. On a GPU the layer is measured as an FNO that has one, with lifting and projection.
  bool single_layer() const { return bench == "spectral" && device.is_cpu(); }
};

/// What `bench` measures, in this order.
std::vector<std::string> works_of(const std::string& bench);

struct Cost {
  double flop = 0, bytes = 0;
};

/// Fewest floating-point operations (truncated transforms as real matrix products) and fewest bytes (parameters once,
/// input, output, every activation written once and read once per layer, in the storage width of the precision).
Cost least_cost(const BenchCase& c);

/// Memory that the composed form takes, about; to skip what cannot fit.
double composed_bytes(const BenchCase& c);

}  // namespace piddm::bench
