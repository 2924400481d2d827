#include "piddm/solve/decode.h"

#include <algorithm>

#include "piddm/core/error.h"
#include "piddm/core/stopwatch.h"

namespace piddm {

Tensor cut_to_two_values(const Tensor& x, const Pde& pde) {
  pde.check_shape(x);
  auto fields = x.unbind(1);
  for (size_t c = 0; c < fields.size(); ++c)
    if (const auto& values = pde.channels()[c].two_valued) {
      const auto [low, high] = *values;
      fields[c] = (fields[c] > (low + high) / 2).to(x.scalar_type()) * (high - low) + low;
    }
  return torch::stack(fields, 1);
}

DecodeTotal::DecodeTotal(const Pde& pde, bool two_valued) : pde_(pde), two_valued_(two_valued) {
  const auto& channels = pde.channels();
  require<UsageError>(
      !two_valued || std::any_of(channels.begin(), channels.end(), [](const Channel& c) { return c.two_valued; }),
      "two-valued: no coefficient of {} has only two values", pde.name());
}

void DecodeTotal::decode(Samples& samples) {
  const Stopwatch watch;
  const auto decoded = pde_.decode(two_valued_ ? cut_to_two_values(samples.x, pde_) : samples.x);
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

DecodeSummary decode_samples(Samples& samples, const Pde& pde, bool two_valued) {
  DecodeTotal total(pde, two_valued);
  total.decode(samples);
  return total.summary();
}

}  // namespace piddm
