#include "piddm/numerics/random_fields/periodic_field.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "piddm/core/error.h"
#include "piddm/numerics/map_samples.h"

namespace piddm {
namespace {

void check(const GridSize& n, const PeriodicLaw& law) {
  require<UsageError>(n.smaller() >= 3 && law.scale > 0 && law.tau > 0 && law.gamma > 0,
                      "[periodic field] n = {}, scale = {}, tau = {}, gamma = {}: all must be positive, n at least 3",
                      n.text(), law.scale, law.tau, law.gamma);
}

/// s_k for |k|^2 = k2, in waves per length.
double deviation(const PeriodicLaw& law, double k2) {
  const double lambda = 4 * std::numbers::pi * std::numbers::pi * k2 + law.tau * law.tau;
  return law.scale * std::pow(lambda, -law.gamma / 2);
}

/// Place of the mode (k,l), l >= 0, among the pairs {+-(k,l)}, listed by shells m = max(|k|,l): the shell m holds the
/// places 2m(m-1) .. 2m(m+1)-1, first (m,0), then (m,l), (-m,l) for l = 1..m-1, then (k,m) for k = -m..m.
int64_t pair_place(int64_t k, int64_t l) {
  const int64_t m = std::max(std::abs(k), l), first = 2 * m * (m - 1);
  if (l == m) return first + 2 * m - 1 + k + m;
  return l == 0 ? first : first + 2 * l - 1 + (k < 0);
}

}  // namespace

PeriodicLine::PeriodicLine(int64_t n, const PeriodicLaw& law, double length) : n_(n) {
  check(n, law);
  amplitude_ = torch::zeros({n / 2 + 1, 2}, torch::kFloat64);
  auto amplitude = amplitude_.accessor<double, 2>();
  for (int64_t k = 1; k <= n / 2; ++k) {
    const bool last = 2 * k == n;  // the grid sees sqrt(2) s xi cos; irfft counts this mode once, the others twice
    const double k2 = static_cast<double>(k * k) / (length * length);
    amplitude[k][0] = deviation(law, k2) / std::sqrt(length) * std::numbers::sqrt2 / (last ? 1 : 2);
    amplitude[k][1] = last ? 0 : -amplitude[k][0];
  }
}

Tensor PeriodicLine::sample(uint64_t seed, int64_t first, int64_t count) const {
  const Tensor normals = normal(seed, Stream::coefficients, first, count, {n_ / 2, 2}, torch::kFloat64);
  return map_samples(normals, count, [this](const Tensor& xi) {
    const Tensor modes = torch::view_as_complex(torch::constant_pad_nd(xi, {0, 0, 1, 0}) * amplitude_);
    return torch::fft::irfft(modes, n_, -1, "forward");
  });
}

double PeriodicLine::pointwise_variance_mean() const {
  const Tensor squares = amplitude_.square().sum(1) * 2;
  const double last = n_ % 2 == 0 ? squares[n_ / 2].item<double>() / 2 : 0;  // a cosine that is +-1 on the grid
  return squares.sum().item<double>() - last;
}

PeriodicPlane::PeriodicPlane(const Box& box, const PeriodicLaw& law, int64_t offset) : n_(box.points), offset_(offset) {
  check(n_, law);
  const int64_t n = n_.height(), last = (n - 1) / 2, half = n_.width() / 2 + 1, last_column = (n_.width() - 1) / 2;
  const double h2 = box.lengths[0] * box.lengths[0], w2 = box.lengths[1] * box.lengths[1];
  amplitude_ = torch::zeros({n, half, 2}, torch::kFloat64);
  place_ = torch::zeros({n, half, 2}, torch::kInt64);
  auto amplitude = amplitude_.accessor<double, 3>();
  auto place = place_.accessor<int64_t, 3>();
  for (int64_t k = -last; k <= last; ++k)
    for (int64_t l = 0; l <= last_column; ++l) {
      if (k == 0 && l == 0) continue;
      const int64_t row = (k + n) % n;
      const bool mirrored = l == 0 && k < 0;  // the complex conjugate of its partner (-k,0)
      const double k2 = static_cast<double>(k * k) / h2 + static_cast<double>(l * l) / w2;
      amplitude[row][l][0] = deviation(law, k2) / std::sqrt(box.area()) / std::numbers::sqrt2;
      amplitude[row][l][1] = mirrored ? amplitude[row][l][0] : -amplitude[row][l][0];
      place[row][l][0] = offset + 2 * pair_place(mirrored ? -k : k, l);
      place[row][l][1] = place[row][l][0] + 1;
    }
  amplitude_ = amplitude_.flatten();
  place_ = place_.flatten();
}

Tensor PeriodicPlane::sample(uint64_t seed, int64_t first, int64_t count) const {
  const int64_t h = n_.height(), w = n_.width(), last = (std::max(h, w) - 1) / 2,
                size = offset_ + 4 * last * (last + 1);
  const Tensor normals = normal(seed, Stream::coefficients, first, count, {size}, torch::kFloat64);
  return map_samples(normals, count, [&](const Tensor& xi) {
    const Tensor values = xi.index_select(1, place_) * amplitude_;
    const std::vector<int64_t> shape = {h, w};
    return torch::fft::irfft2(torch::view_as_complex(values.view({1, h, w / 2 + 1, 2})), shape, {-2, -1}, "forward");
  });
}

double PeriodicPlane::pointwise_variance_mean() const {
  const Tensor squares = amplitude_.view({n_.height(), n_.width() / 2 + 1, 2}).square().sum(2).sum(0);
  return 2 * squares.sum().item<double>() - squares[0].item<double>();  // l = 0 holds both members of its pairs
}

}  // namespace piddm
