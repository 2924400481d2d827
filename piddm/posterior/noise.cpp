#include "piddm/posterior/noise.h"

#include <algorithm>
#include <cmath>

#include "piddm/numerics/sine_transform.h"

namespace piddm {

namespace {

/// c_k cos(pi k x_i) / sqrt(K), [points,K] float32.
Tensor cosine_modes(int64_t points, int64_t modes, torch::Device device) {
  const double scale = std::sqrt(static_cast<double>(points) / static_cast<double>(modes));
  return cosine_matrix(points, torch::kFloat32, device).narrow(0, 0, modes).t() * scale;
}

}  // namespace

Tensor draw_noise(const DrawOptions& o, const GridSize& grid, uint64_t seed, Stream stream, int64_t first,
                  int64_t count, torch::Device device) {
  const int64_t height = grid.height(), width = grid.width();
  const int64_t rows = std::min(o.modes, height), columns = std::min(o.modes, width);
  const int64_t of_modes = o.smooth * rows * columns, of_points = o.white * grid.points();
  const auto z = normal(seed, stream, first, count, {of_modes + of_points}, torch::kFloat32, device);
  const auto modes = z.narrow(1, 0, of_modes).reshape({count, o.smooth, rows, columns});
  const auto white = z.narrow(1, of_modes, of_points).reshape({count, o.white, height, width});
  const auto smooth =
      apply_both_axes(cosine_modes(height, rows, device), modes, cosine_modes(width, columns, device).t());
  return torch::cat({smooth, white}, 1);
}

}  // namespace piddm
