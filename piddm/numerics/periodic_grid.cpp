#include "piddm/numerics/periodic_grid.h"

#include <algorithm>
#include <cmath>

namespace piddm {
namespace {

/// Factors that split a mode n/2 between k and -k: 1, except 1/2 there.
Tensor halved_last(int64_t n, const Tensor& like) {
  Tensor factor = torch::ones({n / 2 + 1}, torch::TensorOptions(like.device()).dtype(torch::kFloat64));
  if (n % 2 == 0) factor[n / 2] = 0.5;
  return factor.to(like.scalar_type());
}

/// Rows 0..n-1 of the full axis (dim -2) spread over m > n rows, the row n/2 of an even n over both +-n/2.
Tensor spread_rows(const Tensor& modes, int64_t m) {
  const int64_t n = modes.size(-2), low = (n + 1) / 2, half = n / 2;
  auto gap = modes.sizes().vec();
  gap[gap.size() - 2] = m - 2 * half - 1;
  const Tensor zeros = torch::zeros(gap, modes.options());
  const Tensor negative = modes.narrow(-2, n - half, half);
  if (n % 2) return torch::cat({modes.narrow(-2, 0, low), zeros, negative}, -2);
  const Tensor middle = modes.narrow(-2, half, 1) * 0.5;
  return torch::cat({modes.narrow(-2, 0, low), middle, zeros, middle, modes.narrow(-2, half + 1, half - 1)}, -2);
}

}  // namespace

int64_t nested_grid(int64_t n, double least) {
  return n * std::max<int64_t>(2, static_cast<int64_t>(std::ceil(least / static_cast<double>(n))));
}

Tensor half_wavenumbers(int64_t m, torch::Device device) {
  return torch::arange(m / 2 + 1, torch::TensorOptions(device).dtype(torch::kFloat64));
}

Tensor full_wavenumbers(int64_t m, torch::Device device) {
  const Tensor k = torch::arange(m, torch::TensorOptions(device).dtype(torch::kFloat64));
  return torch::where(k < static_cast<double>((m + 1) / 2), k, k - static_cast<double>(m));
}

Tensor interpolant_modes(const Tensor& u, int64_t m) {
  const int64_t n = u.size(-1);
  const Tensor modes = torch::fft::rfft(u, {}, -1, "forward");
  return torch::constant_pad_nd(modes * halved_last(n, modes), {0, m / 2 - n / 2});
}

Tensor interpolant_modes_2d(const Tensor& u, const GridSize& m) {
  const int64_t n = u.size(-1);
  const Tensor modes = torch::fft::rfft2(u, {}, {-2, -1}, "forward");
  const Tensor spread = spread_rows(modes * halved_last(n, modes), m.height());
  return torch::constant_pad_nd(spread, {0, m.width() / 2 - n / 2});
}

Tensor values_at(const Tensor& modes, int64_t m, int64_t n) {
  return torch::fft::irfft(modes, m, -1, "forward").slice(-1, 0, m, m / n);
}

Tensor values_at_2d(const Tensor& modes, const GridSize& m, const GridSize& n) {
  const std::vector<int64_t> shape(m.begin(), m.end());
  const Tensor fine = torch::fft::irfft2(modes, shape, {-2, -1}, "forward");
  return fine.slice(-2, 0, m.height(), m.height() / n.height()).slice(-1, 0, m.width(), m.width() / n.width());
}

}  // namespace piddm
