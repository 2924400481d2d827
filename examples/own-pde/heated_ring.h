#pragma once
// A ring heated by a source that does not change in time:  u_t = nu u_xx - k u + q(x),  x in [0,1) m periodic,
// t in [0,1] s,  u(x,0) = 0;  nu = 0.02, k = 1.
//
// Grid x_i = i dx, dx = 1/N (no endpoint), t_n = n dt, dt = 1/(N-1) (both ends); H = x, W = t. Channels u(x,t) and
// q(x), repeated over t.
//
// Crank-Nicolson in time and the three-point stencil in x, second order in both: with L v = -nu v_xx + k v,
//   r_phys = (u^{n+1} - u^n)/dt + L (u^{n+1} + u^n)/2 - q,  n = 0..N-2, all x,   c = dt,   reference (u^{n+1} - u^n)/dt
//   boundary = u(x,0), N entries
// The solver is this scheme in Fourier modes, in which its sum over the steps is known,
//   u^n = (1 - g^n)/l q,   g = (1 - l dt/2)/(1 + l dt/2),   l = k + nu (2 sin(pi m/N)/dx)^2 for the m-th mode,
// so its data satisfy the residual to round-off.
//
// Law of q: periodic Gaussian of zero mean with covariance 7^4 (-Laplace + 49)^-2.5
// (numerics/random_fields/periodic_field.h).

#include <piddm/numerics/random_fields/periodic_field.h>
#include <piddm/pde/constraint.h>
#include <piddm/pde/pde.h>

class HeatedRing : public piddm::Pde {
 public:
  explicit HeatedRing(piddm::PdeOptions options);

  const std::vector<piddm::Channel>& channels() const override;
  piddm::GridAxes axes() const override;
  piddm::Tensor sample_coefficients(uint64_t seed, int64_t first, int64_t count) const override;

  /// Direct: a start is not used. The source is the mean of q over t.
  piddm::Tensor solve(const piddm::Tensor& coefficients, const piddm::Tensor& start = {},
                      piddm::SolveReport* report = nullptr) const override;

  std::vector<piddm::Equation> equations() const override { return {{.scale = dt_}}; }
  piddm::Residual residual(const piddm::Tensor& x) const override;

  /// u(x,0) = 0.
  piddm::Tensor constrain(const piddm::Tensor& x) const override;

  /// The column t = 0.
  piddm::Tensor given_boundary() const override;

  /// q replaced by its mean over t.
  piddm::Admissible admissible(const piddm::Tensor& coefficients) const override;

 private:
  double nu_, k_, dx_, dt_;
  piddm::PeriodicLine law_;
  piddm::ConstraintPtr start_;
  piddm::Tensor response_;  // (1 - g^n)/l, [N/2+1,N]
};
