#include "piddm/plot/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace piddm {

namespace {

constexpr Rgb kGrid{222, 226, 233}, kMinorGrid{241, 243, 246};
constexpr int kPlotHeight = 360, kTickGap = 7, kLabelGap = 14, kSwatch = 22, kLegendGap = 20, kLegendLine = 20,
              kNoteLine = 22, kCap = 4;
constexpr double kErrorLine = 1.4;

int pixel(double value) { return static_cast<int>(std::lround(value)); }

int widest_label(const ChartAxis& axis) {
  int width = 0;
  for (const Tick& tick : axis.ticks) width = std::max(width, text_width(tick.label));
  return width;
}

int legend_width(const std::vector<std::string>& names) {
  int width = 0;
  for (const std::string& name : names)
    if (!name.empty()) width = std::max(width, kLegendGap + kSwatch + 8 + text_width(name));
  return width;
}

Rect place_plot(const ChartSetup& setup) {
  const int left =
      kPictureMargin + (setup.y_label.empty() ? 0 : text_height() + kLabelGap) + widest_label(setup.y) + kTickGap;
  const int top = kPictureMargin + (setup.title.empty() ? 0 : text_height(kTitleText) + 20);
  return {left, top, setup.plot_width, kPlotHeight};
}

Canvas make_canvas(const ChartSetup& setup, const Rect& plot) {
  const int beside = std::max(legend_width(setup.legend), widest_label(setup.x) / 2);
  const int below = plot.bottom() + kTickGap + text_height() + (setup.x_label.empty() ? 0 : kLabelGap + text_height()) +
                    (setup.hidden > 0 ? kNoteLine : 0);
  const int legend = plot.y + static_cast<int>(setup.legend.size()) * kLegendLine;
  return Canvas(std::max(plot.right() + beside, kPictureMargin + text_width(setup.title, kTitleText)) + kPictureMargin,
                std::max(below, legend) + kPictureMargin);
}

void draw_grid(Chart& chart, bool along_x) {
  const Rect& plot = chart.plot;
  for (const bool minor : {true, false}) {
    const Rgb color = minor ? kMinorGrid : kGrid;
    for (const Tick& tick : chart.x.ticks)
      if (along_x && tick.label.empty() == minor)
        chart.canvas.fill_rect({pixel(chart.pixel_x(tick.value)), plot.y, 1, plot.height}, color);
    for (const Tick& tick : chart.y.ticks)
      if (tick.label.empty() == minor)
        chart.canvas.fill_rect({plot.x, pixel(chart.pixel_y(tick.value)), plot.width, 1}, color);
  }
}

void draw_axes(Chart& chart) {
  const Rect& plot = chart.plot;
  for (const Tick& tick : chart.x.ticks)
    chart.canvas.text(pixel(chart.pixel_x(tick.value)), plot.bottom() + kTickGap, tick.label, kCentredText);
  for (const Tick& tick : chart.y.ticks)
    chart.canvas.text(plot.x - kTickGap, pixel(chart.pixel_y(tick.value)) - text_height() / 2, tick.label,
                      {.anchor = Anchor::end});
  chart.canvas.fill_rect({plot.x, plot.y, 1, plot.height + 1}, kFrame);
  chart.canvas.fill_rect({plot.x, plot.bottom(), plot.width + 1, 1}, kFrame);
}

void draw_legend(Chart& chart, const std::vector<std::string>& names) {
  const int x = chart.plot.right() + kLegendGap;
  int y = chart.plot.y + 2;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) continue;
    const double middle = y + text_height() / 2.0;
    chart.canvas.line({x + 1.5, middle}, {x + kSwatch - 1.5, middle}, curve_color(static_cast<int>(i)), 3);
    chart.canvas.text(x + kSwatch + 8, y, names[i]);
    y += kLegendLine;
  }
}

void draw_notes(Chart& chart, const ChartSetup& setup) {
  const Rect& plot = chart.plot;
  if (setup.hidden == setup.marks)
    chart.canvas.text(plot.x + plot.width / 2, plot.y + plot.height / 2, "no data",
                      {.color = kFaintInk, .anchor = Anchor::middle});
  if (setup.hidden == 0) return;
  chart.canvas.text(plot.right(), chart.canvas.height() - kPictureMargin - text_height(),
                    fmt::format("{} of {} {} not shown: {}", setup.hidden, setup.marks, setup.marks_name,
                                setup.x.log || setup.y.log ? "not positive or not finite" : "not finite"),
                    {.color = kFaintInk, .anchor = Anchor::end});
}

/// The ends of an error bar, cut at the axis.
std::pair<double, double> error_ends(const ChartAxis& axis, double value, double error) {
  const double low = axis.shows(value - error) ? std::max(value - error, axis.low) : axis.low;
  return {low, std::min(value + error, axis.high)};
}

}  // namespace

Rect Chart::error_bar_y(double vx, double vy, double error, Rgb color) {
  if (!(error > 0)) return {};
  const auto [low, high] = error_ends(y, vy, error);
  const Point bottom = at(vx, low), top = at(vx, high);
  canvas.line(bottom, top, color, kErrorLine);
  for (const Point& end : {bottom, top}) canvas.line({end.x - kCap, end.y}, {end.x + kCap, end.y}, color, kErrorLine);
  return {pixel(top.x) - kCap, pixel(top.y), 2 * kCap, pixel(bottom.y - top.y) + 1};
}

Rect Chart::error_bar_x(double vx, double vy, double error, Rgb color) {
  if (!(error > 0)) return {};
  const auto [low, high] = error_ends(x, vx, error);
  const Point left = at(low, vy), right = at(high, vy);
  canvas.line(left, right, color, kErrorLine);
  for (const Point& end : {left, right}) canvas.line({end.x, end.y - kCap}, {end.x, end.y + kCap}, color, kErrorLine);
  return {pixel(left.x), pixel(left.y) - kCap, pixel(right.x - left.x) + 1, 2 * kCap};
}

Chart start_chart(const ChartSetup& setup) {
  const Rect plot = place_plot(setup);
  Chart chart{make_canvas(setup, plot), setup.x, setup.y, plot};
  chart.canvas.text(kPictureMargin, kPictureMargin, setup.title, kTitleText);
  draw_grid(chart, setup.grid_x);
  draw_axes(chart);
  chart.canvas.text(plot.x + plot.width / 2, plot.bottom() + kTickGap + text_height() + kLabelGap, setup.x_label,
                    kCentredText);
  chart.canvas.text(kPictureMargin, plot.y + plot.height / 2, setup.y_label,
                    {.anchor = Anchor::middle, .rotated = true});
  draw_legend(chart, setup.legend);
  draw_notes(chart, setup);
  return chart;
}

void append_with_error(std::vector<double>& values, double value, double error, bool log) {
  values.push_back(value);
  if (!(error > 0)) return;
  values.push_back(value + error);
  values.push_back(log ? std::max(value - error, value / 10) : value - error);
}

}  // namespace piddm
