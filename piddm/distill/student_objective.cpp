#include "piddm/distill/student_objective.h"

#include <cmath>

#include "piddm/distill/conflict_free.h"
#include "piddm/pde/physics_loss.h"

namespace piddm {

namespace {

constexpr double kLeastVariance = 1e-6;  // network units: entries that never vary have no gradient in their deviation

Tensor deviation(const Tensor& x) { return (x.var(0) + kLeastVariance).sqrt(); }

Tensor weights_of_channels(const Pde& pde, double solution_weight) {
  auto weights = torch::ones({pde.num_channels(), 1, 1}, torch::kFloat64);
  weights.narrow(0, 0, pde.num_solution_channels()).fill_(solution_weight);
  return weights / weights.mean();
}

/// The mean over samples and solution channels of square errors [B,C_u], in units of the channels' variances.
Tensor relative_error(const Tensor& squares, const Normalizer& normalizer) {
  std::vector<Tensor> channels;
  for (int64_t c = 0; c < squares.size(1); ++c)
    channels.push_back(squares.select(1, c).mean() / std::pow(normalizer.std(c), 2));
  return mean_of(channels);
}

}  // namespace

void check_loss(const StudentLossOptions& options, const Pde& pde) {
  require<UsageError>(options.error == 0 || pde.has_preconditioner(),
                      "distill.loss.error: {} has no fast solver to measure it with", pde.name());
}

StudentObjective::StudentObjective(const Student& student, const Model& model, const StudentLossOptions& options)
    : student_(student), model_(model), options_(options), weight_(options.residual_target) {
  check_bounds(options, "distill.loss");
  check_loss(options, *model_.pde);
  channel_weights_ = weights_of_channels(*model_.pde, options.solution_weight);
}

double StudentObjective::ramp(int64_t step) const {
  if (step >= options_.physics_ramp) return 1;
  return static_cast<double>(step) / static_cast<double>(options_.physics_ramp);
}

bool StudentObjective::steady(int64_t step) const {
  return ramp(step) == 1 && !weight_.active() && options_.gradients == GradientRule::sum &&
         (!adversary_ || adversary_->active(step));
}

Tensor StudentObjective::distance(const Tensor& x, const Tensor& x0) const {
  const auto square = (x - x0).square();
  const double c = options_.huber;
  const auto error = c > 0 ? 2 * c * ((square + c * c).sqrt() - c) : square;
  auto sum = (error * channel_weights_.to(error.device(), error.scalar_type())).mean();
  if (options_.mean > 0) sum = sum + options_.mean * (x.mean(0) - x0.mean(0)).square().mean();
  if (options_.spread > 0 && x.size(0) > 1)
    sum = sum + options_.spread * (deviation(x) - deviation(x0)).square().mean();
  return sum;
}

Tensor StudentObjective::joined(const Tensor& match, const std::vector<Tensor>& physics) const {
  if (physics.empty()) return match;
  auto total = physics[0];
  for (size_t i = 1; i < physics.size(); ++i) total = total + physics[i];
  if (options_.gradients == GradientRule::project && torch::GradMode::is_enabled())
    return conflict_free_sum(match, total, student_.network().parameters());
  return match + total;
}

Loss StudentObjective::assemble(const std::string& name, const Tensor& match, const Tensor& x, double ramp) const {
  const auto& pde = *model_.pde;
  const auto fields = model_.normalizer.to_physical(x);
  const auto frozen = [&] { return torch::cat({pde.solution(fields), pde.coefficients(fields).detach()}, 1); };
  const auto physics = physics_loss(pde, options_.freeze_coefficients ? frozen() : fields);
  const auto pde_error = physics.pde_error.mean();
  const double unit = std::pow(model_.normalizer.std(0), 2);
  std::vector<Tensor> parts;
  if (const double lambda = ramp * options_.lambda; lambda > 0)
    parts.push_back(weight_.active() ? lambda * weight_.factor(pde_error) * pde_error : lambda * pde_error);
  if (const double weight = ramp * options_.boundary; weight > 0 && physics.boundary.defined())
    parts.push_back((weight / unit) * physics.boundary.mean());
  Loss loss{{}, {{name, match.detach()}, {"pde_error", pde_error.detach()}}};
  if (physics.boundary.defined()) loss.terms.emplace_back("boundary", physics.boundary.mean().detach());
  if (options_.error > 0) {
    const auto error = relative_error(implied_error(pde, frozen()), model_.normalizer);
    loss.terms.emplace_back("error", error.detach());
    if (ramp > 0) parts.push_back(ramp * options_.error * error);
  }
  const auto names = pde.several_equations();
  for (size_t i = 0; i < names.size(); ++i)
    loss.terms.emplace_back("pde_error_" + names[i], physics.equations[i].mean().detach());
  loss.total = joined(match, parts);
  return loss;
}

Loss StudentObjective::with_physics(const std::string& name, const Tensor& match, const Tensor& soft, int64_t step) {
  const bool opposed = adversary_ && adversary_->active(step);
  const auto x = opposed ? student_.finished(soft) : Tensor();
  const auto verdict = opposed ? adversary_->verdict(x) : Tensor();
  auto loss = assemble(name, opposed ? match + verdict : match, soft, ramp(step));
  residual_ = loss.terms[1].second;
  if (!opposed) return loss;
  loss.terms[0].second = match.detach();
  loss.terms.emplace_back("verdict", verdict.detach());
  loss.terms.emplace_back("adversary", adversary_->last_loss()[0]);
  shown_ = x.detach();
  return loss;
}

std::optional<double> StudentObjective::judge(PairPool& pool) {
  if (adversary_) return std::nullopt;
  const torch::NoGradGuard no_grad;
  const auto& held_out = pool.held_out();
  const auto x = student_.soft(held_out.latents);
  const auto loss = assemble("sample", distance(x, held_out.targets), x, 1);
  return (options_.stop_on == StopOn::total ? loss.total : loss.terms[0].second).item<double>();
}

void StudentObjective::advance(int64_t step) {
  if (weight_.active()) weight_.advance(residual_);
  if (adversary_ && adversary_->active(step)) adversary_->learn(step, shown_);
}

ObjectiveState StudentObjective::state() const {
  ObjectiveState out;
  if (weight_.active()) out["weighting"] = weight_.state();
  if (adversary_) out.merge(adversary_->state());
  return out;
}

void StudentObjective::load(const ObjectiveState& state) {
  if (adversary_) adversary_->load(state);
  if (!weight_.active()) return;
  require<DataError>(state.count("weighting") == 1, "checkpoint: part 'objective-weighting' is missing");
  weight_.load(state.at("weighting"));
}

}  // namespace piddm
