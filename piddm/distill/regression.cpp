#include "piddm/distill/regression.h"

#include "piddm/pde/physics_loss.h"

namespace piddm {

namespace {

Tensor weights_of_channels(const Pde& pde, double solution_weight) {
  auto weights = torch::ones({pde.num_channels(), 1, 1}, torch::kFloat64);
  weights.narrow(0, 0, pde.num_solution_channels()).fill_(solution_weight);
  return weights / weights.mean();
}

}  // namespace

Regression::Regression(const Student& student, PdePtr pde, const Normalizer& normalizer, PairSource& pairs,
                       const PairOptions& pair_options, const RegressionOptions& options, int64_t batch, uint64_t seed)
    : student_(student),
      pde_(std::move(pde)),
      normalizer_(normalizer),
      source_(pairs),
      pair_options_(pair_options),
      options_(options),
      batch_(batch),
      seed_(seed) {
  require<UsageError>(options.lambda >= 0, "distill.loss.lambda: must not be negative, got {}", options.lambda);
  require<UsageError>(options.boundary >= 0, "distill.loss.boundary: must not be negative, got {}", options.boundary);
  require<UsageError>(options.huber >= 0, "distill.loss.huber: must not be negative, got {}", options.huber);
  require<UsageError>(options.solution_weight > 0, "distill.loss.solution_weight: must be positive, got {}",
                      options.solution_weight);
  require<UsageError>(options.physics_ramp >= 1, "distill.loss.physics_ramp: must be at least 1, got {}",
                      options.physics_ramp);
  channel_weights_ = weights_of_channels(*pde_, options.solution_weight);
}

double Regression::ramp(int64_t step) const {
  return std::clamp(static_cast<double>(step - options_.physics_from) / static_cast<double>(options_.physics_ramp), 0.0,
                    1.0);
}

void Regression::refresh(int64_t window) {
  std::vector<Tensor> latents, targets;
  for (int64_t number = std::max<int64_t>(0, window - pair_options_.pool + 1); number <= window; ++number) {
    const auto chunk = source_.chunk(number);
    latents.push_back(chunk.latents);
    targets.push_back(chunk.targets);
  }
  pool_ = {torch::cat(latents), torch::cat(targets)};
  order_.emplace(pool_.latents.size(0), batch_, seed_ + static_cast<uint64_t>(window));
  window_ = window;
}

Tensor Regression::sample_term(const Tensor& x, const Tensor& x0) const {
  const auto square = (x - x0).square();
  const double c = options_.huber;
  const auto error = c > 0 ? 2 * c * ((square + c * c).sqrt() - c) : square;
  return (error * channel_weights_.to(error.device(), error.scalar_type())).mean();
}

Loss Regression::terms(const Tensor& e, const Tensor& x0, double ramp) const {
  const auto x = student_(e);
  const auto sample = sample_term(x, x0);
  auto fields = normalizer_.to_physical(x);
  if (options_.freeze_coefficients)
    fields = torch::cat({pde_->solution(fields), pde_->coefficients(fields).detach()}, 1);
  const auto physics = physics_loss(*pde_, fields);
  const auto pde_error = physics.pde_error.mean();
  auto total = sample;
  if (const double lambda = ramp * options_.lambda; lambda > 0) total = total + lambda * pde_error;
  if (const double weight = ramp * options_.boundary; weight > 0 && physics.boundary.defined())
    total = total + (weight / std::pow(normalizer_.std(0), 2)) * physics.boundary.mean();
  Loss loss{total, {{"sample", sample.detach()}, {"pde_error", pde_error.detach()}}};
  if (physics.boundary.defined()) loss.terms.push_back({"boundary", physics.boundary.mean().detach()});
  return loss;
}

Loss Regression::loss(int64_t step) {
  if (const int64_t window = step / pair_options_.every; window != window_) refresh(window);
  const auto rows = order_->batch(step - window_ * pair_options_.every).to(pool_.latents.device());
  return terms(pool_.latents.index_select(0, rows), pool_.targets.index_select(0, rows), ramp(step));
}

std::optional<double> Regression::validate() {
  torch::NoGradGuard no_grad;
  if (!held_out_.latents.defined()) held_out_ = source_.held_out();
  const auto loss = terms(held_out_.latents, held_out_.targets, 1);
  return (options_.stop_on == StopOn::total ? loss.total : loss.terms[0].second).item<double>();
}

}  // namespace piddm
