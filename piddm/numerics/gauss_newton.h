#pragma once
// Batched Gauss-Newton with conjugate gradients for nonlinear least squares: min |f(x)|^2 of each sample in few
// evaluations.
//
//   V = (v_1 .. v_K) orthonormal:  v_1 ~ J^T f,  v_(k+1) ~ J^T (f + J s_k) less its part in V,   W = J V
//   s_k(mu) = V y,  y = argmin |f + W y|^2 + mu |y|^2,   mu = damping |J v_1|^2
//   x <- x + s_K(mu), the better of the dampings 4 d and d/4 if it lowers |f|^2, and d becomes that one; else d <- 64 d
//
// V spans the Krylov space of J^T J, so s_K is what K steps of conjugate gradients on (J^T J + mu) s = -J^T f give
// (Steihaug's truncated CG in Levenberg-Marquardt's setting). W is kept, so that another damping costs one evaluation
// and not another K products, and so that the step is the best in the span of V for the products there are, however
// inexact. Nocedal and Wright, "Numerical Optimization" (2nd ed.), chapters 7 and 10.
//
// An iteration takes 1 + K p + 2 evaluations (p = 1 or 2, numerics/jacobian.h) and K backward passes, one more with
// exact products. The samples advance together on this fixed schedule, so a result does not depend on its companions
// beyond rounding; finished ones leave the batch.

#include "piddm/numerics/jacobian.h"

namespace piddm {

struct GaussNewtonOptions {
  int64_t evaluations = 80;  ///< of f for each sample, products J v included, at most
  int64_t directions = 10;   ///< K
  double damping = 1e-2;     ///< d at the start
  /// A sample has converged when an iteration lowers |f|^2, or could in the linear model, by no more than this share.
  double tolerance = 0;
  JacobianProduct products = JacobianProduct::automatic;
};

struct GaussNewtonResult {
  Tensor x;              ///< like x0: the best point evaluated
  Tensor value;          ///< [B] float64, |f|^2 there
  Tensor iterations;     ///< [B] int64
  Tensor evaluations;    ///< [B] int64, products included, as its batch has spent them
  Tensor converged;      ///< [B] bool: stopped by the tolerance, or where no step lowers |f|^2
  int64_t tangents = 0;  ///< exact products J v, in samples: evaluations that a count of calls of f does not see
};

/// Minimises |f(x)[b]|^2 over x[b] from x0 [B,...], f: [b,...] -> [b,M]. A sample whose start is not finite stops at
/// once.
GaussNewtonResult minimize_gauss_newton(const RowFunction& f, const Tensor& x0, const GaussNewtonOptions& options = {});

}  // namespace piddm
