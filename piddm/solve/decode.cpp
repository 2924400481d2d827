#include "piddm/solve/decode.h"

#include "piddm/core/stopwatch.h"

namespace piddm {

void DecodeTotal::decode(Samples& samples, const Pde& pde) {
  const Stopwatch watch;
  const auto decoded = pde.decode(samples.x);
  samples.x = decoded.x;
  samples.seconds_per_sample += watch.seconds() / static_cast<double>(samples.x.size(0));
  iterations_.push_back(decoded.iterations);
  moved_.push_back(decoded.moved);
  clamped_.push_back(decoded.clamped);
}

DecodeSummary DecodeTotal::summary() const {
  const auto iterations = torch::cat(iterations_), moved = torch::cat(moved_);
  return {.iterations_mean = iterations.to(torch::kFloat64).mean().item<double>(),
          .iterations_max = iterations.max().item<int64_t>(),
          .moved_mean = moved.mean().item<double>(),
          .moved_max = moved.max().item<double>(),
          .clamped_entries = torch::cat(clamped_).sum().item<int64_t>()};
}

DecodeSummary decode_samples(Samples& samples, const Pde& pde) {
  DecodeTotal total;
  total.decode(samples, pde);
  return total.summary();
}

}  // namespace piddm
