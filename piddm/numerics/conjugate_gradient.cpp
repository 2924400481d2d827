#include "piddm/numerics/conjugate_gradient.h"

#include <algorithm>

#include "piddm/core/error.h"

namespace piddm {
namespace {

/// <x,y> of each sample, [B,1,1,1]. Row sums first: short, so that the order of summation never depends on batch or
/// threads.
Tensor inner_product(const Tensor& x, const Tensor& y) { return (x * y).sum(-1, true).sum(-2, true).sum(-3, true); }
Tensor length(const Tensor& x) { return inner_product(x, x).sqrt(); }
bool any_true(const Tensor& mask) { return mask.any().item<bool>(); }
Tensor per_sample(const Tensor& x) { return x.reshape({x.size(0)}); }

/// x/y, and 0 with gradients 0 where y = 0.
Tensor ratio(const Tensor& x, const Tensor& y) {
  const Tensor sound = y != 0;
  return torch::where(sound, x, torch::zeros_like(x)) / torch::where(sound, y, torch::ones_like(y));
}

struct Problem {
  const LinearMap& a;
  const LinearMap& preconditioner;
  const CgOptions& options;
  Tensor scale;  // ||b||, or 1 where b = 0
};

/// One run of conjugate gradients on A d = r from d = 0 for the samples in `active`; adds to `iterations`.
Tensor run(const Problem& problem, Tensor r, Tensor active, Tensor& iterations) {
  const CgOptions& options = problem.options;
  const Tensor zero = torch::zeros_like(problem.scale);
  Tensor d = torch::zeros_like(r), best = d.clone(), best_norm = length(r);
  Tensor waited = torch::zeros_like(iterations);
  Tensor z = problem.preconditioner(r), p = z, rz = inner_product(r, z);
  const Tensor target = problem.scale * (0.25 * options.tolerance);
  while (true) {
    const Tensor ap = problem.a(p), curvature = inner_product(p, ap);
    active = active & (curvature > 0) & (iterations < options.max_iterations);
    if (!any_true(active)) return best;
    const Tensor alpha = torch::where(active, rz / curvature, zero);
    d = d + alpha * p;
    r = r - alpha * ap;
    iterations = iterations + active;
    const Tensor size = length(r), smaller = active & (size < best_norm);
    best = torch::where(smaller, d, best);
    best_norm = torch::where(smaller, size, best_norm);
    waited = torch::where(smaller, torch::zeros_like(waited), waited + 1);
    active = active & (size > target) & (waited < options.patience);
    if (!any_true(active)) return best;
    z = problem.preconditioner(r);
    const Tensor rz_next = inner_product(r, z);
    p = z + torch::where(active, rz_next / rz, zero) * p;
    rz = rz_next;
  }
}

}  // namespace

void require_converged(const CgResult& result, const CgOptions& options) {
  const Tensor failed = torch::logical_not(result.relative_residual <= std::max(options.tolerance, options.acceptable));
  if (!any_true(failed)) return;
  throw NumericsError(
      "[conjugate gradient] {} of {} samples did not converge: relative residual {:.3g}, tolerance {:.3g}, {} "
      "iterations",
      failed.sum().item<int64_t>(), failed.numel(), result.relative_residual.max().item<double>(), options.tolerance,
      result.iterations.max().item<int64_t>());
}

CgResult conjugate_gradient(const LinearMap& a, const LinearMap& preconditioner, const Tensor& b, const Tensor& start,
                            const CgOptions& options) {
  require<DataError>(b.dim() == 4 && (!start.defined() || start.sizes() == b.sizes()),
                     "[conjugate gradient] right-hand side {} and start {} do not fit", shape_string(b),
                     shape_string(start));
  const torch::NoGradGuard no_grad;
  const Tensor b_norm = length(b);
  const Problem problem{a, preconditioner, options, torch::where(b_norm > 0, b_norm, torch::ones_like(b_norm))};
  Tensor x = start.defined() ? start.clone() : torch::zeros_like(b);
  Tensor r = start.defined() ? b - a(x) : b;
  Tensor error = length(r) / problem.scale;
  Tensor iterations = torch::zeros_like(error, torch::kInt64);
  Tensor active = error > options.tolerance;
  while (any_true(active)) {
    const Tensor candidate = x + run(problem, r, active, iterations);
    const Tensor candidate_r = b - a(candidate), candidate_error = length(candidate_r) / problem.scale;
    const Tensor better = active & (candidate_error < error);
    active = active & (candidate_error > options.tolerance) & (candidate_error < 0.5 * error) &
             (iterations < options.max_iterations);
    x = torch::where(better, candidate, x);
    r = torch::where(better, candidate_r, r);
    error = torch::where(better, candidate_error, error);
  }
  const CgResult result{x, per_sample(iterations), per_sample(error).to(torch::kFloat64)};
  require_converged(result, options);
  return result;
}

Tensor conjugate_gradient_steps(const LinearMap& a, const LinearMap& preconditioner, const Tensor& b,
                                const Tensor& start, int64_t iterations) {
  if (iterations == 0) return start;
  Tensor x = start, r = b - a(start), z = preconditioner(r), p = z, rz = inner_product(r, z);
  for (int64_t i = 1;; ++i) {
    const Tensor ap = a(p), alpha = ratio(rz, inner_product(p, ap));
    x = torch::addcmul(x, alpha, p);
    if (i == iterations) return x;
    r = torch::addcmul(r, alpha, ap, -1);
    z = preconditioner(r);
    const Tensor rz_next = inner_product(r, z);
    p = torch::addcmul(z, ratio(rz_next, rz), p);
    rz = rz_next;
  }
}

}  // namespace piddm
