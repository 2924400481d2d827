#include <cmath>

#include "piddm/plot/chart.h"

namespace piddm {

namespace {

constexpr size_t kMarkedPoints = 30;

double error_of(const Curve& curve, size_t i) { return curve.error.empty() ? 0 : curve.error[i]; }

bool few_points(const LineChart& lines) {
  for (const auto& curve : lines.curves)
    if (curve.x.size() > kMarkedPoints) return false;
  return true;
}

/// Axes around the points that both of them can show, and how many there are and are not.
Chart chart_of(const LineChart& lines) {
  const ChartAxis any_x{.log = lines.log_x}, any_y{.log = lines.log_y};
  Chart chart{.title = lines.title, .x_label = lines.x_label, .y_label = lines.y_label, .markers = few_points(lines)};
  std::vector<double> x_values, y_values;
  for (const Curve& curve : lines.curves) {
    chart.legend.push_back(curve.name);
    chart.marks += curve.x.size();
    for (size_t i = 0; i < curve.x.size(); ++i) {
      if (!any_x.shows(curve.x[i]) || !any_y.shows(curve.y[i])) continue;
      x_values.push_back(curve.x[i]);
      append_with_error(y_values, curve.y[i], error_of(curve, i), lines.log_y);
      for (const auto* ends : {&curve.low, &curve.high})
        if (!ends->empty() && any_y.shows((*ends)[i])) y_values.push_back((*ends)[i]);
    }
  }
  chart.hidden = chart.marks - x_values.size();
  chart.x = make_axis(x_values, lines.log_x, chart.markers ? 0.03 : 0.0);
  if (lines.y_range) y_values = {lines.y_range->first, lines.y_range->second};
  chart.y = make_axis(y_values, lines.log_y, 0.05);
  return chart;
}

void draw_band(Painter& painter, const Chart& chart, const Curve& curve, Rgb color) {
  if (curve.low.empty() || curve.high.empty()) return;
  std::vector<Point> outline;
  for (size_t i = 0; i < curve.x.size(); ++i)
    if (chart.shows(curve.x[i], curve.high[i])) outline.push_back(chart.at(curve.x[i], curve.high[i]));
  for (size_t i = curve.x.size(); i-- > 0;)
    if (chart.shows(curve.x[i], curve.low[i])) outline.push_back(chart.at(curve.x[i], curve.low[i]));
  painter.polygon(outline, color, 0.18);
}

void draw_curve(Painter& painter, const Chart& chart, const Curve& curve, const SeriesStyle& style) {
  std::vector<Point> points;
  for (size_t i = 0; i < curve.x.size(); ++i) {
    const bool shown = chart.shows(curve.x[i], curve.y[i]);
    points.push_back(shown ? chart.at(curve.x[i], curve.y[i]) : Point{NAN, NAN});
    if (shown) draw_error_y(painter, chart, curve.x[i], curve.y[i], error_of(curve, i), style.color);
  }
  painter.polyline(points, {style.color, 1.6, style.dashes});
  const auto gap = [&](size_t i) { return i >= points.size() || !points[i].finite(); };
  for (size_t i = 0; i < points.size(); ++i)
    if (!gap(i) && (chart.markers || (gap(i - 1) && gap(i + 1))))
      painter.marker(points[i], style.color, {style.shape, 6});
}

}  // namespace

Margins margins_of(const LineChart& lines, const Placement& place) { return margins_of(chart_of(lines), place.frame); }

void draw_panel(Painter& painter, const LineChart& lines, const Placement& place) {
  auto chart = chart_of(lines);
  chart.frame = place.at;
  draw_frame(painter, chart);
  painter.begin_clip({place.at.x - 4, place.at.y - 4, place.at.width + 8, place.at.height + 8});
  for (size_t i = 0; i < lines.curves.size(); ++i) draw_band(painter, chart, lines.curves[i], series_style(i).color);
  for (size_t i = 0; i < lines.curves.size(); ++i) draw_curve(painter, chart, lines.curves[i], series_style(i));
  painter.end_clip();
}

}  // namespace piddm
