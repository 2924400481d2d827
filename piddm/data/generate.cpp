#include "piddm/data/generate.h"

#include <algorithm>

#include "piddm/core/interrupt.h"
#include "piddm/core/progress.h"

namespace piddm {

namespace {

json parameters_of(const Pde& pde) {
  json values = json::object();
  for (const auto& p : pde.parameters())
    if (!p.usual) values[p.name] = p.value;
  return values;
}

json floor_of(const Pde& pde, const ResidualStatistics& statistics) {
  json floor = {{"pde_error", statistics.mean_pde_error()},
                {"rel_residual", statistics.rel_residual()},
                {"worst_rel_residual", statistics.worst_rel_residual()}};
  if (statistics.boundary.defined()) floor.update({{"boundary_error", statistics.mean_boundary_error()}});
  for (const auto& [name, value] : residual_scores(pde, statistics)) floor[name] = value;
  return floor;
}

Tensor make_batch(const Pde& pde, const SampleRange& range, int64_t first, int64_t count) {
  const auto a = pde.sample_coefficients(range.seed, first, count).to(range.dtype).to(range.device, torch::kFloat64);
  return torch::cat({pde.solve(a), a}, 1).to(torch::kCPU, range.dtype);
}

}  // namespace

void check_finite(const Tensor& fields, const std::vector<std::string>& channels, const std::string& origin) {
  for (int64_t i = 0; i < fields.size(0); ++i) {
    const auto sample = fields[i];
    if (all_finite(sample)) continue;
    const auto at = sample.isfinite().logical_not().nonzero()[0];
    const auto index = [&](int64_t axis) { return at[axis].item<int64_t>(); };
    throw DataError("{}: channel '{}', sample {}, position ({},{}) is {}", origin,
                    channels[static_cast<size_t>(index(0))], i, index(1), index(2),
                    sample[index(0)][index(1)][index(2)].item<double>());
  }
}

ResidualStatistics generate_samples(const Pde& pde, const SampleRange& range,
                                    const std::function<void(const Tensor& samples)>& sink) {
  require<UsageError>(range.n > 0, "samples to make: must be at least 1, got {}", range.n);
  require<UsageError>(range.first >= 0, "number of the first sample: must not be negative, got {}", range.first);
  require<UsageError>(range.batch > 0, "samples at a time: must be at least 1, got {}", range.batch);
  data_type_name(range.dtype);
  const torch::NoGradGuard no_grad;
  std::vector<ResidualStatistics> parts;
  Progress progress("generating " + pde.name(), range.n);
  for (int64_t begin = 0; begin < range.n; begin += range.batch) {
    throw_if_interrupted("generating data");
    const int64_t count = std::min(range.batch, range.n - begin);
    const auto samples = make_batch(pde, range, range.first + begin, count);
    check_finite(samples, pde.channel_names(), fmt::format("{}, samples from {}", pde.name(), range.first + begin));
    parts.push_back(residual_statistics(pde, samples));
    sink(samples);
    progress.advance(count);
  }
  return join_statistics(parts);
}

DataDescription describe_samples(const Pde& pde, const SampleRange& range, const ResidualStatistics& statistics) {
  const auto& definition = pde.options().definition;
  return {.pde = pde.name(),
          .definition = definition.absent() ? json() : definition.table,
          .parameters = parameters_of(pde),
          .seed = range.seed,
          .law = pde.summary(),
          .first = range.first,
          .floor = floor_of(pde, statistics),
          .device = range.device.is_cpu() ? "" : range.device.str()};
}

}  // namespace piddm
