#include "piddm/lab/toy_samplers.h"

#include "piddm/core/interrupt.h"
#include "piddm/core/rng.h"

namespace piddm {

Tensor guided_velocity(Network& network, const Process& process, const SampleLoss& loss, double weight, const Tensor& x,
                       const Tensor& t) {
  torch::AutoGradMode enable(true);
  const auto leaf = x.detach().requires_grad_(true);
  const auto v = network(leaf, t);
  const auto value = loss(process.clean(leaf, v, t)).sum();
  return v.detach() + weight * torch::autograd::grad({value}, {leaf})[0];
}

double ToyGuidance::per_time() const {
  return unit == GuidanceUnit::per_time ? weight : weight * static_cast<double>(steps) / (1 - t_end);
}

Tensor sample_guided(Network& network, const Process& process, const SampleLoss& loss, const ToyGuidance& options,
                     const Tensor& noise) {
  const double weight = options.per_time();
  const auto field = [&](const Tensor& x, const Tensor& t) {
    throw_if_interrupted("guided sampling");
    return weight == 0 ? network(x, t).detach() : guided_velocity(network, process, loss, weight, x, t);
  };
  return integrate_euler(field, noise, options.steps, options.t_end);
}

Tensor sample_eci(Network& network, const Process& process, const ToyProjection& project, ToyEciNoise mode,
                  int64_t steps, const Tensor& noise, uint64_t seed) {
  torch::NoGradGuard no_grad;
  const double t_end = process.t_end(), dt = (1 - t_end) / static_cast<double>(steps);
  const std::vector<int64_t> shape(noise.sizes().begin() + 1, noise.sizes().end());
  Tensor x = noise, clean;
  for (int64_t i = 0; i < steps; ++i) {
    throw_if_interrupted("ECI sampling");
    const auto t = torch::full({1}, 1 - static_cast<double>(i) * dt, noise.options());
    const auto v = network(x, t);
    clean = project(process.clean(x, v, t));
    auto e = noise;
    if (mode == ToyEciNoise::ddim) e = process.noise(x, v, t);
    if (mode == ToyEciNoise::resample)
      e = normal(seed, Stream::noise, i * noise.size(0), noise.size(0), shape, noise.scalar_type()).to(noise.device());
    x = process.diffuse(clean, e, t - dt);
  }
  return clean;
}

}  // namespace piddm
