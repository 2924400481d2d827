#pragma once
// Heat equation on a ring:  u_t = alpha u_xx,  x in [0, 2 pi) periodic, t in [0,T],  u(x,0) = sin(x + phi),
// with the solution  u = e^{-alpha t} sin(x + phi).
//
// Nodes x_i = 2 pi i/H (no endpoint), t_n = n T/(W-1) (ends stored); T = 1 by default.
//   r_phys = (u^{n+1}_i - u^{n-1}_i)/2dt - alpha (u_{i+1} - 2u_i + u_{i-1})/dx^2, t indices 1..W-2, all x
//   c = dt,  reference u_t;  boundary = u(x,0) - sin(x + phi), H entries
//
// Law: phi uniform on (0, pi); parameter alpha = 3. (The ECI sampling data with the diffusivity fixed.) Any real phi
// makes sense.

#include "piddm/pde/closed_form.h"

namespace piddm {

class Heat : public ClosedForm {
 public:
  explicit Heat(PdeOptions options);

  std::vector<Equation> equations() const override { return {{.scale = dt()}}; }

  /// u(x,0).
  Tensor given_boundary() const override;

  // constrain: zero mean over x at every t, which the equation conserves.

 protected:
  Tensor field(const Tensor& phi) const override;
  Residual equation(const Tensor& u, const Tensor& phi) const override;

 private:
  double alpha_;
  Tensor decay_;  // e^{-alpha t}, [W]
};

}  // namespace piddm
