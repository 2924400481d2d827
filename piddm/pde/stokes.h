#pragma once
// Stokes' second problem, flow over an oscillating wall:  u_t = nu u_xx,  nu = omega/(2 k^2),  x in [0,L], t in [0,T],
//   u(x,0) = A e^{-kx} cos(kx),   u(0,t) = A cos(omega t),
// with the solution  u = A e^{-kx} cos(kx - omega t).
//
// Nodes x_i = i dx, dx = L/(H-1), t_n = n dt, dt = T/(W-1), ends stored; L = T = 1 by default.
//   r_phys = (u^{n+1}_i - u^{n-1}_i)/2dt - nu (u_{i+1} - 2u_i + u_{i-1})/dx^2 at the inner nodes
//   c = dt,  reference u_t
//   boundary = u(x,0) and u(0,t) minus the values above, H + W entries
//
// Law: omega uniform on (2,8); parameters A = 2, k = 5. (The ECI sampling data with the amplitude and the wave number
// fixed.)

#include "piddm/pde/closed_form.h"

namespace piddm {

class Stokes : public ClosedForm {
 public:
  /// Where a decode leaves omega alone; the equation needs omega > 0.
  static constexpr double kSmallestOmega = 1e-3, kLargestOmega = 1e3;

  explicit Stokes(PdeOptions options);

  std::vector<Equation> equations() const override { return {{.scale = dt()}}; }

  /// u(x,0) and u(0,t).
  Tensor given_boundary() const override;

  // constrain: u(x,0), which is the same for all samples.

 protected:
  Tensor field(const Tensor& omega) const override;
  Residual equation(const Tensor& u, const Tensor& omega) const override;

 private:
  double amplitude_, k_;
  Tensor cosine_, sine_;  // A e^{-kx} cos(kx) and A e^{-kx} sin(kx), [H,1]
};

}  // namespace piddm
