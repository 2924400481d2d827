#pragma once
// The Frechet distance of two Gaussians fitted to feature vectors:
//
//   d = |m1 - m2|^2 + tr S1 + tr S2 - 2 tr (S1 S2)^(1/2),   m means, S unbiased covariances
//
// With A, B the centred features over sqrt(N-1): tr S = |A|_F^2, and tr (S1 S2)^(1/2) is the sum of the singular values
// of A B^T. No covariance is formed and no square root of a non-symmetric or singular matrix is taken, so it works with
// fewer samples than features and gives 0 to round-off for equal sets. For N > d, A and B are replaced by their R
// factors.

#include "piddm/core/tensor.h"

namespace piddm {

struct Frechet {
  double distance = 0;  ///< no square root, not clipped: round-off may leave a tiny negative number
  double mean_term = 0, trace1 = 0, trace2 = 0, trace_sqrt = 0;
};

/// A Gaussian fitted to features: mean [d], and a root A of the covariance, A^T A = S.
struct FeatureGaussian {
  Tensor mean, root;
};

/// Of features [N,d], N >= 2, in float64 on the CPU. NaN if a feature is not finite.
FeatureGaussian fit_gaussian(const Tensor& features);

Frechet frechet_distance(const FeatureGaussian& a, const FeatureGaussian& b);

/// Features [N,d] against [M,d], N, M >= 2.
Frechet frechet_distance(const Tensor& a, const Tensor& b);

}  // namespace piddm
