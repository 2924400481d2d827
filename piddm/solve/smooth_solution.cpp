#include "piddm/solve/smooth_solution.h"

#include <cmath>

#include "piddm/core/stopwatch.h"
#include "piddm/numerics/fast_poisson.h"
#include "piddm/numerics/sine_transform.h"

namespace piddm {

namespace {

/// F over modes with these eigenvalues.
Tensor factors(const Tensor& lambda, const SolutionFilter& filter) {
  const double lambda_c = std::pow(M_PI * filter.modes, 2);
  if (filter.form == FilterForm::smooth) return 1 / (1 + lambda / lambda_c);
  return (lambda <= lambda_c).to(lambda.scalar_type());
}

/// Eigenvalues of an axis without walls, float64 [n]: Fourier modes in the order of an FFT, or cosine modes.
Tensor axis_eigenvalues(int64_t n, bool periodic) {
  const auto k = torch::arange(n, torch::kFloat64);
  const auto half_waves = periodic ? 2 * k : k;
  return 4.0 * static_cast<double>(n * n) * (half_waves * (M_PI / (2.0 * static_cast<double>(n)))).sin().square();
}

Tensor filtered_without_walls(const Tensor& u, const GridAxes& axes, const SolutionFilter& filter) {
  const int64_t h = u.size(-2), w = u.size(-1);
  const bool periodic_h = axes[0].kind == AxisKind::periodic, periodic_w = axes[1].kind == AxisKind::periodic;
  const auto cosine_h = cosine_matrix(h, torch::kFloat64, u.device()),
             cosine_w = cosine_matrix(w, torch::kFloat64, u.device());
  auto modes = u;
  if (!periodic_h) modes = cosine_h.matmul(modes);
  if (!periodic_w) modes = modes.matmul(cosine_w.t());
  if (periodic_h) modes = torch::fft_fft(modes, {}, -2);
  if (periodic_w) modes = torch::fft_fft(modes, {}, -1);
  const auto lambda = axis_eigenvalues(h, periodic_h).unsqueeze(1) + axis_eigenvalues(w, periodic_w);
  modes = modes * factors(lambda, filter).to(u.device());
  if (periodic_w) modes = torch::fft_ifft(modes, {}, -1);
  if (periodic_h) modes = torch::fft_ifft(modes, {}, -2);
  if (modes.is_complex()) modes = torch::real(modes).contiguous();
  if (!periodic_w) modes = modes.matmul(cosine_w);
  return periodic_h ? modes : cosine_h.t().matmul(modes);
}

Tensor filtered(const Tensor& u, const Channel& channel, const GridAxes& axes, const SolutionFilter& filter) {
  const int64_t h = u.size(-2), w = u.size(-1);
  const auto over = [&](const GridSize& points, Walls walls) {
    return factors(laplace_eigenvalues(points, walls), filter).to(u.device());
  };
  if (channel.zero_on == ZeroOn::nothing) return filtered_without_walls(u, axes, filter);
  if (channel.zero_on == ZeroOn::wall)
    return inverse_sine_transform(sine_transform(u) * over({h, w}, Walls::between_points));
  const auto inner = u.narrow(-2, 1, h - 2).narrow(-1, 1, w - 2).contiguous();
  const auto smoothed = node_sine_transform(node_sine_transform(inner) * over({h - 2, w - 2}, Walls::on_points));
  return torch::constant_pad_nd(smoothed, {1, 1, 1, 1});
}

}  // namespace

Tensor smooth_solution(const Tensor& x, const Pde& pde, const SolutionFilter& filter) {
  pde.check_shape(x);
  auto out = x.to(torch::kFloat64, false, true);
  const auto axes = pde.axes();
  for (int64_t c = 0; c < pde.num_channels(); ++c) {
    const auto& channel = pde.channels()[static_cast<size_t>(c)];
    if (channel.role != Role::solution) continue;
    out.select(1, c).copy_(filtered(out.select(1, c).contiguous(), channel, axes, filter));
  }
  return out;
}

void smooth_samples(Samples& samples, const Pde& pde, const SolutionFilter& filter) {
  const Stopwatch watch;
  samples.x = smooth_solution(samples.x, pde, filter);
  samples.seconds_per_sample += watch.seconds() / static_cast<double>(samples.x.size(0));
}

}  // namespace piddm
