#include "piddm/data/check/parameter_fit.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace piddm {

namespace {

constexpr int kIterations = 20;
constexpr double kStep = 1e-4, kConverged = 1e-7;
constexpr double kMadToSigma = 1.4826, kMedianEfficiency = 1.2533;

/// Everything the parameter can show in, [B,m], so scaled that the mean over points does not depend on the grid.
Tensor stacked_residual(const Pde& pde, const Tensor& x) {
  const auto r = pde.residual(x);
  const auto equations = pde.equations();
  const auto root = [](int64_t n) { return std::sqrt(static_cast<double>(n)); };
  std::vector<Tensor> parts;
  for (size_t i = 0; i < equations.size(); ++i) {
    const auto& field = r.fields.at(i);
    auto interior = field.interior * equations[i].scale;
    if (field.smooth.defined()) interior = interior * field.smooth;
    interior = interior.flatten(1);
    parts.push_back(interior / root(interior.size(1) * static_cast<int64_t>(equations.size())));
  }
  if (r.boundary.defined()) parts.push_back(r.boundary / root(r.boundary.size(1)));
  return torch::cat(parts, 1);
}

/// What each sample alone would change the parameter by, and how much it knows: [B] both.
struct Steps {
  Tensor step, weight;
};

Steps sample_steps(const std::function<PdePtr(double)>& pde_at, const ParameterRange& range, double p,
                   const Tensor& x) {
  const double h = kStep * std::max(std::abs(p), std::min(1e-2, 0.1 * (range.high - range.low)));
  const double below = std::max(range.low, p - h), above = std::min(range.high, p + h);
  const auto r = stacked_residual(*pde_at(p), x);
  const auto slope = (stacked_residual(*pde_at(above), x) - stacked_residual(*pde_at(below), x)) / (above - below);
  const auto weight = slope.square().sum(1);
  return {-(slope * r).sum(1) / weight.clamp_min(1e-300), weight};
}

double weighted_median(const Tensor& values, const Tensor& weights) {
  const auto [sorted, order] = values.sort();
  const auto share = weights.index_select(0, order).cumsum(0);
  const double half = share[-1].item<double>() / 2;
  const int64_t at = (share < half).sum().item<int64_t>();
  return sorted[std::min(at, sorted.size(0) - 1)].item<double>();
}

struct Minimum {
  double p = 0;
  Steps steps;
  bool found = false;
};

Minimum minimise(const std::function<PdePtr(double)>& pde_at, const ParameterRange& range, const Tensor& x) {
  Minimum at{.p = range.declared, .steps = {}};
  for (int i = 0; i < kIterations && !at.found; ++i) {
    at.steps = sample_steps(pde_at, range, at.p, x);
    const double total = at.steps.weight.sum().item<double>();
    if (!std::isfinite(total) || total <= 0) return at;
    const double step = weighted_median(at.steps.step, at.steps.weight);
    const double next = std::clamp(at.p + step, range.low, range.high);
    at.found = std::abs(step) <= kConverged * std::max(std::abs(at.p), 1e-3);
    at.p = next;
  }
  return at;
}

}  // namespace

ParameterFit fit_parameter(const std::function<PdePtr(double)>& pde_at, const ParameterRange& range, const Tensor& data,
                           const Tensor& references) {
  const torch::NoGradGuard no_grad;
  std::map<double, PdePtr> made;  // both minimisations start at the same value, and some PDEs take long to set up
  const auto at = [&](double p) {
    auto& pde = made[p];
    if (!pde) pde = pde_at(p);
    return pde;
  };
  const auto from_data = minimise(at, range, data), from_references = minimise(at, range, references);
  if (!from_data.found || !from_references.found) return {.visible = from_references.found, .value = from_data.p};
  const auto spread = from_data.steps.step - from_references.steps.step;
  const auto& weight = from_data.steps.weight;
  const double mad = weighted_median((spread - weighted_median(spread, weight)).abs(), weight);
  const double effective = (weight.sum().square() / weight.square().sum()).item<double>();
  return {.visible = true,
          .determined = true,
          .value = range.declared + from_data.p - from_references.p,
          .standard_error = kMedianEfficiency * kMadToSigma * mad / std::sqrt(effective)};
}

ParameterFit fit_parameter(const Pde& pde, const Parameter& parameter, const Tensor& data, const Tensor& references) {
  const ParameterRange range{.declared = parameter.value.get<double>(), .low = parameter.low, .high = parameter.high};
  return fit_parameter([&](double p) { return with_parameter(pde, parameter.name, p); }, range, data, references);
}

}  // namespace piddm
