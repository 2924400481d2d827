#pragma once
// Periodic Gaussian fields of zero mean on a line [0,L) and on a rectangle, from their Fourier modes at x_j = j L/n.
//
//   covariance  scale^2 (-Laplace + tau^2)^(-gamma),   s_k = scale (4 pi^2 |k|^2 + tau^2)^(-gamma/2) / sqrt(size)
//   g(x) = sum over pairs {k,-k} of sqrt(2) s_k (xi_k cos(2 pi k.x) + eta_k sin(2 pi k.x)),
//   k in waves per length, size = L or the area
//
// In one dimension k = 1..n/2 (of the last mode of an even n the grid sees the cosine only); in two dimensions |k_x|,
// |k_y| <= (n-1)/2 of their axes without k = 0. The normals are numbered by k (2-D: by shells max(|k_x|,|k_y|) = 1, 2,
// ..., of waves in the domain), so that a sample index names the same random function on every grid, truncated at the
// grid's last mode. Samples are float64 on the CPU, the same bits for any batch split and number of threads.

#include "piddm/core/rng.h"
#include "piddm/numerics/box.h"

namespace piddm {

struct PeriodicLaw {
  double scale = 1, tau = 1, gamma = 2;
};

/// On n points of a line.
class PeriodicLine {
 public:
  PeriodicLine(int64_t n, const PeriodicLaw& law, double length = 1);

  /// Samples first..first+count-1: [count,n].
  Tensor sample(uint64_t seed, int64_t first, int64_t count) const;

  /// E[g^2] averaged over the grid, exactly.
  double pointwise_variance_mean() const;

 private:
  int64_t n_;
  Tensor amplitude_;  // real factors of (xi, eta) in the modes 0..n/2, [n/2+1,2]
};

/// On the points of a rectangle.
class PeriodicPlane {
 public:
  /// The normals of a sample start at position `offset` of its random numbers, so that others may come before.
  PeriodicPlane(const Box& box, const PeriodicLaw& law, int64_t offset = 0);

  /// Samples first..first+count-1: [count,H,W], H = x, W = y.
  Tensor sample(uint64_t seed, int64_t first, int64_t count) const;

  double pointwise_variance_mean() const;

 private:
  GridSize n_;
  int64_t offset_;
  Tensor amplitude_;  // real factors of (xi, eta) in the modes of rfft2, [H (W/2+1) 2]
  Tensor place_;      // where xi and eta stand among a sample's normals, [H (W/2+1) 2]
};

}  // namespace piddm
