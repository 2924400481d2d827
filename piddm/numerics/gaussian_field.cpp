#include "piddm/numerics/gaussian_field.h"

#include <cmath>
#include <numbers>

#include "piddm/core/error.h"
#include "piddm/numerics/map_samples.h"
#include "piddm/numerics/sine_transform.h"

namespace piddm {
namespace {

/// (k,l) -> its place when modes are listed by shells max(k,l): the shell m holds the places m^2 .. (m+1)^2 - 1.
Tensor shell_order(int64_t n) {
  const Tensor order = torch::empty({n, n}, torch::kInt64);
  auto place = order.accessor<int64_t, 2>();
  for (int64_t k = 0; k < n; ++k)
    for (int64_t l = 0; l < n; ++l) place[k][l] = k >= l ? k * k + l : l * l + l + 1 + k;
  return order.flatten();
}

}  // namespace

GaussianField::GaussianField(int64_t n, double alpha, double tau) : n_(n), order_(shell_order(n)) {
  require<UsageError>(n >= 1 && alpha > 0 && tau > 0,
                      "[gaussian field] n = {}, alpha = {}, tau = {}: all must be positive", n, alpha, tau);
  const Tensor k2 = torch::arange(n, torch::kFloat64).mul(std::numbers::pi).square();
  amplitude_ = (k2.unsqueeze(1) + k2 + tau * tau).pow(-alpha / 2) * std::pow(tau, alpha - 1);
  amplitude_[0][0] = 0;
}

Tensor GaussianField::sample(uint64_t seed, int64_t first, int64_t count) const {
  const Tensor amplitude = amplitude_ * static_cast<double>(n_);  // sqrt(n) per row of the orthonormal transform, twice
  return map_samples(torch::arange(first, first + count), count, [&](const Tensor& index) {
    const Tensor xi = normal(seed, Stream::coefficients, index.item<int64_t>(), 1, {n_ * n_}, torch::kFloat64);
    return inverse_cosine_transform(xi.index_select(1, order_).view({1, 1, n_, n_}) * amplitude);
  });
}

double GaussianField::pointwise_variance_mean() const { return amplitude_.square().sum().item<double>(); }

}  // namespace piddm
