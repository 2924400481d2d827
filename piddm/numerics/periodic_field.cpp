#include "piddm/numerics/periodic_field.h"

#include <cmath>
#include <cstdlib>
#include <numbers>

#include "piddm/core/error.h"
#include "piddm/numerics/map_samples.h"

namespace piddm {
namespace {

void check(int64_t n, const PeriodicLaw& law) {
  require<UsageError>(n >= 3 && law.scale > 0 && law.tau > 0 && law.gamma > 0,
                      "[periodic field] n = {}, scale = {}, tau = {}, gamma = {}: all must be positive, n at least 3",
                      n, law.scale, law.tau, law.gamma);
}

/// s_k for |k|^2 = k2.
double deviation(const PeriodicLaw& law, int64_t k2) {
  const double lambda = 4 * std::numbers::pi * std::numbers::pi * static_cast<double>(k2) + law.tau * law.tau;
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

PeriodicLine::PeriodicLine(int64_t n, const PeriodicLaw& law) : n_(n) {
  check(n, law);
  amplitude_ = torch::zeros({n / 2 + 1, 2}, torch::kFloat64);
  auto amplitude = amplitude_.accessor<double, 2>();
  for (int64_t k = 1; k <= n / 2; ++k) {
    const bool last = 2 * k == n;  // the grid sees sqrt(2) s xi cos; irfft counts this mode once, the others twice
    amplitude[k][0] = deviation(law, k * k) * std::numbers::sqrt2 / (last ? 1 : 2);
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

PeriodicSquare::PeriodicSquare(int64_t n, const PeriodicLaw& law, int64_t offset) : n_(n), offset_(offset) {
  check(n, law);
  const int64_t last = (n - 1) / 2, half = n / 2 + 1;
  amplitude_ = torch::zeros({n, half, 2}, torch::kFloat64);
  place_ = torch::zeros({n, half, 2}, torch::kInt64);
  auto amplitude = amplitude_.accessor<double, 3>();
  auto place = place_.accessor<int64_t, 3>();
  for (int64_t k = -last; k <= last; ++k)
    for (int64_t l = 0; l <= last; ++l) {
      if (k == 0 && l == 0) continue;
      const int64_t row = (k + n) % n;
      const bool mirrored = l == 0 && k < 0;  // the complex conjugate of its partner (-k,0)
      amplitude[row][l][0] = deviation(law, k * k + l * l) / std::numbers::sqrt2;
      amplitude[row][l][1] = mirrored ? amplitude[row][l][0] : -amplitude[row][l][0];
      place[row][l][0] = offset + 2 * pair_place(mirrored ? -k : k, l);
      place[row][l][1] = place[row][l][0] + 1;
    }
  amplitude_ = amplitude_.flatten();
  place_ = place_.flatten();
}

Tensor PeriodicSquare::sample(uint64_t seed, int64_t first, int64_t count) const {
  const int64_t last = (n_ - 1) / 2, size = offset_ + 4 * last * (last + 1);
  const Tensor normals = normal(seed, Stream::coefficients, first, count, {size}, torch::kFloat64);
  return map_samples(normals, count, [this](const Tensor& xi) {
    const Tensor values = xi.index_select(1, place_) * amplitude_;
    const std::vector<int64_t> shape = {n_, n_};
    return torch::fft::irfft2(torch::view_as_complex(values.view({1, n_, n_ / 2 + 1, 2})), shape, {-2, -1}, "forward");
  });
}

double PeriodicSquare::pointwise_variance_mean() const {
  const Tensor squares = amplitude_.view({n_, n_ / 2 + 1, 2}).square().sum(2).sum(0);
  return 2 * squares.sum().item<double>() - squares[0].item<double>();  // l = 0 holds both members of its pairs
}

}  // namespace piddm
