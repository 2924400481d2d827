#pragma once
// Porous medium equation:  u_t = (u^m u_x)_x = [u^{m+1}/(m+1)]_xx,  x in [0,L], t in [0,T], T <= L,
//   u(x,0) = 0,  u(0,t) = (m t)^{1/m},  u(L,t) = 0,
// with the solution  u = (m max(t-x,0))^{1/m}: a front that travels with speed 1 into dry ground.
//
// Nodes x_i = i dx, dx = L/(H-1), t_n = n dt, dt = T/(W-1), ends stored; L = T = 1 by default.
//   r_phys = (u^{n+1}_i - u^{n-1}_i)/2dt - [f_{i+1} - 2f_i + f_{i-1}]/dx^2 at the inner nodes,
//   f = max(u,0)^{m+1}/(m+1)
//   c = dx^2,  reference u_t;  rel_residual counts points whose whole 3x3 patch is wet (u > 0)
//   boundary = u(x,0), u(0,t) - (m t)^{1/m} for t > 0, u(L,t): H + 2W - 1 entries
// Only f clamps u, so u_t still sees negative values. m below kSmallestM is taken as kSmallestM, so that the residual
// and its gradient are finite for every finite field.
//
// Law: m uniform on (1,5).

#include "piddm/pde/closed_form.h"

namespace piddm {

class Pme : public ClosedForm {
 public:
  /// Where a decode leaves m alone. The equation needs m > 0; at 0.1 u is below 1e-10, at 50 it is nearly a step.
  static constexpr double kSmallestM = 0.1, kLargestM = 50;

  explicit Pme(PdeOptions options);

  std::vector<Equation> equations() const override { return {{.scale = dx() * dx()}}; }

  /// u(x,0) and u(L,t). Not u(0,t): u depends on t-x only, so that would be the whole solution.
  Tensor given_boundary() const override;

  // constrain: u(x,0) = u(L,t) = 0.

 protected:
  Tensor field(const Tensor& m) const override;
  Residual equation(const Tensor& u, const Tensor& m) const override;
};

}  // namespace piddm
