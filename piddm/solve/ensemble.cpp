#include "piddm/solve/ensemble.h"

#include <cmath>

#include "piddm/core/error.h"

namespace piddm {

namespace {

/// The quantile of members sorted along dimension 1.
Tensor quantile_of_sorted(const Tensor& sorted, double q) {
  const double place = q * static_cast<double>(sorted.size(1) - 1);
  const auto below = static_cast<int64_t>(std::floor(place));
  const auto above = std::min(below + 1, sorted.size(1) - 1);
  return torch::lerp(sorted.select(1, below), sorted.select(1, above), place - static_cast<double>(below));
}

}  // namespace

Observation repeated(const Observation& observation, int64_t members) {
  const auto each = [&](const Tensor& x) { return x.defined() ? x.repeat_interleave(members, 0) : x; };
  const auto cases = torch::arange(observation.mask.size(0)).repeat_interleave(members);
  return {each(observation.values), each(observation.mask), each(observation.sigma),
          observation.functionals.select(cases)};
}

EnsembleSummary summarize(const Tensor& members, int64_t k, const Pde& pde) {
  pde.check_shape(members);
  require<DataError>(k >= 2 && members.size(0) % k == 0,
                     "an ensemble needs at least 2 members per case, the same for all");
  const int64_t cases = members.size(0) / k;
  auto shape = members.sizes().slice(1).vec();
  shape.insert(shape.begin(), cases);
  const auto empty = [&] { return torch::zeros(shape, torch::kFloat64); };
  EnsembleSummary out{empty(), empty(), {}, empty()};
  for (auto& quantile : out.quantiles) quantile = empty();
  for (int64_t i = 0; i < cases; ++i) {  // a case at a time: sorting copies
    const auto x = members.narrow(0, i * k, k).to(torch::kCPU, torch::kFloat64);
    out.mean[i] = x.mean(0);
    out.deviation[i] = x.std(0);
    const auto sorted = std::get<0>(x.sort(0)).unsqueeze(0);
    for (size_t q = 0; q < kEnsembleQuantiles.size(); ++q)
      out.quantiles[q][i] = quantile_of_sorted(sorted, kEnsembleQuantiles[q])[0];
    for (int64_t c = 0; c < pde.num_channels(); ++c)
      if (const auto& values = pde.channels()[static_cast<size_t>(c)].two_valued)
        out.above[i][c] = (x.select(1, c) > (values->first + values->second) / 2).to(torch::kFloat64).mean(0);
  }
  return out;
}

TensorMap ensemble_arrays(const EnsembleSummary& summary, const Pde& pde) {
  TensorMap arrays;
  for (int64_t c = 0; c < pde.num_channels(); ++c) {
    const auto& channel = pde.channels()[static_cast<size_t>(c)];
    const auto add = [&](const std::string& name, const Tensor& x) {
      arrays[channel.name + "_" + name] = x.select(1, c).to(torch::kFloat32).contiguous();
    };
    add("mean", summary.mean);
    add("std", summary.deviation);
    for (size_t q = 0; q < kEnsembleQuantiles.size(); ++q)
      add(fmt::format("q{:02.0f}", 100 * kEnsembleQuantiles[q]), summary.quantiles[q]);
    if (channel.two_valued) add("probability", summary.above);
  }
  return arrays;
}

}  // namespace piddm
