#include "piddm/solve/task/target.h"

#include <cmath>

namespace piddm {

namespace {

constexpr double kSameCoefficient = 1e-5;

/// sigma in network units where the mask is 1, else 0; float64 on the device of the mask.
Tensor network_sigma(const Tensor& given, const Tensor& mask, const Normalizer& normalizer) {
  auto sigma = given.to(mask.device(), torch::kFloat64).clone();
  for (int64_t c = 0; c < normalizer.num_channels(); ++c) sigma.select(1, c).div_(normalizer.scale(c));
  return torch::where(mask > 0, sigma, torch::zeros_like(sigma));
}

/// w of values whose samples have noise (`noisy`, 1 or 0, of the same shape) or have none.
Tensor misfit_weights(const Tensor& sigma, const Tensor& noisy) {
  const auto w = kBalancedSigma * kBalancedSigma / (sigma.square() + kExactSigma * kExactSigma);
  return torch::where(noisy > 0, w, torch::ones_like(w));
}

Tensor pull_weights(const Tensor& sigma) { return 1 / (1 + sigma.square() / (kBalancedSigma * kBalancedSigma)); }

std::string valid_range(const std::pair<double, double>& range) {
  const auto [low, high] = range;
  if (std::isinf(high)) return fmt::format("; must be at least {}", low);
  return fmt::format("; must be between {} and {}", low, high);
}

}  // namespace

Tensor Target::misfit(const Tensor& z) const {
  auto sum = (weight * (z - values).square()).sum({1, 2, 3});
  if (!functionals.empty()) {
    const auto squares = functionals.trust * (functionals.apply(z) - functionals.value).square();
    sum = sum + functionals.sum_by_sample(squares, z.size(0));
  }
  return sum / known_values();
}

Tensor Target::pull(const Tensor& z) const {
  auto sum = (mask * pull_weights(sigma) * (z - values).square()).sum({1, 2, 3});
  if (functionals.empty()) return sum;
  const auto squares = pull_weights(functionals.sigma) * (functionals.apply(z) - functionals.value).square();
  return sum + functionals.sum_by_sample(squares, z.size(0));
}

Tensor Target::known_values() const {
  auto n = mask.sum({1, 2, 3});
  if (!functionals.empty()) n = n + functionals.count(mask.size(0)).to(n.options());
  return n.clamp_min(1);
}

Tensor Target::noisy() const {
  auto any = (mask - exact).flatten(1).amax(1) > 0;
  if (functionals.empty()) return any;
  return any | (functionals.sum_by_sample((functionals.sigma > 0).to(mask.scalar_type()), mask.size(0)) > 0);
}

Target Target::perturbed(uint64_t seed, int64_t first) const {
  auto out = *this;
  const int64_t samples = mask.size(0);
  const auto draw = [&](Stream stream, const std::vector<int64_t>& shape) {
    return normal(seed, stream, first, samples, shape, mask.scalar_type(), mask.device());
  };
  out.values = values + sigma * draw(Stream::data_noise, mask.sizes().slice(1).vec());
  if (functionals.empty()) return out;
  const int64_t most = functionals.count(samples).max().item<int64_t>();
  out.functionals.value =
      functionals.value + functionals.sigma * functionals.unpadded(draw(Stream::sensor_noise, {most}));
  return out;
}

Target Target::narrow(int64_t first, int64_t count) const {
  if (empty()) return {};
  const auto part = [&](const Tensor& x) { return x.narrow(0, first, count); };
  return {part(values), part(mask),  part(weight),
          part(exact),  part(sigma), functionals.select(torch::arange(first, first + count))};
}

Target Target::select(const Tensor& samples) const {
  if (empty()) return {};
  const auto part = [&](const Tensor& x) { return x.index_select(0, samples); };
  return {part(values), part(mask), part(weight), part(exact), part(sigma), functionals.select(samples)};
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
  auto target = exact_target(values, mask);
  target.functionals = observation.functionals.to(model.device(), torch::kFloat64).to_network(model.normalizer);
  require<DataError>(
      target.functionals.empty() || (all_finite(target.functionals.value) && all_finite(target.functionals.sigma)),
      "[{}] an observed value is not finite", method);
  if (observation.sigma.defined()) {
    model.pde->check_shape(observation.sigma);
    const auto sigma = network_sigma(observation.sigma, mask, model.normalizer);
    require<DataError>(all_finite(sigma) && (sigma >= 0).all().item<bool>(),
                       "[{}] the sigma of an observed value is negative or not finite", method);
    target.sigma = sigma.to(dtype);
    target.exact = mask * (sigma == 0).to(dtype);
  }
  const auto noisy = target.noisy();
  if (noisy.any().item<bool>())
    target.weight = mask * misfit_weights(target.sigma, noisy.to(dtype).view({-1, 1, 1, 1}).expand_as(mask));
  auto& rows = target.functionals;
  if (!rows.empty()) {
    rows.trust = misfit_weights(rows.sigma, noisy.index_select(0, rows.sample).to(torch::kFloat64));
    rows = rows.to(model.device(), dtype);
  }
  return target;
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
