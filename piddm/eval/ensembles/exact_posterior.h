#pragma once
// The exact posterior of Poisson and Helmholtz, entry by entry: their law is x = F xi, xi ~ N(0,I) (elliptic_law.h), so
// for values y = A x + noise of entries, with K = F F^T and S = A K A^T + diag(sigma^2)
//
//   mean = K A^T S^-1 y,   variance = diag(K - K A^T S^-1 A K)
//
// by a Cholesky factor of S. Exact values are given sigma = 3e-4 standard deviations of their channel, as the method
// `classical` does.

#include "piddm/pde/poisson.h"
#include "piddm/solve/methods/elliptic_law.h"
#include "piddm/solve/task/task.h"

namespace piddm {

/// [B,C,H,W] float64.
struct GaussianMarginals {
  Tensor mean, deviation;
};

class ExactPosterior {
 public:
  /// `scales`: the standard deviations of the channels.
  ExactPosterior(const Poisson& pde, std::vector<double> scales);

  /// "" where this observation is of a law and of a size it can do, else why not.
  static std::string refusal(const Pde& pde, const Observation& observation);

  GaussianMarginals of(const Observation& observation) const;

 private:
  /// K e for the entries [m] of the flattened [C,H,W]: [m,C H W].
  Tensor covariance_rows(const Tensor& entries) const;
  GaussianMarginals one(const Tensor& values, const Tensor& mask, const Tensor& sigma) const;

  EllipticLaw law_;
  std::vector<int64_t> shape_;
  Tensor scale_;  // [C H W]
  Tensor prior_;  // diag K, [C H W]
};

/// W2 of the K members of each entry, as an empirical law, from N(mean, deviation^2): members [K,...]. Of members that
/// are themselves draws of it, it is about deviation sqrt(log log K / K).
Tensor wasserstein(const Tensor& members, const Tensor& mean, const Tensor& deviation);

}  // namespace piddm
