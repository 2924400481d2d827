#pragma once
// Darcy's coefficient from values of u and a: the most probable latent field of the law, by Gauss-Newton with adjoint
// solves.
//
//   a = mid + half tanh(g/w),  g = C^T (n s xi),  xi ~ N(0,I)  (the law of the data has the step w -> 0)
//   min_xi  |xi|^2/2 + sum_i W_i (x_i - x'_i)^2 / 2,   x = (u(a), a),  -div(a grad u) = 1
//   step    (I + J^T W J) d = -gradient,  J d = (-A^-1 A(da) u, da), by conjugate gradients; one solve for J, one
//           adjoint solve for J^T
//   stages  w = 1, 0.5, 0.25, 0.12 standard deviations of g, and sigma of u at least 3 %, 1 %, 0.3 %, 0.1 % of its
//           standard deviation: the smoother the coefficient, the less it can explain
//   end     a = low or high by the sign of g, known values of a in place, and u = u(a)
//
// A stage takes at most 8 steps with at most 30 iterations of conjugate gradients each. Steps are halved until the
// objective falls; a sample that finds no decrease stops at its best.

#include "piddm/numerics/random_fields/gaussian_conditioning.h"
#include "piddm/pde/darcy.h"

namespace piddm {

class DarcyInversion {
 public:
  /// `std_u`: standard deviation of u in the data.
  DarcyInversion(const Darcy& pde, double std_u);

  /// x = (u, a), [B,2,H,W] float64, from values and precisions 1/sigma^2 (0: unknown), [B,2,H,W] float64; u satisfies
  /// the discrete equation.
  Tensor solve(const NoisyValues& data) const;

  /// The objective [B,1,1,1] of xi [B,1,H,W] at a smoothing width w, and its gradient; for tests.
  struct State {
    Tensor xi, slope, a, u, value, gradient;
  };
  State evaluate(const Tensor& xi, const NoisyValues& data, double width) const;

  /// (I + J^T W J) d at this state.
  Tensor hessian(const State& at, const Tensor& precision, const Tensor& direction) const;

 private:
  /// v of A(a) v = f.
  Tensor solve_flow(const Tensor& a, const Tensor& f) const;
  Tensor coefficient(const Tensor& xi, double width, Tensor* slope) const;
  Tensor pull_back(const State& at, const Tensor& fields) const;
  State stage(State state, const NoisyValues& data, double width) const;

  const Darcy& pde_;
  double std_u_, low_, high_, std_g_;
  Tensor amplitude_;
};

}  // namespace piddm
