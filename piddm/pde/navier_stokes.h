#pragma once
// Two-dimensional Navier-Stokes flow in vorticity form on a periodic rectangle, the unit square by default, from t = 0
// to T = 1:
//
//   w_t + v.grad w = nu Laplace w + f,   v = (psi_y, -psi_x),  -Laplace psi = w,   nu = 1e-3
//   f = A sqrt(2) sin(2 pi (x/L_x + y/L_y) + phi),  A = 0.1     (phi = pi/4: the forcing of the FNO and DiffusionPDE
//                                                                data)
//
// Grid x_j = j L_x/H, y_j = j L_y/W. Channels w = w(T), w0 = w(0) and the phase phi (a scalar channel).
//
// Law: w0 periodic Gaussian of zero mean with covariance 2 7^3 (-Laplace + 49)^-2.5 (periodic_field.h), standard
// deviation 0.2620, the law of the FNO and DiffusionPDE data as their generators compute it, without the last modes
// |k| = H/2, W/2 of an even axis (4e-4 of the standard deviation at 128 points); phi uniform on [0, pi/2].
//
// Solver: Fourier modes on M >= max(2N, 256 L) points of each axis (a multiple of its N), products dealiased by the
// rule of two thirds, ETDRK4 (exponential_rk.h) with max(10, 22 max|w0|) steps, float64: within 1e-6 of the converged
// solution.
//
// Residual: the trapezoidal rule of the two stored frames with the viscous part exact,
//   r = w1 - E w0 - T/2 (E n0 + n1),   E = exp(-nu |k|^2 T),   n = -(v.grad w) (dealiased) + f,   c = 1
// at all points; reference term w1 - w0. Its floor is the error of the trapezoidal rule.

#include "piddm/numerics/periodic_grid.h"
#include "piddm/numerics/random_fields/periodic_field.h"
#include "piddm/pde/pde.h"

namespace piddm {

/// -(v.grad w) for the modes of a vorticity on the points of a rectangle, without aliasing; differentiable. Modes are
/// [...,M,K+1]: those of rfft2 with k_y = 0..K, K the last unaliased one; aliased k_x are taken as 0. Four transforms:
///   v.grad w = (d_xx - d_yy)(v1 v2) + d_xy (v2^2 - v1^2)      (Basdevant, J. Comput. Phys. 50 (1983))
class VorticityAdvection {
 public:
  VorticityAdvection(const Box& box, torch::ScalarType dtype, torch::Device device);

  Tensor operator()(const Tensor& modes) const;

  int64_t columns() const { return columns_; }  ///< K+1

 private:
  int64_t width_, columns_;
  Tensor to_velocity_;                  // [2,M,K+1]: i k_y/|k|^2 and -i k_x/|k|^2, of aliased modes 0
  Tensor from_product_, from_squares_;  // [M,K+1]: k_x^2 - k_y^2 and k_x k_y, of aliased modes 0
};

class NavierStokes : public Pde {
 public:
  /// Beyond this |w0| (76 standard deviations) a decode clamps, and solve refuses.
  static constexpr double kLargestVorticity = 20;

  explicit NavierStokes(PdeOptions options);

  const std::vector<Channel>& channels() const override;
  GridAxes axes() const override;
  Tensor sample_coefficients(uint64_t seed, int64_t first, int64_t count) const override;

  /// phi is the channel's spatial mean. A NumericsError if the flow is not finite.
  Tensor solve(const Tensor& coefficients, const Tensor& start = {}, SolveReport* report = nullptr) const override;

  /// The solver itself: w at `time` [B,H,W] from coefficients [B,2,H,W] float64.
  Tensor integrate(const Tensor& coefficients, double time = 1, const Refinement& refinement = {}) const;

  Residual residual(const Tensor& x) const override;
  std::vector<Equation> equations() const override { return {{.scale = 1}}; }

  /// Zero mean of w.
  Tensor constrain(const Tensor& x) const override;

 private:
  Tensor flow(const Tensor& coefficients, double time, const Refinement& refinement) const;
  Tensor forcing(const Tensor& phi, const GridSize& points) const;

  double nu_, amplitude_;
  Lengths lengths_;
  PeriodicPlane law_;
};

}  // namespace piddm
