#include "piddm/plot/scatter_chart.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "piddm/plot/chart.h"

namespace piddm {

namespace {

constexpr double kDisc = 8;
constexpr int kDescent = 3;

ChartSetup span_points(const std::vector<ScatterSeries>& series, const ScatterStyle& style) {
  const ChartAxis any_x{.log = style.log_x}, any_y{.log = style.log_y};
  ChartSetup setup;
  std::vector<double> x_values, y_values;
  for (const ScatterSeries& one : series) {
    setup.legend.push_back(one.name);
    setup.marks += one.points.size();
    for (const ScatterPoint& point : one.points) {
      if (!any_x.shows(point.x) || !any_y.shows(point.y)) {
        ++setup.hidden;
        continue;
      }
      append_with_error(x_values, point.x, point.x_error, style.log_x);
      append_with_error(y_values, point.y, point.y_error, style.log_y);
    }
  }
  setup.x = make_axis(x_values, style.log_x, 0.08);
  setup.y = make_axis(y_values, style.log_y, 0.08);
  return setup;
}

template <class F>
void for_each_shown(const Chart& chart, const std::vector<ScatterSeries>& series, F&& visit) {
  for (size_t s = 0; s < series.size(); ++s)
    for (const ScatterPoint& point : series[s].points)
      if (chart.shows(point.x, point.y)) visit(point, curve_color(static_cast<int>(s)));
}

void draw_frontier(Chart& chart, const std::vector<ScatterSeries>& series) {
  std::vector<std::pair<double, double>> all;
  for_each_shown(chart, series, [&](const ScatterPoint& point, Rgb) { all.emplace_back(point.x, point.y); });
  std::sort(all.begin(), all.end());
  std::vector<Point> best;
  double lowest = std::numeric_limits<double>::infinity();
  for (const auto& [x, y] : all) {
    if (y >= lowest) continue;
    lowest = y;
    best.push_back(chart.at(x, y));
  }
  if (best.size() > 1) chart.canvas.polyline(best, kFrame, 1.2);
}

bool overlap(const Rect& a, const Rect& b) {
  return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

bool inside(const Rect& a, const Rect& b) {
  return a.x >= b.x && a.right() <= b.right() && a.y >= b.y && a.bottom() <= b.bottom();
}

/// Where a label of this width may stand around a point: right, left, above, below, and at the four corners; if need be
/// farther away.
std::vector<Rect> label_places(Point point, int width) {
  const int x = static_cast<int>(std::lround(point.x)), y = static_cast<int>(std::lround(point.y));
  const int height = text_height() + kDescent;
  std::vector<Rect> places;
  for (const int d : {8, 20, 32}) {
    const int right = x + d, left = x - d - width, centre = x - width / 2;
    const int above = y - d - height, below = y + d, middle = y - text_height() / 2;
    for (const auto& [px, py] :
         {std::pair(right, middle), std::pair(left, middle), std::pair(centre, above), std::pair(centre, below),
          std::pair(right - 3, above + 3), std::pair(right - 3, below - 3), std::pair(left + 3, above + 3),
          std::pair(left + 3, below - 3)})
      places.push_back({px, py, width, height});
  }
  return places;
}

/// Draws the points and returns what they and their error bars cover.
std::vector<Rect> draw_points(Chart& chart, const std::vector<ScatterSeries>& series) {
  std::vector<Rect> covered;
  for_each_shown(chart, series, [&](const ScatterPoint& point, Rgb color) {
    covered.push_back(chart.error_bar_x(point.x, point.y, point.x_error, color));
    covered.push_back(chart.error_bar_y(point.x, point.y, point.y_error, color));
    const Point p = chart.at(point.x, point.y);
    chart.canvas.polyline({p}, color, kDisc);
    covered.push_back({static_cast<int>(p.x - kDisc / 2), static_cast<int>(p.y - kDisc / 2), static_cast<int>(kDisc),
                       static_cast<int>(kDisc)});
  });
  return covered;
}

void draw_labels(Chart& chart, const std::vector<ScatterSeries>& series, std::vector<Rect> taken) {
  for_each_shown(chart, series, [&](const ScatterPoint& point, Rgb) {
    if (point.label.empty()) return;
    const auto places = label_places(chart.at(point.x, point.y), text_width(point.label));
    const auto free = std::find_if(places.begin(), places.end(), [&](const Rect& place) {
      return inside(place, chart.plot) &&
             std::none_of(taken.begin(), taken.end(), [&](const Rect& other) { return overlap(place, other); });
    });
    const Rect place = free == places.end() ? places.front() : *free;
    taken.push_back(place);
    chart.canvas.text(place.x, place.y, point.label);
  });
}

}  // namespace

Canvas scatter_chart(const std::vector<ScatterSeries>& series, const std::string& title, const std::string& x_label,
                     const std::string& y_label, const ScatterStyle& style) {
  ChartSetup setup = span_points(series, style);
  setup.title = title;
  setup.x_label = x_label;
  setup.y_label = y_label;
  Chart chart = start_chart(setup);
  if (style.frontier) draw_frontier(chart, series);
  draw_labels(chart, series, draw_points(chart, series));
  return std::move(chart.canvas);
}

}  // namespace piddm
