#include "piddm/solve/task/target.h"

#include <cmath>

namespace piddm {

namespace {

constexpr double kSameCoefficient = 1e-5;

Tensor over_sample(const Tensor& x) { return x.sum({1, 2, 3}, true); }

/// sigma in network units where the mask is 1, else 0; float64 on the device of the mask.
Tensor network_sigma(const Tensor& given, const Tensor& mask, const Normalizer& normalizer) {
  auto sigma = given.to(mask.device(), torch::kFloat64).clone();
  for (int64_t c = 0; c < normalizer.num_channels(); ++c) sigma.select(1, c).div_(normalizer.scale(c));
  return torch::where(mask > 0, sigma, torch::zeros_like(sigma));
}

Tensor noise_weights(const Tensor& mask, const Tensor& sigma) {
  const auto raw = mask / (sigma.square() + kExactSigma * kExactSigma);
  return raw * (over_sample(mask) / over_sample(raw).clamp_min(1e-300));
}

std::string valid_range(const std::pair<double, double>& range) {
  const auto [low, high] = range;
  if (std::isinf(high)) return fmt::format("; must be at least {}", low);
  return fmt::format("; must be between {} and {}", low, high);
}

}  // namespace

Tensor Target::misfit(const Tensor& z) const {
  return (weight * (z - values).square()).sum({1, 2, 3}) / mask.sum({1, 2, 3}).clamp_min(1);
}

Target Target::narrow(int64_t first, int64_t count) const {
  if (empty()) return {};
  const auto part = [&](const Tensor& x) { return x.narrow(0, first, count); };
  return {part(values), part(mask), part(weight), part(exact), part(sigma)};
}

Target exact_target(const Tensor& values, const Tensor& mask) {
  return {values, mask, mask, mask, torch::zeros_like(mask)};
}

Target make_target(const Observation& observation, const Model& model, const std::string& method,
                   torch::ScalarType dtype) {
  model.pde->check_shape(observation.values);
  model.pde->check_shape(observation.mask);
  const auto mask = observation.mask.to(model.device(), dtype);
  const auto given = observation.values.to(mask.options());
  const auto known = torch::where(mask > 0, given, torch::zeros_like(mask));
  require<DataError>(all_finite(known), "[{}] an observed value is not finite", method);
  const auto values = model.normalizer.to_network(known);
  if (!observation.sigma.defined()) return exact_target(values, mask);
  model.pde->check_shape(observation.sigma);
  const auto sigma = network_sigma(observation.sigma, mask, model.normalizer);
  require<DataError>(all_finite(sigma) && (sigma >= 0).all().item<bool>(),
                     "[{}] the sigma of an observed value is negative or not finite", method);
  return {values, mask, noise_weights(mask.to(torch::kFloat64), sigma).to(dtype), mask * (sigma == 0).to(dtype),
          sigma.to(dtype)};
}

void check_given_coefficients(const Target& target, const Model& model, const std::string& method) {
  const auto& pde = *model.pde;
  const auto given = (pde.coefficients(target.exact) > 0).flatten(1).all(1).nonzero().squeeze(1);
  if (given.numel() == 0) return;
  const auto x = model.normalizer.to_physical(target.values.index_select(0, given)).to(torch::kFloat64);
  const auto a = pde.coefficients(x);
  const auto size = a.square().mean({2, 3}, true).sqrt();
  const auto moved = (pde.admissible(a).coefficients - a).abs().gt(kSameCoefficient * size).nonzero().to(torch::kCPU);
  if (moved.size(0) == 0) return;
  const auto at = [&](int64_t k) { return moved[0][k].item<int64_t>(); };
  const auto& channel = pde.channels()[static_cast<size_t>(pde.num_solution_channels() + at(1))];
  const auto range = channel.valid ? valid_range(*channel.valid) : "";
  throw DataError("[{}] inadmissible coefficients: sample {}, {} = {:.6g}{}", method, given[at(0)].item<int64_t>(),
                  channel.name, a[at(0)][at(1)][at(2)][at(3)].item<double>(), range);
}

}  // namespace piddm
