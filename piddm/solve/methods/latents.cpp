#include "piddm/solve/methods/latents.h"

#include <cmath>

#include "piddm/core/interrupt.h"
#include "piddm/solve/best.h"

namespace piddm {

namespace {

/// The objective of the samples that still run, where they have moved; the others are answered from memory (unmoved) or
/// with NaN (done), which every optimiser takes for a step not to take.
class Watch {
 public:
  Watch(const RowFunction& loss, const Tensor& x0, double tolerance)
      : loss_(loss),
        tolerance_(tolerance),
        x_(torch::full_like(x0, NAN)),
        value_(torch::full({x0.size(0)}, NAN, x0.options())),
        gradient_(torch::zeros_like(x0)),
        best_(torch::full({x0.size(0)}, INFINITY, torch::kFloat64)),
        mark_(best_.clone()),
        evaluations_(torch::zeros({x0.size(0)}, torch::kLong)),
        done_(torch::zeros({x0.size(0)}, torch::kBool)) {}

  Evaluation operator()(const Tensor& x) {
    const auto ended = done_.clone();
    const auto moved = (x != x_).flatten(1).any(1).cpu();
    const auto rows = moved.logical_and(ended.logical_not()).nonzero().squeeze(1);
    if (rows.size(0) > 0) evaluate(x, rows);
    return {torch::where(ended.to(x.device()), torch::full_like(value_, NAN), value_), gradient_};
  }

  const Tensor& evaluations() const { return evaluations_; }
  const Tensor& best() const { return best_; }

 private:
  void evaluate(const Tensor& x, const Tensor& rows) {
    const auto at = rows.to(x.device());
    const bool all = rows.size(0) == x.size(0);
    const auto part = all ? x : x.index_select(0, at);
    const auto [value, gradient] = with_gradient([&](const Tensor& y) { return loss_(y, at); })(part);
    // New tensors: what was handed out before must not change.
    x_ = all ? x.clone() : x_.index_copy(0, at, part);
    value_ = value_.index_copy(0, at, value);
    gradient_ = gradient_.index_copy(0, at, gradient);
    evaluations_.index_add_(0, rows, torch::ones_like(rows));
    best_.index_copy_(0, rows, torch::fmin(best_.index_select(0, rows), value.to(torch::kCPU, torch::kFloat64)));
    if (tolerance_ > 0) find_done(rows);
  }

  void find_done(const Tensor& rows) {
    const auto due = rows.index({evaluations_.index_select(0, rows).remainder(kToleranceWindow) == 0});
    const auto best = best_.index_select(0, due), mark = mark_.index_select(0, due);
    done_.index_copy_(0, due, mark.isfinite().logical_and(mark - best <= tolerance_ * mark));
    mark_.index_copy_(0, due, best);
  }

  const RowFunction& loss_;
  double tolerance_;
  Tensor x_, value_, gradient_;              // last asked for
  Tensor best_, mark_, evaluations_, done_;  // [B], on the host; mark: the best a window ago
};

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

LatentResult by_gauss_newton(const RowFunction& f, const Tensor& x0, const LatentOptions& options) {
  const RowFunction watched = [&](const Tensor& x, const Tensor& rows) {
    throw_if_interrupted("optimising latents");
    return f(x, rows);
  };
  const auto result = minimize_gauss_newton(watched, x0,
                                            {.evaluations = options.iterations,
                                             .directions = options.directions,
                                             .tolerance = options.tolerance,
                                             .products = options.products});
  return {result.x, result.value, result.evaluations, result.converged, result.tangents};
}

}  // namespace

LatentResult minimize_squares(const RowFunction& f, const Tensor& x0, const LatentOptions& options) {
  check_bounds(options);
  if (options.iterations > 0 && options.optimizer == LatentOptimizer::gauss_newton)
    return by_gauss_newton(f, x0, options);
  const RowFunction loss = [&](const Tensor& x, const Tensor& rows) { return f(x, rows).square().sum(1); };
  Watch watch(loss, x0, options.tolerance);
  const auto x =
      options.iterations == 0 ? x0 : minimize_latents([&](const Tensor& at) { return watch(at); }, x0, options);
  return {x, watch.best(), watch.evaluations(), watch.evaluations() < options.iterations};
}

Tensor minimize_latents(const BatchObjective& objective, const Tensor& x0, const LatentOptions& options) {
  check_bounds(options);
  require<UsageError>(options.optimizer != LatentOptimizer::gauss_newton,
                      "method: gauss-newton needs an objective that is a sum of squares of one evaluation: the method "
                      "piddm has one");
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
