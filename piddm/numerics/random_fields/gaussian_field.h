#pragma once
// Gaussian random fields on a rectangle [0,L_1] x [0,L_2] with zero flux through the walls.
//
//   covariance  tau^(2 alpha - 2) (-Laplace + tau^2)^(-alpha)          (alpha = 2, tau = 3: 9 (-Laplace + 9)^-2)
//   g(x,y) = sum_{k < H, l < W, (k,l) != (0,0)} s_kl xi_kl phi_k(x/L_1) phi_l(y/L_2)
//   s_kl   = tau^(alpha-1) (pi^2 (k^2/L_1^2 + l^2/L_2^2) + tau^2)^(-alpha/2) (L_1 L_2)^(-1/2)
//   phi_0  = 1,   phi_k(x) = sqrt(2) cos(pi k x)
//
// at the cell centres x_i = (i+1/2) L_1/H, y_j = (j+1/2) L_2/W. On the unit square this is the law of the
// DiffusionPDE/FNO data as their generator computes it (their texts leave out the factor tau^(2 alpha - 2)); the
// constant mode is removed, so every sample has zero mean. The normals xi_kl are numbered by shells max(k,l) = 0, 1, 2,
// ..., so that a sample index names the same random function on every grid, truncated at the grid's last mode.

#include "piddm/core/rng.h"
#include "piddm/numerics/box.h"

namespace piddm {

/// (k,l) -> its place when modes are listed by shells max(k,l), [H*W] int64: the shell m holds the places
/// m^2 .. (m+1)^2 - 1.
Tensor shell_order(const GridSize& n);

class GaussianField {
 public:
  explicit GaussianField(const Box& box, double alpha = 2, double tau = 3);

  /// Samples first..first+count-1: [count,1,H,W] float64 on the CPU, the same bits for any batch split and number of
  /// threads.
  Tensor sample(uint64_t seed, int64_t first, int64_t count) const;

  /// s_kl, [H,W] float64: g = inverse_cosine_transform(sqrt(H W) s xi).
  const Tensor& amplitude() const { return amplitude_; }

  /// E[g^2] averaged over the grid, exactly: the sum of s_kl^2.
  double pointwise_variance_mean() const;

 private:
  GridSize n_;
  Tensor amplitude_;  // s_kl, [H,W]
  Tensor order_;      // position of xi_kl among a sample's normals, [H*W]
};

}  // namespace piddm
