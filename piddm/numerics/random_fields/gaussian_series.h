#pragma once
// Gaussian random fields at any points of a line or a rectangle, each axis with its own functions:
//
//   g(x,y) = sum_{k,l} s_kl xi_kl phi_k(x) psi_l(y)
//   s_kl   = scale tau^(alpha-1) (w_k^2 + v_l^2 + tau^2)^(-alpha/2) / sqrt(area)
//
//   cosine    1, sqrt(2) cos(pi k x/L)             w_k = pi k/L         no flux through the ends
//   sine      sqrt(2) sin(pi k x/L), k >= 1        w_k = pi k/L         zero at the ends
//   fourier   1, sqrt(2) cos, sqrt(2) sin(2 pi k x/L)    w_k = 2 pi k/L    periodic
//
// so that the covariance is scale^2 tau^(2 alpha - 2) (-Laplace + tau^2)^-alpha. A constant is left out: a field has
// mean zero over the domain (with sines along an axis there is none). The normals xi are numbered by shells
// max(k,l) = 0, 1, 2, .. as in gaussian_field.h, so that a sample index names the same random function at any points,
// with as many functions along an axis as the points tell apart.

#include <array>

#include "piddm/core/rng.h"

namespace piddm {

struct SeriesAxis {
  enum class Functions { cosine, sine, fourier };
  Functions functions = Functions::cosine;
  double length = 1;
  Tensor coordinates;  ///< float64 [n], n > 1; undefined: there is no such axis
  int64_t count = 0;   ///< of functions
};

class GaussianSeries {
 public:
  /// Along H and along W.
  GaussianSeries(const std::array<SeriesAxis, 2>& axes, double alpha = 2, double tau = 3, double scale = 1);

  /// Samples first..first+count-1: [count,1,H,W] float64 on the CPU (W = 1 without a second axis), the same bits for
  /// any batch split and number of threads.
  Tensor sample(uint64_t seed, int64_t first, int64_t count) const;

 private:
  Tensor left_, right_;  // functions at the points: [H,K], [L,W]
  Tensor amplitude_;     // s_kl [K,L]
  Tensor order_;         // position of xi_kl among a sample's normals, [K*L]
  int64_t normals_ = 0;  // of a sample
};

}  // namespace piddm
