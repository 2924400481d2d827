#include "piddm/solve/latents.h"

#include <cmath>

#include "piddm/core/interrupt.h"
#include "piddm/solve/best.h"

namespace piddm {

namespace {

// e <- e - step grad, or Adam with the usual constants; the loss of each sample depends on that sample only.
Tensor descend(const BatchObjective& objective, const Tensor& x0, const LatentOptions& options) {
  auto x = x0.clone(), m = torch::zeros_like(x0), s = torch::zeros_like(x0);
  Best best(x0);
  for (int64_t k = 1; k <= options.iterations; ++k) {
    const auto [value, gradient] = objective(x);
    best.update(x, value);
    const auto g = torch::where(torch::isfinite(gradient), gradient, torch::zeros_like(gradient));
    if (options.optimizer == LatentOptimizer::gd) {
      x = x - options.step * g;
    } else {
      m = 0.9 * m + 0.1 * g;
      s = 0.999 * s + 0.001 * g.square();
      x = x - options.step * (m / (1 - std::pow(0.9, k))) / ((s / (1 - std::pow(0.999, k))).sqrt() + 1e-8);
    }
  }
  return best.x();
}

}  // namespace

Tensor minimize_latents(const BatchObjective& objective, const Tensor& x0, const LatentOptions& options) {
  require<UsageError>(options.iterations >= 0, "method: iterations must not be negative, got {}", options.iterations);
  if (options.iterations == 0) return x0;
  const BatchObjective watched = [&](const Tensor& x) {
    throw_if_interrupted("optimising latents");
    return objective(x);
  };
  if (options.optimizer != LatentOptimizer::lbfgs) return descend(watched, x0, options);
  return minimize_lbfgs(watched, x0, {.iterations = options.iterations, .max_evaluations = options.iterations}).x;
}

Tensor minimize_latents(const std::function<Tensor(const Tensor&)>& loss, const Tensor& x0,
                        const LatentOptions& options) {
  return minimize_latents(with_gradient(loss), x0, options);
}

}  // namespace piddm
