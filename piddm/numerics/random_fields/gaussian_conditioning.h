#pragma once
// Exact conditioning of a Gaussian field x = F xi, xi ~ N(0,I), on noisy values y_i = x_i + sigma_i eta_i of some of
// its entries:
//
//   xi | y ~ N(m, H^-1),   H = I + F^T W F,   H m = F^T W y,   W = diag(1/sigma_i^2), 0 where nothing is known
//   a draw:  H xi = F^T (W y + W^(1/2) eta) + xi_0  with fresh eta, xi_0 ~ N(0,I)         (perturb and solve)
//
// F is given by products with it and its transpose, H is inverted by conjugate gradients; no matrix is formed. Exact
// values need a small sigma: H has the condition of (prior variance / sigma^2).

#include "piddm/numerics/conjugate_gradient.h"

namespace piddm {

struct GaussianMap {
  LinearMap apply;       ///< F: xi [B,1,n,n] -> x [B,C,H,W]
  LinearMap transposed;  ///< F^T
};

struct NoisyValues {
  Tensor values;     ///< y, [B,C,H,W]; ignored where the precision is 0
  Tensor precision;  ///< W, [B,C,H,W]
};

/// The random numbers of a draw: eta like x, xi_0 like xi.
struct PosteriorNoise {
  Tensor eta, xi;
};

/// The posterior mean of xi, or with `noise` a draw. `preconditioner` approximates H^-1.
CgResult condition_gaussian(const GaussianMap& map, const NoisyValues& data, const LinearMap& preconditioner,
                            const PosteriorNoise& noise = {}, const CgOptions& options = {});

}  // namespace piddm
