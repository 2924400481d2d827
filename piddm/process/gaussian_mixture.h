#pragma once
// Gaussian mixtures, for which everything a diffusion model learns is known in closed form.
//
//   x_0 ~ sum_k w_k N(mu_k, Q_k diag(lambda_k) Q_k^T)
//   x_t | k ~ N(alpha mu_k, Q_k diag(var_k) Q_k^T),   var_k = alpha^2 lambda_k + sigma^2
//   E[x_0|x_t,k] = mu_k + Q_k (alpha lambda_k / var_k) y,   y = Q_k^T (x_t - alpha mu_k)
//   E[e|x_t,k]   = Q_k (sigma / var_k) y
//   E[.|x_t] = sum_k r_k E[.|x_t,k],   r_k = w_k N(x_t; k) / sum
//   v = alpha' E[x_0|x_t] + sigma' E[e|x_t],   s = -E[e|x_t] / sigma
//
// Covariances may be singular: lambda = 0 is a point mass in that direction. With the eigenvectors all forms above are
// free of cancellation, and velocity and posterior mean exist at t = 1 as well. At sigma = 0 the noise in a direction
// without variance is undetermined and taken as 0.
//
// Fields are [B,C,H,W] with C H W = D, float32 or float64 on any device; times [B] or [1]. Differentiable in x_t.

#include <vector>

#include "piddm/core/rng.h"
#include "piddm/process/integrator.h"
#include "piddm/process/process.h"

namespace piddm {

struct GaussianComponent {
  double weight = 1;  ///< any positive number; the mixture divides by the sum
  Tensor mean;        ///< [D]
  Tensor covariance;  ///< [D,D], symmetric, no negative eigenvalue
};

class GaussianMixture {
 public:
  explicit GaussianMixture(const std::vector<GaussianComponent>& components);

  int64_t dimension() const { return means_.size(1); }
  int64_t components() const { return means_.size(0); }
  const Tensor& weights() const { return weights_; }  ///< [K] float64
  const Tensor& means() const { return means_; }      ///< [K,D] float64
  Tensor covariances() const;                         ///< [K,D,D] float64

  struct Posterior {
    Tensor clean;           ///< E[x_0|x_t], like x_t
    Tensor noise;           ///< E[e|x_t], like x_t
    Tensor responsibility;  ///< r_k, [B,K]
    Tensor log_density;     ///< log p_t(x_t), [B]
  };
  Posterior posterior(const Tensor& x_t, const Tensor& t, const Process& process) const;
  Tensor velocity(const Tensor& x_t, const Tensor& t, const Process& process) const;
  Tensor score(const Tensor& x_t, const Tensor& t, const Process& process) const;

  /// The velocity as a field to integrate.
  VelocityField field(ProcessPtr process) const;

  /// The law given that component k was drawn.
  GaussianMixture component(int64_t k) const;

  /// The law of direction . x_0, a mixture in one dimension; direction [D].
  GaussianMixture marginal(const Tensor& direction) const;

  /// Draws number first..first+n-1, [n,D,1,1] float64.
  Tensor sample(uint64_t seed, Stream stream, int64_t first, int64_t n) const;

 private:
  GaussianMixture() = default;

  Tensor weights_, means_;      // [K], [K,D]
  Tensor basis_, eigenvalues_;  // [K,D,D], columns are eigenvectors; [K,D]
};

}  // namespace piddm
