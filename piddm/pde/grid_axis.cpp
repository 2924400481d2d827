#include "piddm/pde/grid_axis.h"

#include <algorithm>
#include <cmath>

namespace piddm {

std::string GridAxis::label() const {
  const auto words = title.empty() ? name : name + ", " + title;
  return unit.empty() ? words : words + " (" + unit + ")";
}

double GridAxis::spacing(int64_t points) const {
  const bool ends_stored = kind == AxisKind::nodes || kind == AxisKind::time;
  return length / static_cast<double>(ends_stored ? std::max<int64_t>(points - 1, 1) : points);
}

Tensor GridAxis::coordinates(int64_t points) const {
  return (torch::arange(points, torch::kFloat64) + (kind == AxisKind::cells ? 0.5 : 0.0)) * spacing(points);
}

std::optional<int64_t> GridAxis::nearest(double coordinate, int64_t points) const {
  if (!(coordinate >= 0 && coordinate <= length)) return {};
  const double h = spacing(points), first = kind == AxisKind::cells ? 0.5 * h : 0;
  const auto i = static_cast<int64_t>(std::floor((coordinate - first) / h + 0.5));
  if (kind == AxisKind::periodic) return i % points;
  return std::clamp<int64_t>(i, 0, points - 1);
}

}  // namespace piddm
