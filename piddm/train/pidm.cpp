#include "piddm/train/pidm.h"

#include "piddm/pde/physics_loss.h"

namespace piddm {

namespace {

constexpr double kStep = 0.01;  // of upstream's 100

}  // namespace

Pidm::Pidm(Network& network, ProcessPtr process, const Tensor& data, int64_t batch, uint64_t seed, PdePtr pde,
           Normalizer normalizer, const PidmOptions& options, Spacing times)
    : FlowMatching(network, std::move(process), data, batch, seed, times),
      pde_(std::move(pde)),
      normalizer_(std::move(normalizer)),
      options_(options) {
  check_bounds(options, "pidm");
}

Tensor Pidm::weight(const Tensor& t) const {
  if (options_.weighting == PidmWeighting::constant) return torch::full_like(t, options_.lambda);
  const auto from = t.clamp_min(2 * kStep), to = from - kStep;
  const auto s_t = process_->at(from), s_s = process_->at(to);
  const auto variance =
      (s_s.sigma / s_t.sigma).square() * (s_t.sigma.square() - (s_t.alpha / s_s.alpha).square() * s_s.sigma.square());
  return (options_.lambda / 2 / variance).view({-1});
}

Tensor Pidm::estimate(const Batch& batch, const Tensor& v) {
  if (options_.estimate == PidmEstimate::mean) return process_->clean(batch.x_t, v, batch.t);
  const auto end = torch::minimum(batch.t, torch::full_like(batch.t, kStep));
  const auto clean = process_->clean(batch.x_t, v, batch.t), noise = process_->noise(batch.x_t, v, batch.t);
  const auto x = process_->diffuse(clean, noise, end);
  return process_->clean(x, network_(x, end), end);
}

Loss Pidm::judge(const Batch& batch, const Tensor& v) {
  const auto diffusion = (v - batch.target).square().mean();
  const torch::AutoGradMode with_gradient(torch::GradMode::is_enabled() && options_.lambda > 0);
  const auto physics = physics_loss(*pde_, normalizer_.to_physical(estimate(batch, v)));
  Loss loss{diffusion, {{"diffusion", diffusion.detach()}, {"pde_error", physics.pde_error.mean().detach()}}};
  const auto names = pde_->several_equations();
  for (size_t i = 0; i < names.size(); ++i)
    loss.terms.emplace_back("pde_error_" + names[i], physics.equations[i].mean().detach());
  if (options_.lambda > 0) {
    const double beside_residual = options_.boundary / options_.lambda;
    loss.total = diffusion + (weight(batch.t) * weighted(physics, beside_residual, normalizer_.std(0))).mean();
  }
  return loss;
}

}  // namespace piddm
