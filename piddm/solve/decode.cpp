#include "piddm/solve/decode.h"

#include "piddm/core/stopwatch.h"

namespace piddm {

DecodeSummary decode_samples(Samples& samples, const Pde& pde) {
  const Stopwatch watch;
  const auto decoded = pde.decode(samples.x);
  samples.x = decoded.x;
  samples.seconds_per_sample += watch.seconds() / static_cast<double>(samples.x.size(0));
  return {.iterations_mean = decoded.iterations.to(torch::kFloat64).mean().item<double>(),
          .iterations_max = decoded.iterations.max().item<int64_t>(),
          .moved_mean = decoded.moved.mean().item<double>(),
          .moved_max = decoded.moved.max().item<double>(),
          .clamped_entries = decoded.clamped.sum().item<int64_t>()};
}

}  // namespace piddm
