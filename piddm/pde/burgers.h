#pragma once
// Burgers' equation:  u_t + (u^2/2)_x = nu u_xx,  x in [0,L) periodic, t in [0,T],  u(x,0) = a(x);  nu = 0.01,
// L = T = 1 by default.
//
// Grid x_j = j L/H (no endpoint), t_n = n T/(W-1) (both ends); H = x, W = t. Channels u(x,t) and a(x), repeated over t.
//
// Law of a: periodic Gaussian of zero mean with covariance 7^4 (-Laplace + 49)^-2.5 (periodic_field.h): standard
// deviation 0.2741. It is the law of the DiffusionPDE data as their generator computes it; their text says another.
//
// Solver: Fourier modes on M >= max(2H, 256 L, 2.56 L/nu) points (a multiple of H, so that the stored points are among
// them), products dealiased by the rule of two thirds, ETDRK4 (exponential_rk.h), float64. A column takes
// max(254, 500 max|a|) max(1, 0.01/nu) dt steps, those up to t = 1/127 (at least the first), where rough data are
// smoothed, four times as many: within 1e-6 of the converged solution at every stored point.
//
// Residual, c = 1, dx = L/H, dt = T/(W-1), periodic in x, reference term u_t (boundary part: u(x,0) - a(x)):
//   compact  (u^{n+1} - u^{n-1})/2dt + u (u_{j+1} - u_{j-1})/2dx - nu (u_{j+1} - 2 u_j + u_{j-1})/dx^2,
//            columns 1..W-2
//   wide     the same with (u_{j+2} - 2 u_j + u_{j-2})/4dx^2, two central differences; blind to checkerboards in x
//   step     (u^{n+1} - Phi(u^n))/dt, Phi one dt of the solver's scheme on 2H points in steps of at most 1/127;
//            columns 1..W-1, reference term (u^{n+1} - u^n)/dt

#include "piddm/numerics/exponential_rk.h"
#include "piddm/numerics/periodic_grid.h"
#include "piddm/numerics/random_fields/periodic_field.h"
#include "piddm/pde/pde.h"

namespace piddm {

/// -(u^2/2)_x for the Fourier modes [...,M/2+1] of u on M points, without aliasing: modes beyond last_unaliased_mode(M)
/// are 0 in the result, and must be in u. Differentiable.
class BurgersFlux {
 public:
  BurgersFlux(int64_t points, torch::ScalarType dtype, torch::Device device, double length = 1);

  Tensor operator()(const Tensor& modes) const;

 private:
  int64_t points_;
  Tensor factor_;  // -pi i k/L of the unaliased modes, else 0
};

class Burgers : public Pde {
 public:
  /// Beyond this |a| (36 standard deviations) a decode clamps, and solve refuses.
  static constexpr double kLargestState = 10;

  explicit Burgers(PdeOptions options);

  const std::vector<Channel>& channels() const override;
  GridAxes axes() const override;
  Tensor sample_coefficients(uint64_t seed, int64_t first, int64_t count) const override;

  /// The initial state is the mean of a over t. A NumericsError if the solution is not finite.
  Tensor solve(const Tensor& coefficients, const Tensor& start = {}, SolveReport* report = nullptr) const override;

  /// The solver itself: u [B,H,W] from a [B,H], float64.
  Tensor integrate(const Tensor& a, const Refinement& refinement = {}) const;

  Residual residual(const Tensor& x) const override;
  std::vector<Equation> equations() const override { return {{.scale = 1}}; }

  /// Zero mean over x at every t.
  Tensor constrain(const Tensor& x) const override;

  /// The column t = 0.
  Tensor given_boundary() const override;

  /// a replaced by its mean over t (and clamped to +-kLargestState).
  Admissible admissible(const Tensor& coefficients) const override;

 private:
  enum class Form { compact, wide, step };

  Tensor trajectory(const Tensor& a, const Refinement& refinement) const;
  int64_t steps_in_a_column(double largest) const;
  int64_t columns_until(double t) const;
  Tensor step_residual(const Tensor& u) const;
  Tensor stencil_residual(const Tensor& u) const;

  double nu_, length_, duration_, dt_, dx_;
  Form form_ = Form::compact;
  PeriodicLine law_;
  int64_t residual_steps_;  // of the residual `step` in a column
  ExponentialRk4 residual_stepper_;
};

}  // namespace piddm
