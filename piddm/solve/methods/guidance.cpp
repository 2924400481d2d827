#include "piddm/solve/methods/guidance.h"

#include "piddm/solve/methods/divergence.h"

namespace piddm {

namespace {

struct Step {
  Tensor next;   ///< of the plain integrator
  Tensor clean;  ///< x0^
};

// The steps of one trajectory.
class Guided {
 public:
  Guided(const Model& model, const Known& known, const GuidanceOptions& options, const Tensor& like)
      : model_(model),
        known_(known),
        options_(options),
        times_(options.steps, options.spacing, model.process->t_end()),
        like_(like.options().requires_grad(false)) {}

  /// Is any term on at step i?
  bool active(int64_t i) const { return zeta(i) > 0 || eta(i) > 0; }

  Step plain(const Tensor& x, int64_t i) const {
    auto& v = *model_.network;
    const auto t = time(i);
    const auto velocity = v(x, t), next = x - velocity * times_.step(i);
    if (!options_.heun || i + 1 == options_.steps) return {next, model_.process->clean(x, velocity, t)};
    const auto t_next = time(i + 1), second = v(next, t_next);
    return {x - (velocity + second) * (times_.step(i) / 2), model_.process->clean(next, second, t_next)};
  }

  /// zeta D + eta P, [B].
  Tensor objective(const Tensor& clean, int64_t i) const {
    Tensor total = torch::zeros({clean.size(0)}, like_);
    if (const double weight = zeta(i); weight > 0) total = total + weight * data(clean);
    if (const double weight = eta(i); weight > 0) {
      const auto square = residual_term(model_, clean, options_.boundary);
      total = total + weight * (options_.pde_penalty == Penalty::norm ? (square + kTiny).sqrt() : square);
    }
    return total;
  }

 private:
  static constexpr double kTiny = 1e-20;  // keeps the slope of a root finite at zero

  bool late(int64_t i) const {
    return static_cast<double>(i) >= options_.switch_at * static_cast<double>(options_.steps);
  }
  double zeta(int64_t i) const { return known_ ? options_.zeta * (late(i) ? options_.late_factor : 1) : 0; }
  double eta(int64_t i) const { return late(i) ? options_.eta : 0; }
  Tensor time(int64_t i) const { return torch::full({1}, times_.at(i), like_); }

  Tensor data(const Tensor& clean) const {
    if (options_.data_penalty == Penalty::square) return known_->misfit(clean);
    return ((known_->weight * (clean - known_->values).square()).sum({1, 2, 3}) + kTiny).sqrt();
  }

  const Model& model_;
  const Known& known_;
  const GuidanceOptions& options_;
  TimeGrid times_;
  torch::TensorOptions like_;
};

}  // namespace

Tensor guided_sample(const Model& model, const Tensor& noise, const Known& known, const GuidanceOptions& options,
                     const std::string& method, const std::function<void()>& after_step) {
  require<UsageError>(options.steps >= 1, "method.steps: must be at least 1, got {}", options.steps);
  const Guided guided(model, known, options, noise);
  DivergenceGuard guard(method, noise);
  auto x = noise;
  for (int64_t i = 0; i < options.steps; ++i) {
    const bool active = guided.active(i);
    const torch::AutoGradMode mode(active);
    const auto leaf = x.detach().requires_grad_(active);
    const auto step = guided.plain(leaf, i);
    auto next = step.next.detach();
    Tensor value;
    if (active) {
      value = guided.objective(step.clean, i);
      next = next - torch::autograd::grad({value.sum()}, {leaf})[0];
      value = value.detach();
    }
    x = guard.step(next, step.clean.detach(), value);
    after_step();
  }
  return guard.finish(x);
}

}  // namespace piddm
