#include "piddm/solve/suggest.h"

#include <cmath>

#include "piddm/core/error.h"

namespace piddm {

namespace {

constexpr double kLeastSigma = 0.01;  // network units

/// [C,H,W] bool.
Tensor candidates(const Observation& observation, const Pde& pde) {
  const auto known = observation.mask[0].to(torch::kCPU) > 0;
  auto in_part = torch::zeros_like(known), open = torch::zeros_like(known);
  for (int64_t c = 0; c < pde.num_channels(); ++c) {
    if (pde.channels()[static_cast<size_t>(c)].scalar || known[c].all().item<bool>()) continue;
    const auto& rows = observation.functionals;
    open[c].copy_(known[c].logical_not());
    if (known[c].any().item<bool>() || (!rows.empty() && (rows.channel == c).any().item<bool>()))
      in_part[c].copy_(open[c]);
  }
  return in_part.any().item<bool>() ? in_part : open;
}

/// [C,H,W] float64, network units.
Tensor noise_of(const Observation& observation, const Pde& pde, const Normalizer& normalizer) {
  auto out = torch::full(pde.sample_shape(), kLeastSigma, torch::kFloat64);
  if (!observation.sigma.defined()) return out;
  for (int64_t c = 0; c < pde.num_channels(); ++c) {
    const auto of_known = observation.sigma[0][c].masked_select(observation.mask[0][c] > 0);
    if (of_known.numel() > 0)
      out[c].clamp_min_(of_known.to(torch::kFloat64).mean().item<double>() / normalizer.scale(c));
  }
  return out;
}

}  // namespace

Tensor ensemble_root(const Tensor& members) {
  require<DataError>(members.size(0) >= 2, "an ensemble needs at least 2 members");
  const auto rows = members.to(torch::kCPU, torch::kFloat64).flatten(1);
  return (rows - rows.mean(0)) / std::sqrt(static_cast<double>(rows.size(0) - 1));
}

std::vector<Suggestion> suggest_sensors(const Tensor& root, const Tensor& candidate, const Tensor& sigma,
                                        int64_t count) {
  auto x = root;
  auto open = candidate.clone();
  std::vector<Suggestion> out;
  const auto noise = sigma.square();
  for (int64_t k = 0; k < count && open.any().item<bool>(); ++k) {
    const auto variance = x.square().sum(0);
    const auto gram = x.mm(x.t());  // [K,K]: |p_j|^2 = x_j^T (X X^T) x_j
    const auto column = (gram.mm(x) * x).sum(0);
    const auto fall = torch::where(open, column / (variance + noise).clamp_min(1e-300), torch::full_like(variance, -1));
    const auto j = fall.argmax().item<int64_t>();
    const auto at = x.select(1, j).clone();
    const double d = (variance[j] + noise[j]).item<double>();
    const double before = variance.sum().item<double>();
    if (d > 0) x = x - at.unsqueeze(1) * at.unsqueeze(0).mm(x) / (d * (1 + sigma[j].item<double>() / std::sqrt(d)));
    out.push_back({j, before, x.square().sum().item<double>()});
    open[j] = false;
  }
  return out;
}

std::vector<SuggestedSensor> suggest_sensors(const Tensor& members, const Observation& observation, const Pde& pde,
                                             const Normalizer& normalizer, int64_t count) {
  pde.check_shape(members);
  const auto root = ensemble_root(normalizer.to_network(members.to(torch::kCPU, torch::kFloat64)));
  const auto found = suggest_sensors(root, candidates(observation, pde).flatten(),
                                     noise_of(observation, pde, normalizer).flatten(), count);
  const int64_t points = pde.grid().points(), width = pde.grid().width();
  const auto axes = pde.axes();
  const auto x = axes[0].coordinates(pde.grid().height()), y = axes[1].coordinates(width);
  std::vector<SuggestedSensor> out;
  for (const auto& one : found) {
    const int64_t at = one.entry % points, i = at / width, j = at % width;
    out.push_back({one.entry / points, i, j, x[i].item<double>(), y[j].item<double>(),
                   std::sqrt(one.after / std::max(found.front().before, 1e-300))});
  }
  return out;
}

std::string sensor_lines(const std::vector<SuggestedSensor>& sensors, const Pde& pde) {
  std::string text = fmt::format("channel,x,{}\n", pde.axes()[1].name);
  for (const auto& one : sensors)
    text += fmt::format("{},{:.6g},{:.6g}\n", pde.channels()[static_cast<size_t>(one.channel)].name, one.x, one.y);
  return text;
}

}  // namespace piddm
