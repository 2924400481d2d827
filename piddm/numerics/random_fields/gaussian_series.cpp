#include "piddm/numerics/random_fields/gaussian_series.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "piddm/core/error.h"
#include "piddm/numerics/map_samples.h"
#include "piddm/numerics/random_fields/gaussian_field.h"
#include "piddm/numerics/sine_transform.h"

namespace piddm {
namespace {

struct Functions {
  Tensor values, wavenumbers;  // [n,K], [K] float64
};

Functions functions_of(const SeriesAxis& axis) {
  if (!axis.coordinates.defined()) return {torch::ones({1, 1}, torch::kFloat64), torch::zeros({1}, torch::kFloat64)};
  const bool fourier = axis.functions == SeriesAxis::Functions::fourier;
  const Tensor j = torch::arange(axis.count, torch::kFloat64);
  const Tensor k = fourier ? torch::floor((j + 1) / 2) : axis.functions == SeriesAxis::Functions::sine ? j + 1 : j;
  const Tensor wavenumbers = k * ((fourier ? 2 : 1) * std::numbers::pi / axis.length);
  const Tensor phase = axis.coordinates.unsqueeze(1) * wavenumbers;
  Tensor values = std::numbers::sqrt2 * torch::cos(phase);
  if (axis.functions == SeriesAxis::Functions::sine)
    values = std::numbers::sqrt2 * torch::sin(phase);
  else if (fourier)
    values = torch::where(torch::remainder(j, 2) == 0, std::numbers::sqrt2 * torch::sin(phase), values);
  return {torch::where(wavenumbers == 0, torch::ones_like(values), values), wavenumbers};
}

}  // namespace

GaussianSeries::GaussianSeries(const std::array<SeriesAxis, 2>& axes, double alpha, double tau, double scale) {
  const auto along_h = functions_of(axes[0]), along_w = functions_of(axes[1]);
  const int64_t k = along_h.wavenumbers.size(0), l = along_w.wavenumbers.size(0);
  left_ = along_h.values.contiguous();
  right_ = along_w.values.t().contiguous();
  const bool line = !axes[1].coordinates.defined();
  const double area = axes[0].length * (line ? 1 : axes[1].length);
  const Tensor squares = along_h.wavenumbers.square().unsqueeze(1) + along_w.wavenumbers.square();
  amplitude_ = (squares + tau * tau).pow(-alpha / 2) * (scale * std::pow(tau, alpha - 1) / std::sqrt(area));
  amplitude_.masked_fill_(squares == 0, 0);
  order_ = line ? torch::arange(k) : shell_order({k, l});
  normals_ = line ? k : std::max(k, l) * std::max(k, l);
}

Tensor GaussianSeries::sample(uint64_t seed, int64_t first, int64_t count) const {
  return map_samples(torch::arange(first, first + count), count, [&](const Tensor& index) {
    const Tensor xi = normal(seed, Stream::coefficients, index.item<int64_t>(), 1, {normals_}, torch::kFloat64);
    const Tensor modes = xi.index_select(1, order_).view({1, 1, amplitude_.size(0), amplitude_.size(1)}) * amplitude_;
    return apply_both_axes(left_, modes, right_);
  });
}

}  // namespace piddm
