#include "piddm/distill/reflow.h"

#include <cmath>

#include "piddm/process/integrator.h"

namespace piddm {

namespace {

constexpr double kEnds = 4;  // how much more often times near 0 and 1 are drawn

}  // namespace

ReflowOptions ReflowOptions::continued_with(const ReflowOptions& later) const {
  auto out = later;
  out.batch = batch;
  return out;
}

TrainOptions training_of_round(const ReflowOptions& options, const TrainOptions& student) {
  TrainOptions out;
  out.steps = options.steps;
  out.batch = options.batch;
  out.adam = {.lr = options.lr, .ema = options.ema};
  out.validate_every = options.validate_every;
  out.log_every = student.log_every;
  out.checkpoint_every = student.checkpoint_every;
  return out;
}

std::string name_of_round(int64_t round) { return fmt::format("reflow-{}", round); }

Reflow::Reflow(Network& network, PairSource& pairs, int64_t batch, uint64_t seed)
    : network_(network), process_(linear_process()), pool_(pairs, batch, seed), seed_(seed) {}

Tensor Reflow::time(const Tensor& u) { return (1 + torch::asinh((2 * u - 1) * std::sinh(kEnds)) / kEnds) / 2; }

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
