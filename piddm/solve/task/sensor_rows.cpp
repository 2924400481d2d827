#include "piddm/solve/task/sensor_rows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace piddm {

namespace {

constexpr double kOnGrid = 0.01;                // of a cell
constexpr double kOnWall = 1e-9;                // of the length of an axis
constexpr double kGauss = 0.28867513459481287;  // half the distance of the two points of Gauss' rule on (0,1)

using Weights = std::map<int64_t, double>;

/// One axis of a channel's field.
struct Line {
  GridAxis axis;
  int64_t points;
  bool zero_wall;  ///< the field is 0 half a cell outside the grid
  bool stepwise;   ///< constant around each entry

  double spacing() const { return axis.spacing(points); }
  double first() const { return axis.kind == AxisKind::cells ? 0.5 * spacing() : 0; }

  Weights at(double coordinate) const {
    if (stepwise) return {{*axis.nearest(coordinate, points), 1.0}};
    const double place = (coordinate - first()) / spacing();
    const bool periodic = axis.kind == AxisKind::periodic;
    if (zero_wall && place < 0) return {{0, 1 + 2 * place}};
    if (zero_wall && place > static_cast<double>(points - 1))
      return {{points - 1, 1 - 2 * (place - static_cast<double>(points - 1))}};
    const auto last = periodic ? points - 1 : points - 2;
    const auto left = std::clamp<int64_t>(static_cast<int64_t>(std::floor(place)), 0, last);
    const double share = place - static_cast<double>(left);
    return {{left, 1 - share}, {(left + 1) % points, share}};
  }

  /// Where the field has kinks or steps along the axis.
  std::vector<double> breaks() const {
    std::vector<double> out;
    for (int64_t i = -1; i <= 2 * points; ++i) out.push_back(first() + 0.5 * static_cast<double>(i) * spacing());
    return out;
  }

  /// The mean over [from, to].
  Weights mean(double from, double to) const {
    std::vector<double> cuts = {from, to};
    for (const double x : breaks())
      if (x > from && x < to) cuts.push_back(x);
    std::sort(cuts.begin(), cuts.end());
    Weights out;
    for (size_t k = 0; k + 1 < cuts.size(); ++k)
      for (const auto& [entry, weight] : at(0.5 * (cuts[k] + cuts[k + 1])))
        out[entry] += weight * (cuts[k + 1] - cuts[k]) / (to - from);
    return out;
  }

  /// The derivative along the outward normal at the wall where the axis begins, or ends.
  Weights outward(bool at_end) const {
    const double h = spacing();
    Weights inward = axis.kind != AxisKind::cells ? Weights{{0, -1.5}, {1, 2}, {2, -0.5}}
                     : zero_wall                  ? Weights{{0, 3}, {1, -1.0 / 3}}
                                                  : Weights{{0, -2}, {1, 3}, {2, -1}};
    Weights out;
    for (const auto& [entry, weight] : inward) out[at_end ? points - 1 - entry : entry] = -weight / h;
    return out;
  }
};

struct Lines {
  Line h, w;
};

Lines lines_of(const Pde& pde, const Channel& channel) {
  const auto axes = pde.axes();
  const bool zero = channel.zero_on == ZeroOn::wall, stepwise = channel.two_valued.has_value();
  const auto line = [&](const GridAxis& axis, int64_t points) {
    return Line{axis, points, zero && axis.kind == AxisKind::cells, stepwise};
  };
  return {line(axes[0], pde.grid().height()), line(axes[1], pde.grid().width())};
}

void add_product(Weights& out, const Weights& h, const Weights& w, int64_t width, double factor) {
  for (const auto& [i, by_h] : h)
    for (const auto& [j, by_w] : w) out[i * width + j] += factor * by_h * by_w;
}

SensorRow row_of(const Weights& weights, double gain = 1) {
  SensorRow row{.weights = {}, .gain = gain};
  for (const auto& [entry, weight] : weights)
    if (weight != 0) row.weights.push_back({entry, weight});
  return row;
}

/// Parameters in [0,1] at which a segment's coordinate meets the breaks of an axis.
void add_cuts(std::vector<double>& cuts, const Line& line, double from, double to) {
  for (const double x : line.breaks())
    if (const double t = (x - from) / (to - from); t > 0 && t < 1) cuts.push_back(t);
}

/// The coordinate of the wall that both places are at: 0 or the length; nothing where they are at none.
std::optional<bool> common_wall(const Line& line, double from, double to) {
  if (line.axis.kind != AxisKind::cells && line.axis.kind != AxisKind::nodes) return {};
  const double slack = kOnWall * line.axis.length;
  const auto both = [&](double wall) { return std::abs(from - wall) <= slack && std::abs(to - wall) <= slack; };
  if (both(0)) return false;
  if (both(line.axis.length)) return true;
  return {};
}

}  // namespace

std::optional<int64_t> entry_at(const Pde& pde, const Place& place) {
  const auto axes = pde.axes();
  const auto along = [](const GridAxis& axis, double coordinate, int64_t points) -> std::optional<int64_t> {
    const double first = axis.kind == AxisKind::cells ? 0.5 : 0;
    const double at = coordinate / axis.spacing(points) - first, nearest = std::round(at);
    if (std::abs(at - nearest) > kOnGrid) return {};
    const auto i = static_cast<int64_t>(nearest);
    if (axis.kind == AxisKind::periodic) return i % points;
    return i >= 0 && i < points ? std::optional(i) : std::nullopt;
  };
  const auto i = along(axes[0], place.h, pde.grid().height()), j = along(axes[1], place.w, pde.grid().width());
  return i && j ? std::optional(*i * pde.grid().width() + *j) : std::nullopt;
}

SensorRow point_row(const Pde& pde, const Channel& channel, const Place& place) {
  const auto [h, w] = lines_of(pde, channel);
  Weights weights;
  add_product(weights, h.at(place.h), w.at(place.w), pde.grid().width(), 1);
  return row_of(weights);
}

SensorRow line_row(const Pde& pde, const Channel& channel, const Place& from, const Place& to) {
  const auto [h, w] = lines_of(pde, channel);
  std::vector<double> cuts = {0, 1};
  if (to.h != from.h) add_cuts(cuts, h, from.h, to.h);
  if (to.w != from.w) add_cuts(cuts, w, from.w, to.w);
  std::sort(cuts.begin(), cuts.end());
  Weights weights;
  for (size_t k = 0; k + 1 < cuts.size(); ++k)  // a quadratic on each piece: two points are exact
    for (const double gauss : {-kGauss, kGauss}) {
      const double piece = cuts[k + 1] - cuts[k], t = 0.5 * (cuts[k] + cuts[k + 1]) + gauss * piece;
      add_product(weights, h.at(from.h + t * (to.h - from.h)), w.at(from.w + t * (to.w - from.w)), pde.grid().width(),
                  0.5 * piece);
    }
  return row_of(weights);
}

SensorRow box_row(const Pde& pde, const Channel& channel, const Place& from, const Place& to) {
  const auto [h, w] = lines_of(pde, channel);
  const auto [low_h, high_h] = std::minmax(from.h, to.h);
  const auto [low_w, high_w] = std::minmax(from.w, to.w);
  require<DataError>(high_h > low_h && high_w > low_w, "the box from ({}, {}) to ({}, {}) has no area", from.h, from.w,
                     to.h, to.w);
  Weights weights;
  add_product(weights, h.mean(low_h, high_h), w.mean(low_w, high_w), pde.grid().width(), 1);
  return row_of(weights);
}

SensorRow flux_row(const Pde& pde, const Channel& channel, const Place& from, const Place& to) {
  require<DataError>(channel.role == Role::solution, "a flux is that of a solution channel, {} is a coefficient",
                     channel.name);
  const auto [h, w] = lines_of(pde, channel);
  const auto wall_h = common_wall(h, from.h, to.h), wall_w = common_wall(w, from.w, to.w);
  const auto [low, high] = wall_h ? std::minmax(from.w, to.w) : std::minmax(from.h, to.h);
  require<DataError>((wall_h || wall_w) && high > low,
                     "a flux needs a part of a wall of {}; ({}, {}) to ({}, {}) is none", pde.name(), from.h, from.w,
                     to.h, to.w);
  const double length = high - low, depth = wall_h ? h.axis.length : w.axis.length;
  Weights weights;
  if (wall_h)
    add_product(weights, h.outward(*wall_h), w.mean(low, high), pde.grid().width(), length);
  else
    add_product(weights, h.mean(low, high), w.outward(*wall_w), pde.grid().width(), length);
  return row_of(weights, std::numbers::pi * length / depth);
}

}  // namespace piddm
