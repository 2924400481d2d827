#include "piddm/posterior/posterior_objective.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "piddm/pde/physics_loss.h"
#include "piddm/posterior/crps.h"
#include "piddm/train/batches.h"

namespace piddm {

namespace {

constexpr int64_t kFirstFresh = int64_t{1} << 32;  // samples of files have smaller numbers

Tensor weights_of_channels(const Pde& pde, double solution_weight) {
  auto weights = torch::ones({pde.num_channels()}, torch::kFloat64);
  weights.narrow(0, 0, pde.num_solution_channels()).fill_(solution_weight);
  return weights / weights.mean();
}

Target repeated(const Target& known, int64_t draws) {
  const auto each = [&](const Tensor& x) { return x.repeat_interleave(draws, 0); };
  Target out;
  out.values = each(known.values);
  out.mask = each(known.mask);
  out.exact = each(known.exact);
  return out;
}

double ramp_at(int64_t step, int64_t ramp) {
  return step >= ramp ? 1 : static_cast<double>(step) / static_cast<double>(ramp);
}

}  // namespace

void check_posterior(const PosteriorOptions& options, const std::string& path) {
  check_bounds(options, path);
  check_law(options.observe, path + ".observe");
}

SampleSource pool_of(const Tensor& data, int64_t batch, uint64_t seed) {
  const auto order = std::make_shared<BatchOrder>(data.size(0), batch, seed);
  return [=](int64_t step) { return data.index_select(0, order->batch(step).to(data.device())); };
}

SampleSource fresh_samples(const Model& model, int64_t batch, uint64_t seed) {
  return [pde = model.pde, normalizer = model.normalizer, device = model.device(), batch, seed](int64_t step) {
    const torch::NoGradGuard no_grad;
    const auto x = pde->sample(seed, kFirstFresh + step * batch, batch, nullptr, device);
    return normalizer.to_network(x.to(device)).to(torch::kFloat32);
  };
}

PosteriorObjective::PosteriorObjective(const PosteriorStudent& student, const Model& model, SampleSource samples,
                                       const PosteriorOptions& options, uint64_t seed)
    : student_(student),
      model_(model),
      samples_(std::move(samples)),
      options_(options),
      seed_(seed),
      channel_weights_(weights_of_channels(*model.pde, options.loss.solution_weight)) {
  check_posterior(options, "posterior");
}

Tensor PosteriorObjective::draws_of(const Tensor& z, int64_t step) const {
  const int64_t batch = z.size(0), draws = options_.loss.draws;
  const auto known = random_observations(options_.observe, *model_.pde, z, seed_, step * batch);
  const auto noise = student_.noise(seed_, Stream::draws, step * batch * draws, batch * draws);
  const auto images = student_.images(known, batch).repeat_interleave(draws, 0);
  return repeated(known, draws).mixed(student_(noise, images));
}

void PosteriorObjective::add_physics(Loss& loss, const Tensor& x, int64_t step) const {
  const auto& o = options_.loss;
  const bool wanted = o.lambda > 0 || o.boundary > 0;
  const torch::AutoGradMode with_gradient(torch::GradMode::is_enabled() && wanted);
  const auto& pde = *model_.pde;
  auto fields = model_.normalizer.to_physical(x);
  if (o.freeze_coefficients) fields = torch::cat({pde.solution(fields), pde.coefficients(fields).detach()}, 1);
  const auto physics = physics_loss(pde, fields);
  const auto pde_error = physics.pde_error.mean();
  const double ramp = ramp_at(step, o.physics_ramp);
  if (ramp * o.lambda > 0) loss.total = loss.total + ramp * o.lambda * pde_error;
  loss.terms.emplace_back("pde_error", pde_error.detach());
  if (!physics.boundary.defined()) return;
  const auto boundary = physics.boundary.mean() / std::pow(model_.normalizer.std(0), 2);
  if (ramp * o.boundary > 0) loss.total = loss.total + ramp * o.boundary * boundary;
  loss.terms.emplace_back("boundary", boundary.detach());
}

Loss PosteriorObjective::loss(int64_t step) {
  const auto z = samples_(step);
  const auto x = draws_of(z, step);
  const auto draws = x.view({z.size(0), options_.loss.draws, z.size(1), z.size(2), z.size(3)});
  const auto by_channel = fair_crps(draws, z).mean({0, 2, 3});
  const auto weights = channel_weights_.to(by_channel.device(), by_channel.scalar_type());
  Loss loss{(by_channel * weights).mean(), {}};
  for (int64_t c = 0; c < z.size(1); ++c)
    loss.terms.emplace_back("crps_" + model_.pde->channels()[static_cast<size_t>(c)].name, by_channel[c].detach());
  add_physics(loss, x, step);
  return loss;
}

}  // namespace piddm
