#pragma once
// The law of Poisson and Helmholtz data as a linear map of white noise: with the modes xi ~ N(0,I) of the Gaussian
// field g (gaussian_field.h),
//
//   x = (u, a) = F xi,   g = C^T (sqrt(HW) s xi),   a = g (Helmholtz: its outer ring 0),   u = S a,  S the PDE's direct
//                        solver, symmetric
//
// so conditioning on any noisy entries of u and a, and on any linear functionals A x, is exact linear algebra: that of
// gaussian_conditioning.h with the map xi -> (F xi, A F xi). Every posterior field satisfies the discrete equation to
// round-off.

#include "piddm/numerics/random_fields/gaussian_conditioning.h"
#include "piddm/pde/poisson.h"
#include "piddm/solve/task/functionals.h"

namespace piddm {

class EllipticLaw {
 public:
  explicit EllipticLaw(const Poisson& pde);

  /// F and F^T, float64.
  Tensor apply(const Tensor& xi) const;
  Tensor transposed(const Tensor& x) const;

  /// Mean of x given the data, or with `noise` a draw: [B,2,H,W] float64.
  Tensor posterior(const NoisyValues& data, const PosteriorNoise& noise = {}) const {
    return posterior(data, {}, noise, {});
  }

  /// The same given functionals too: physical units, trust = 1/sigma^2; `row_noise` [B,R] are their random numbers.
  Tensor posterior(const NoisyValues& data, const Functionals& functionals, const PosteriorNoise& noise,
                   const Tensor& row_noise) const;

  /// Adds what the equation says without a law: where all five values of u in a stencil are known with the precision
  /// `known`, so is a there.
  NoisyValues with_stencils(const NoisyValues& data, const Tensor& known, double precision) const;

 private:
  Tensor preconditioned(const Tensor& xi, const Tensor& precision) const;

  const Poisson& pde_;
  Tensor amplitude_;  // sqrt(HW) s, [H,W]
  Tensor decay_;      // 1/(pi^2 (k^2/L_x^2 + l^2/L_y^2))^2, about the square of S in the modes of g, [H,W]
  Tensor inside_;     // 0 on the ring if the PDE's law has a = 0 there, else 1, [H,W]
};

}  // namespace piddm
