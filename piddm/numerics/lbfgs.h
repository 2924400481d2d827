#pragma once
// Batched limited-memory BFGS with a strong-Wolfe line search, for optimising many latents at once.
//
//   x <- x + step d,   d = -H g,   H from the last `history` pairs s = x' - x, y = g' - g (two-loop recursion),
//   f(x + step d) <= f + c1 step g.d   and   |g(x + step d).d| <= c2 |g.d|.
//
// Nocedal and Wright, "Numerical Optimization" (2nd ed.), Algorithms 7.4, 3.5 and 3.6; tolerances as in
// torch.optim.LBFGS.
//
// Every sample of the batch has its own history, line search and end, so its result does not depend on its companions
// (beyond the rounding of the objective and of sums over a sample). All samples advance in lock-step: one call of the
// objective evaluates the next trial point of each sample still running (a finished sample is evaluated where it
// stopped, and the answer ignored).
//
// x may be float32 or float64 on any device; dot products are accumulated in float64, the search itself is scalar work
// on the host.

#include <functional>
#include <vector>

#include "piddm/core/error.h"
#include "piddm/core/tensor.h"

namespace piddm {

struct LbfgsOptions {
  int64_t iterations = 80;         ///< accepted steps of one sample, at most
  int64_t history = 10;            ///< curvature pairs kept
  double learning_rate = 1;        ///< first trial step; the very first one is learning_rate * min(1, 1/||g||_2)
  double tolerance_grad = 1e-7;    ///< a sample has converged when max|g| is at most this
  double tolerance_change = 1e-9;  ///< ... or when a step changes no entry of x, or the value, by more than this
  int64_t max_evaluations = 0;     ///< calls of the objective, the first included; 0: 1.25 * iterations
  double c1 = 1e-4;                ///< sufficient decrease
  double c2 = 0.9;                 ///< curvature
};

struct Evaluation {
  Tensor value;     ///< [B]
  Tensor gradient;  ///< like x: d value[b] / d x[b]
};

/// x is [B, ...]; sample b of the answer may depend on sample b of x only.
using BatchObjective = std::function<Evaluation(const Tensor& x)>;

/// The objective of a differentiable loss [B, ...] -> [B].
BatchObjective with_gradient(std::function<Tensor(const Tensor& x)> loss);

/// One finished line search. `wolfe` is false where the search ran out of trials or of resolution and settled for
/// sufficient decrease.
struct LbfgsStep {
  int64_t sample = 0;
  int64_t iteration = 0;  ///< of this sample, from 1
  double step = 0;
  double value_before = 0, slope_before = 0;  ///< f and g.d at the start
  double value = 0, slope = 0;                ///< f and g.d at the accepted point
  bool wolfe = true;
};

/// What the callback sees after each call of the objective but the first.
struct LbfgsProgress {
  int64_t evaluations = 0;
  int64_t running = 0;           ///< samples not finished
  Tensor value;                  ///< [B] float64, best so far
  std::vector<LbfgsStep> steps;  ///< line searches this call finished
};

struct LbfgsResult {
  Tensor x;                 ///< like x0: the best point evaluated, always with finite value and gradient if x0's are
  Tensor value;             ///< [B] float64, its value
  Tensor iterations;        ///< [B] int64, accepted steps
  int64_t evaluations = 0;  ///< calls of the objective
  Tensor converged;         ///< [B] bool: stopped by a tolerance
  std::vector<Tensor> history_of_values;  ///< [B] float64 after each call: best value so far
};

/// Minimises each value[b] over x[b] from x0 [B, ...].
///
/// A trial with a non-finite value or gradient fails and the step shrinks. A line search that finds no decrease is
/// retried along -g with an empty history; if that fails too the sample stops. A sample whose start is not finite stops
/// at once and keeps that value.
LbfgsResult minimize_lbfgs(const BatchObjective& objective, const Tensor& x0, const LbfgsOptions& options = {},
                           const std::function<void(const LbfgsProgress&)>& callback = {});

}  // namespace piddm
