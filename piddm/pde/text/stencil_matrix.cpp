#include "piddm/pde/text/stencil_matrix.h"

#include <algorithm>

namespace piddm {
namespace {

/// Period of the colours along an axis: no two columns within reach of one row share a colour.
int64_t period_of(int64_t points, int64_t reach, bool periodic) {
  const int64_t least = 2 * reach + 1;
  if (least >= points) return points;
  if (!periodic) return least;
  int64_t period = least;
  while (points % period != 0) ++period;
  return period;
}

/// Of each point of an axis the column of `colour` it sees, or -1.
std::vector<int64_t> seen_columns(int64_t points, int64_t reach, bool periodic, int64_t period, int64_t colour) {
  std::vector<int64_t> columns(static_cast<size_t>(points), -1);
  for (int64_t i = 0; i < points; ++i)
    for (int64_t j = colour; j < points; j += period) {
      const int64_t distance = std::abs(i - j), around = periodic ? std::min(distance, points - distance) : distance;
      if (around <= reach) columns[static_cast<size_t>(i)] = j;
    }
  return columns;
}

}  // namespace

StencilPattern::StencilPattern(int64_t fields, std::array<int64_t, 2> points, std::array<int64_t, 2> reach,
                               std::array<bool, 2> periodic)
    : fields_(fields), points_(points), periodic_(periodic) {
  std::array<int64_t, 2> period;
  for (size_t a = 0; a < 2; ++a) period[a] = period_of(points[a], reach[a], periodic[a]);
  const int64_t count = fields * period[0] * period[1];
  seeds_ = torch::zeros({count, fields, points[0], points[1]}, torch::kFloat64);
  columns_ = torch::zeros({count, points[0], points[1]}, torch::kLong);
  seen_ = torch::zeros({count, points[0], points[1]}, torch::kBool);
  auto seeds = seeds_.accessor<double, 4>();
  auto columns = columns_.accessor<int64_t, 3>();
  auto seen = seen_.accessor<bool, 3>();
  int64_t p = 0;
  for (int64_t f = 0; f < fields; ++f)
    for (int64_t cx = 0; cx < period[0]; ++cx)
      for (int64_t cy = 0; cy < period[1]; ++cy, ++p) {
        field_of_colour_.push_back(f);
        const auto along_x = seen_columns(points[0], reach[0], periodic[0], period[0], cx);
        const auto along_y = seen_columns(points[1], reach[1], periodic[1], period[1], cy);
        for (int64_t i = 0; i < points[0]; ++i)
          for (int64_t j = 0; j < points[1]; ++j) {
            seeds[p][f][i][j] = i % period[0] == cx && j % period[1] == cy ? 1 : 0;
            const int64_t x = along_x[static_cast<size_t>(i)], y = along_y[static_cast<size_t>(j)];
            seen[p][i][j] = x >= 0 && y >= 0;
            if (seen[p][i][j]) columns[p][i][j] = (f * points[0] + x) * points[1] + y;
          }
      }
}

Tensor StencilPattern::related(int64_t shift_x, int64_t shift_y) const {
  const Tensor mask = torch::zeros({colours(), fields_, points_[0], points_[1]}, torch::kFloat64);
  auto out = mask.accessor<double, 4>();
  const auto columns = columns_.accessor<int64_t, 3>();
  const auto seen = seen_.accessor<bool, 3>();
  const auto moved = [&](int64_t i, int64_t shift, size_t axis) {
    const int64_t n = points_[axis];
    return periodic_[axis] ? (i + shift + n) % n : i + shift;
  };
  for (int64_t p = 0; p < colours(); ++p) {
    const int64_t f = field_of_colour_[static_cast<size_t>(p)];
    for (int64_t i = 0; i < points_[0]; ++i)
      for (int64_t j = 0; j < points_[1]; ++j) {
        const int64_t x = moved(i, shift_x, 0), y = moved(j, shift_y, 1);
        const bool inside = x >= 0 && x < points_[0] && y >= 0 && y < points_[1];
        if (inside && seen[p][i][j] && columns[p][i][j] == (f * points_[0] + x) * points_[1] + y) out[p][f][i][j] = 1;
      }
  }
  return mask;
}

Tensor StencilPattern::neighbours(size_t axis) const {
  return axis == 0 ? related(-1, 0) + related(1, 0) : related(0, -1) + related(0, 1);
}

Tensor StencilPattern::same_field() const {
  const Tensor mask = torch::zeros({colours(), fields_, points_[0], points_[1]}, torch::kFloat64);
  for (int64_t p = 0; p < colours(); ++p)
    mask.select(0, p).select(0, field_of_colour_[static_cast<size_t>(p)]).copy_(seen_.select(0, p));
  return mask;
}

Tensor stencil_product(const StencilPattern& pattern, const Tensor& entries, const Tensor& v) {
  const auto& [x, y] = pattern.points();
  const Tensor index = pattern.columns().to(v.device()).flatten();
  const Tensor gathered = v.flatten(1).index_select(1, index).view({v.size(0), pattern.colours(), 1, x, y});
  return (entries * gathered).sum(1);
}

Tensor stencil_transposed(const StencilPattern& pattern, const Tensor& entries, const Tensor& w) {
  const Tensor index = pattern.columns().to(w.device()).flatten();
  const Tensor spread = (entries * w.unsqueeze(1)).sum(2).flatten(1);
  return torch::zeros({w.size(0), pattern.unknowns()}, w.options()).index_add(1, index, spread).view_as(w);
}

}  // namespace piddm
