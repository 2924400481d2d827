#include "piddm/numerics/random_fields/gaussian_field.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "piddm/core/error.h"
#include "piddm/numerics/map_samples.h"
#include "piddm/numerics/sine_transform.h"

namespace piddm {
namespace {

/// (pi k/L)^2 for k = 0..n-1.
Tensor square_wavenumbers(int64_t n, double length) {
  return torch::arange(n, torch::kFloat64).mul(std::numbers::pi).div(length).square();
}

}  // namespace

Tensor shell_order(const GridSize& n) {
  const Tensor order = torch::empty({n.height(), n.width()}, torch::kInt64);
  auto place = order.accessor<int64_t, 2>();
  for (int64_t k = 0; k < n.height(); ++k)
    for (int64_t l = 0; l < n.width(); ++l) place[k][l] = k >= l ? k * k + l : l * l + l + 1 + k;
  return order.flatten();
}

GaussianField::GaussianField(const Box& box, double alpha, double tau)
    : n_(box.points), order_(shell_order(box.points)) {
  require<UsageError>(n_.smaller() >= 1 && alpha > 0 && tau > 0,
                      "[gaussian field] n = {}, alpha = {}, tau = {}: all must be positive", n_.text(), alpha, tau);
  const Tensor k2 = square_wavenumbers(n_.height(), box.lengths[0]);
  const Tensor l2 = square_wavenumbers(n_.width(), box.lengths[1]);
  amplitude_ = (k2.unsqueeze(1) + l2 + tau * tau).pow(-alpha / 2) * (std::pow(tau, alpha - 1) / std::sqrt(box.area()));
  amplitude_[0][0] = 0;
}

Tensor GaussianField::sample(uint64_t seed, int64_t first, int64_t count) const {
  // sqrt(n) for each axis of the orthonormal transform
  const Tensor amplitude = amplitude_ * std::sqrt(static_cast<double>(n_.points()));
  const int64_t shells = std::max(n_.height(), n_.width());
  return map_samples(torch::arange(first, first + count), count, [&](const Tensor& index) {
    const Tensor xi = normal(seed, Stream::coefficients, index.item<int64_t>(), 1, {shells * shells}, torch::kFloat64);
    return inverse_cosine_transform(xi.index_select(1, order_).view({1, 1, n_.height(), n_.width()}) * amplitude);
  });
}

double GaussianField::pointwise_variance_mean() const { return amplitude_.square().sum().item<double>(); }

}  // namespace piddm
