#include "piddm/distill/reflow.h"

#include <cmath>

#include "piddm/process/integrator.h"

namespace piddm {

Reflow::Reflow(Network& network, PairSource& pairs, const ReflowOptions& options, uint64_t seed)
    : network_(network),
      process_(process_registry().at("linear")()),
      options_(options),
      pool_(pairs, options.train.batch, seed),
      seed_(seed) {
  require<UsageError>(options.ends >= 0 && options.ends <= 30, "distill.reflow.ends: must be between 0 and 30, got {}",
                      options.ends);
}

Tensor Reflow::time(const Tensor& u) const {
  const double c = options_.ends;
  return c == 0 ? u : (1 + torch::asinh((2 * u - 1) * std::sinh(c)) / c) / 2;
}

Tensor Reflow::velocity_error(const Pairs& pairs, const Tensor& t) {
  const auto x_t = process_->diffuse(pairs.targets, pairs.latents, t);
  return (network_(x_t, t) - process_->velocity(pairs.targets, pairs.latents, t)).square().mean();
}

Loss Reflow::loss(int64_t step) {
  const auto pairs = pool_.batch(step);
  const int64_t n = pairs.latents.size(0);
  const auto u = uniform(seed_, Stream::time, step * n, n, {}, torch::kFloat32, pairs.latents.device());
  return {velocity_error(pairs, time(u)), {}};
}

std::optional<double> Reflow::validate() {
  const torch::NoGradGuard no_grad;
  const auto& pairs = pool_.held_out();
  const int64_t n = pairs.latents.size(0);
  const auto u = (torch::arange(n, pairs.latents.options()) + 0.5) / static_cast<double>(n);
  return velocity_error(pairs, time(u)).item<double>();
}

double straightness(const Model& model, const Tensor& latents, int64_t steps) {
  const torch::NoGradGuard no_grad;
  std::vector<Tensor> velocities;
  const auto record = [&](const Tensor& x, const Tensor& t) {
    velocities.push_back((*model.network)(x, t));
    return velocities.back();
  };
  const auto x0 = integrate_euler(record, latents, steps, model.process->t_end());
  return (torch::stack(velocities) - (latents - x0)).to(torch::kFloat64).square().mean().item<double>();
}

}  // namespace piddm
