#include "piddm/eval/ensembles/conformal.h"

#include <algorithm>
#include <cmath>

#include "piddm/core/error.h"

namespace piddm {

namespace {

/// The cases that have entries which count: scores [n,N], and what each entry weighs so that a case weighs 1.
std::pair<Tensor, Tensor> weighed(const Tensor& scores, const Tensor& open) {
  const auto counts = open.flatten(1).sum(1);
  const auto kept = (counts > 0).nonzero().squeeze(1);
  const auto weight = open.flatten(1) / counts.clamp_min(1).unsqueeze(1);
  return {scores.flatten(1).index_select(0, kept), weight.index_select(0, kept)};
}

}  // namespace

Tensor rank_quantile(const Tensor& sorted, double q) {
  const auto count = static_cast<double>(sorted.size(0));
  const double place = std::clamp(q * (count + 1) - 1, 0.0, count - 1);
  const auto below = static_cast<int64_t>(std::floor(place));
  const auto above = std::min(below + 1, sorted.size(0) - 1);
  return torch::lerp(sorted.select(0, below), sorted.select(0, above), place - static_cast<double>(below));
}

Tensor interval_scores(const Tensor& sorted, const Tensor& truth, double p, double resolution) {
  const auto middle = rank_quantile(sorted, 0.5), off = truth - middle;
  const auto half =
      torch::where(off > 0, rank_quantile(sorted, (1 + p) / 2) - middle, middle - rank_quantile(sorted, (1 - p) / 2));
  return off.abs() / half.clamp_min(resolution);
}

Tensor open_entries(const Tensor& sorted, const Tensor& truth, const Tensor& asked, double resolution) {
  const auto lowest = torch::minimum(sorted[0], truth), highest = torch::maximum(sorted[-1], truth);
  return asked * (highest - lowest > resolution);
}

double covered_share(const Tensor& scores, const Tensor& open, double factor) {
  const auto [of_cases, weight] = weighed(scores, open);
  return ((of_cases <= factor) * weight).sum(1).mean().item<double>();
}

double conformal_factor(const Tensor& scores, const Tensor& open, double p) {
  const auto [of_cases, weight] = weighed(scores, open);
  const auto cases = static_cast<double>(of_cases.size(0));
  const double allowed = ((1 - p) * (cases + 1) - 1) / cases;  // mean of the losses
  require<DataError>(cases > 0 && allowed > -1e-9, "a factor for intervals of {:.0f} % needs {:.0f} cases, got {:.0f}",
                     100 * p, std::ceil(1 / (1 - p) - 1 - 1e-9), cases);
  const auto [sorted, order] = of_cases.flatten().sort();
  const auto left_out = 1 - (weight.flatten().index_select(0, order) / cases).cumsum(0);
  const auto enough = (left_out <= allowed + 1e-9).nonzero();
  return sorted[enough[0].item<int64_t>()].item<double>();
}

}  // namespace piddm
