#include "piddm/solve/methods/guidance.h"

#include "piddm/solve/methods/divergence.h"
#include "piddm/solve/methods/equation_rows.h"

namespace piddm {

namespace {

struct Step {
  Tensor next;   ///< of the plain integrator
  Tensor clean;  ///< x0^
};

// The steps of one trajectory.
class Guided {
 public:
  Guided(const Model& model, const Target& known, const GuidanceOptions& options)
      : model_(model), known_(known), options_(options), steps_(model, options.steps, options.spacing) {
    if (options.precondition) rows_.emplace(model.pde, model.normalizer);
  }

  /// Is any term on at step i?
  bool active(int64_t i) const { return zeta(i) > 0 || eta(i) > 0; }

  Step plain(const Tensor& x, int64_t i) const {
    const auto velocity = steps_.velocity(x, i), next = steps_.euler(x, velocity, i);
    if (!options_.heun || i + 1 == options_.steps) return {next, steps_.clean(x, velocity, i)};
    const auto second = steps_.velocity(next, i + 1);
    return {x - (velocity + second) * (steps_.dt(i) / 2), steps_.clean(next, second, i + 1)};
  }

  /// zeta D + eta P, [B].
  Tensor objective(const Tensor& clean, int64_t i) const {
    Tensor total = torch::zeros({clean.size(0)}, clean.options().requires_grad(false));
    if (const double weight = zeta(i); weight > 0) total = total + weight * data(clean);
    if (const double weight = eta(i); weight > 0) {
      const double beside = options_.boundary / weight;
      const auto square = rows_ ? implied_error_norm(*rows_, clean, beside) : residual_norm(model_, clean, beside);
      total = total + weight * (options_.pde_penalty == Penalty::norm ? (square + kTiny).sqrt() : square);
    }
    return total;
  }

 private:
  static constexpr double kTiny = 1e-20;  // keeps the slope of a root finite at zero

  bool late(int64_t i) const {
    return static_cast<double>(i) >= options_.switch_at * static_cast<double>(options_.steps);
  }
  double zeta(int64_t i) const { return known_.empty() ? 0 : options_.zeta * (late(i) ? options_.late_factor : 1); }
  double eta(int64_t i) const { return late(i) ? options_.eta : 0; }

  Tensor data(const Tensor& clean) const {
    if (options_.data_penalty == Penalty::square) return known_.pull(clean) / known_.known_values();
    return (known_.pull(clean) + kTiny).sqrt();
  }

  const Model& model_;
  const Target& known_;
  const GuidanceOptions& options_;
  TeacherSteps steps_;
  std::optional<EquationRows> rows_;  ///< of the preconditioned residual
};

}  // namespace

Tensor guided_sample(const Model& model, const Tensor& noise, const Target& known, const GuidanceOptions& options,
                     const std::string& method, const std::function<void()>& after_step) {
  const Guided guided(model, known, options);
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
