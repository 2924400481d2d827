#include "piddm/pde/text/text_bands.h"

#include <algorithm>

namespace piddm {

namespace {

using Kind = AxisText::Kind;

/// The row of the first entries, or of the last ones counted from the end.
BandRow end_row(int64_t columns, bool high, const std::vector<double>& weights, double constant = 0) {
  BandRow row{.constant = constant};
  for (size_t k = 0; k < weights.size(); ++k) {
    const auto column = static_cast<int64_t>(k);
    row.entries.emplace_back(high ? columns - 1 - column : column, weights[k]);
  }
  return row;
}

BandRow negative(BandRow row) {
  for (auto& [unused, weight] : row.entries) weight = -weight;
  row.constant = -row.constant;
  return row;
}

std::optional<double> number_in(const ExpressionPtr& e) {
  return e->kind == ExpressionKind::number ? std::optional(e->value) : std::nullopt;
}

/// Value and outward slope of a field on a wall, by its points.
struct WallRows {
  std::optional<BandRow> value = {}, slope = {};
};

/// Of nodes the one-sided difference; of cells the extrapolated one.
BandRow one_sided_slope(const SpaceAxis& axis, bool high) {
  const double s = 1 / axis.spacing;
  return axis.kind == Kind::nodes ? end_row(axis.points, high, {1.5 * s, -2 * s, 0.5 * s})
                                  : end_row(axis.points, high, {2 * s, -3 * s, s});
}

WallRows of_coefficient(const TextGrid& grid, size_t a, bool high) {
  const auto& axis = grid.axes()[a];
  WallRows rows{.slope = one_sided_slope(axis, high)};
  if (axis.kind == Kind::nodes || grid.all_given(a, high)) rows.value = end_row(axis.points, high, {1});
  return rows;
}

WallRows of_solution(const TextGrid& grid, const std::string& name, size_t a, bool high) {
  const auto& axis = grid.axes()[a];
  const auto& wall = grid.wall(name, a, high);
  const bool nodes = axis.kind == Kind::nodes;
  WallRows rows;
  if (nodes) rows.value = end_row(axis.points, high, {1});
  if (grid.is_ring(name, a, high)) {
    rows.slope = one_sided_slope(axis, high);
    return rows;
  }
  const auto value = number_in(wall.value), slope = number_in(wall.slope), given = number_in(wall.given);
  if (!value || !slope || !given) return rows;
  const double half = nodes ? 0 : 0.5 * axis.spacing, below = *slope + *value * half;
  if (below == 0) return rows;
  rows.slope = end_row(axis.points, high, {-*value / below}, *given / below);
  if (!nodes) rows.value = end_row(axis.points, high, {1 - half * *value / below}, half * *given / below);
  return rows;
}

AxisBands bands_of(const SpaceAxis& axis) {
  const int64_t n = axis.points;
  const double s = 1 / axis.spacing;
  if (axis.kind == Kind::periodic)
    return {.mean = Band::shifting(n, n, 0, {0.5, 0.5}, true),
            .difference = Band::shifting(n, n, 0, {-s, s}, true),
            .divergence = Band::shifting(n, n, -1, {-s, s}, true)};
  const bool nodes = axis.kind == Kind::nodes;
  return {.mean = Band::shifting(n, n - 1, 0, {0.5, 0.5}),
          .difference = Band::shifting(n, n - 1, 0, {-s, s}),
          .divergence = nodes ? Band::shifting(n - 1, n - 2, 0, {-s, s}) : Band::shifting(n + 1, n, 0, {-s, s})};
}

/// At nodes half a cell at the ends: (f_{1/2} - f_wall)/(h/2), f_wall = -slope at the low end.
Band second_at_nodes(const SpaceAxis& axis, const AxisBands& own, const BandRow& low, const BandRow& high) {
  const double s = 1 / axis.spacing;
  const auto half_cell = [&](const BandRow& slope, bool at_high) {
    BandRow row{.constant = 2 * s * slope.constant};
    for (const auto& [column, weight] : slope.entries) row.entries.emplace_back(column, 2 * s * weight);
    const int64_t end = at_high ? axis.points - 1 : 0, next = at_high ? end - 1 : 1;
    row.entries.emplace_back(end, -2 * s * s);
    row.entries.emplace_back(next, 2 * s * s);
    return row;
  };
  return own.divergence.after(own.difference).between(half_cell(low, false), half_cell(high, true));
}

FieldBands bands_with(const SpaceAxis& axis, const AxisBands& own, const WallRows& low, const WallRows& high) {
  FieldBands bands;
  const bool nodes = axis.kind == Kind::nodes, values = low.value && high.value, slopes = low.slope && high.slope;
  if (nodes) {
    bands.on_faces = own.mean;
    bands.slope_on_faces = own.difference;
    if (slopes) {
      bands.first = own.divergence.after(own.mean).between(negative(*low.slope), *high.slope);
      bands.second = second_at_nodes(axis, own, *low.slope, *high.slope);
    }
    return bands;
  }
  if (values) {
    bands.on_faces = own.mean.between(*low.value, *high.value);
    bands.first = own.divergence.after(*bands.on_faces);
  }
  if (slopes) {
    bands.slope_on_faces = own.difference.between(negative(*low.slope), *high.slope);
    bands.second = own.divergence.after(*bands.slope_on_faces);
  }
  return bands;
}

}  // namespace

TextBands::TextBands(const TextGrid& grid) {
  const auto& text = grid.text();
  for (size_t a = 0; a < 2; ++a) {
    const auto& axis = grid.axes()[a];
    if (!axis.present) continue;
    const auto& own = axes_[a].emplace(bands_of(axis));
    const auto add = [&](const std::string& name, const WallRows& low, const WallRows& high) {
      fields_[{name, a}] = axis.walls() ? bands_with(axis, own, low, high)
                                        : FieldBands{.on_faces = own.mean,
                                                     .slope_on_faces = own.difference,
                                                     .first = own.divergence.after(own.mean),
                                                     .second = own.divergence.after(own.difference)};
    };
    for (const auto& field : text.solutions) {
      if (axis.walls())
        add(field.name, of_solution(grid, field.name, a, false), of_solution(grid, field.name, a, true));
      else
        add(field.name, {}, {});
    }
    for (const auto& coefficient : text.coefficients) {
      if (axis.walls())
        add(coefficient.field.name, of_coefficient(grid, a, false), of_coefficient(grid, a, true));
      else
        add(coefficient.field.name, {}, {});
    }
  }
  add_time(text);
}

void TextBands::add_time(const PdeText& text) {
  const auto* time = text.axis(Coordinate::t);
  if (!time || time->points < 3) return;
  int order = 0;
  for (const auto& equation : text.equations)
    order = std::max(order, derivative_depth(*equation.residual(), Coordinate::t));
  const double s = static_cast<double>(time->points - 1) / time->length;
  if (order == 1) {
    const int64_t n = time->points;
    std::vector<BandRow> first = {end_row(n, false, {-s, s})};
    for (int64_t r = 2; r < n; ++r) first.push_back({.entries = {{r - 2, 0.5 * s}, {r - 1, -2 * s}, {r, 1.5 * s}}});
    time_ = {.first = Band(n, std::move(first)), .second = {}, .rows = Band::shifting(n, n - 1, 1, {1})};
  } else if (order == 2) {
    const int64_t n = time->points + 1;  // with the level before the initial state
    time_ = {.first = Band::shifting(n, n - 2, 0, {-0.5 * s, 0, 0.5 * s}),
             .second = Band::shifting(n, n - 2, 0, {s * s, -2 * s * s, s * s}),
             .rows = Band::shifting(n, n - 2, 0, {0.25, 0.5, 0.25})};
  }
}

}  // namespace piddm
