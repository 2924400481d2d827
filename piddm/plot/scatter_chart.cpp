#include <algorithm>
#include <limits>

#include "piddm/plot/chart.h"

namespace piddm {

namespace {

constexpr double kDot = 8, kLabelGap = 6;  // beside a label, to the next one
constexpr TextStyle kLabelText{.size = 9.5, .anchor = Anchor::middle};

Chart chart_of(const ScatterChart& scatter) {
  const ChartAxis any_x{.log = scatter.log_x}, any_y{.log = scatter.log_y};
  Chart chart{.title = scatter.title, .x_label = scatter.x_label, .y_label = scatter.y_label};
  chart.swatch = Swatch::marker;
  std::vector<double> x_values, y_values;
  for (const ScatterSeries& one : scatter.series) {
    chart.legend.push_back(one.name);
    chart.marks += one.points.size();
    for (const ScatterPoint& point : one.points) {
      if (!any_x.shows(point.x) || !any_y.shows(point.y)) {
        ++chart.hidden;
        continue;
      }
      append_with_error(x_values, point.x, point.x_error, scatter.log_x);
      append_with_error(y_values, point.y, point.y_error, scatter.log_y);
    }
  }
  chart.x = make_axis(x_values, scatter.log_x, 0.08);
  chart.y = make_axis(y_values, scatter.log_y, 0.08);
  return chart;
}

template <class F>
void for_each_shown(const Chart& chart, const std::vector<ScatterSeries>& series, F&& visit) {
  for (size_t s = 0; s < series.size(); ++s)
    for (const ScatterPoint& point : series[s].points)
      if (chart.shows(point.x, point.y)) visit(point, series_style(s));
}

void draw_frontier(Painter& painter, const Chart& chart, const std::vector<ScatterSeries>& series) {
  std::vector<std::pair<double, double>> all;
  for_each_shown(chart, series, [&](const ScatterPoint& point, const auto&) { all.emplace_back(point.x, point.y); });
  std::sort(all.begin(), all.end());
  std::vector<Point> best;
  double lowest = std::numeric_limits<double>::infinity();
  for (const auto& [x, y] : all) {
    if (y >= lowest) continue;
    lowest = y;
    best.push_back(chart.at(x, y));
  }
  if (best.size() > 1) painter.polyline(best, {kFrame, 1.2, {4, 3}});
}

/// Where a label of this width may stand around a point: right, left, above, below, and at the four corners; if need be
/// farther away.
std::vector<Rect> label_places(Point point, double width) {
  const double height = line_height(kLabelText);
  std::vector<Rect> places;
  for (const double d : {5.0, 16.0, 28.0}) {
    const double right = point.x + d, left = point.x - d - width, centre = point.x - width / 2;
    const double above = point.y - d - height, below = point.y + d, middle = point.y - height / 2;
    for (const auto& [px, py] :
         {std::pair(right, middle), std::pair(left, middle), std::pair(centre, above), std::pair(centre, below),
          std::pair(right - 3, above + 3), std::pair(right - 3, below - 3), std::pair(left + 3, above + 3),
          std::pair(left + 3, below - 3)})
      places.push_back({px, py, width, height});
  }
  return places;
}

/// Draws the points and returns what they and their error bars cover.
std::vector<Rect> draw_points(Painter& painter, const Chart& chart, const std::vector<ScatterSeries>& series) {
  std::vector<Rect> covered;
  for_each_shown(chart, series, [&](const ScatterPoint& point, const SeriesStyle& style) {
    covered.push_back(draw_error_x(painter, chart, point.x, point.y, point.x_error, style.color));
    covered.push_back(draw_error_y(painter, chart, point.x, point.y, point.y_error, style.color));
    const Point p = chart.at(point.x, point.y);
    painter.marker(p, style.color, {style.shape, kDot});
    covered.push_back({p.x - kDot / 2, p.y - kDot / 2, kDot, kDot});
  });
  return covered;
}

void draw_labels(Painter& painter, const Chart& chart, const std::vector<ScatterSeries>& series,
                 std::vector<Rect> taken) {
  for_each_shown(chart, series, [&](const ScatterPoint& point, const auto&) {
    if (point.label.empty()) return;
    const auto places = label_places(chart.at(point.x, point.y), text_width(point.label, kLabelText) + kLabelGap);
    const auto free = std::find_if(places.begin(), places.end(), [&](const Rect& place) {
      return chart.frame.contains(place) &&
             std::none_of(taken.begin(), taken.end(), [&](const Rect& other) { return place.overlaps(other); });
    });
    const Rect place = free == places.end() ? places.front() : *free;
    taken.push_back(place);
    painter.text({place.middle(), place.centre()}, point.label, kLabelText);
  });
}

}  // namespace

Margins margins_of(const ScatterChart& scatter, const Placement& place) {
  return margins_of(chart_of(scatter), place.frame);
}

void draw_panel(Painter& painter, const ScatterChart& scatter, const Placement& place) {
  auto chart = chart_of(scatter);
  chart.frame = place.at;
  draw_frame(painter, chart);
  if (scatter.frontier) draw_frontier(painter, chart, scatter.series);
  draw_labels(painter, chart, scatter.series, draw_points(painter, chart, scatter.series));
}

}  // namespace piddm
