#pragma once
// Stefan problem, a melting front:  u_t = (k(u) u_x)_x,  k = 1 where u >= u*, else 0,  x in [0,L], t in [0,T],
//   u(x,0) = 0,  u(0,t) = 1,  u(L,t) = 0,
// with the solution  u = 1 - (1-u*) erf(x/(2 sqrt t))/erf(z) for x <= 2 z sqrt t, else 0, where z solves
//   u* erf(z) z e^{z^2} = (1-u*)/sqrt(pi).
// At the front u falls from u* to 0.
//
// Nodes x_i = i dx, dx = L/(H-1), t_n = n dt, dt = T/(W-1), ends stored; u = 1 on the line x = 0, at t = 0 too. L = 1,
// T = 0.1 by default, and T <= 0.1 L^2, so that the front stays inside.
//   r_phys = (u^{n+1}_i - u^{n-1}_i)/2dt - [f_{i+1} - 2f_i + f_{i-1}]/dx^2,  f = max(u - u*, 0), at the inner nodes
//   c = dt,  reference u_t;  rel_residual counts points with t index > 5 whose whole 3x3 patch is wet (u > u*) or dry
//   boundary = u(x,0) for x > 0, u(0,t) - 1, u(L,t): H + 2W - 1 entries
// f is the primitive of k: k itself has zero gradient, f has not.
//
// Law: u* uniform on (0.55, 0.7), that is z in (0.434, 0.572).

#include "piddm/pde/closed_form.h"

namespace piddm {

/// z of the front x = 2 z sqrt t for 0 < u* < 1, to round-off: Newton's method in a bracket.
double stefan_root(double u_star);

class Stefan : public ClosedForm {
 public:
  /// Where a decode leaves u* alone. The equation needs 0 < u* < 1; below 0.03 the front leaves the domain.
  static constexpr double kSmallestUStar = 0.05, kLargestUStar = 0.99;

  explicit Stefan(PdeOptions options);

  std::vector<Equation> equations() const override { return {{.scale = dt()}}; }

  /// u(x,0) and u(0,t).
  Tensor given_boundary() const override;

  // constrain: u(x,0) = 0, u(L,t) = 0, u(0,t) = 1.

 protected:
  Tensor field(const Tensor& u_star) const override;
  Residual equation(const Tensor& u, const Tensor& u_star) const override;

 private:
  Tensor similarity_, erf_;  // x/(2 sqrt t) (0 on x = 0) and its error function, [H,W]: the same for every sample
};

}  // namespace piddm
