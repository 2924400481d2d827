#include "piddm/plot/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace piddm {

namespace {

constexpr Rgb kGrid{222, 226, 233}, kMinorGrid{241, 243, 246};
constexpr double kTickGap = 5, kLabelLine = 17, kSwatch = 24, kLegendGap = 14, kLegendLine = 14, kNoteLine = 13,
                 kCap = 3;
constexpr double kErrorLine = 1.1;
constexpr TextStyle kLegendText{.size = 10};

double widest_label(const ChartAxis& axis) {
  double width = 0;
  for (const Tick& tick : axis.ticks) width = std::max(width, text_width(tick.label, kTickText));
  return width;
}

struct LegendEntry {
  size_t series;
  std::string name;
  double x;
  int line;
};

/// Entries side by side in as many lines as it takes.
std::vector<LegendEntry> place_legend(const std::vector<std::string>& names, double width) {
  std::vector<LegendEntry> entries;
  double x = 0;
  int line = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) continue;
    const double room = kSwatch + 5 + text_width(names[i], kLegendText);
    if (x > 0 && x + room > width) x = 0, ++line;
    entries.push_back({i, names[i], x, line});
    x += room + kLegendGap;
  }
  return entries;
}

double legend_height(const std::vector<std::string>& names, double width) {
  const auto entries = place_legend(names, width);
  return entries.empty() ? 0 : (entries.back().line + 1) * kLegendLine + 5;
}

void draw_grid(Painter& painter, const Chart& chart) {
  const Rect& frame = chart.frame;
  for (const bool minor : {true, false}) {
    const Stroke stroke{minor ? kMinorGrid : kGrid, 0.7};
    for (const Tick& tick : chart.x.ticks)
      if (chart.grid_x && tick.label.empty() == minor)
        painter.line({chart.pixel_x(tick.value), frame.y}, {chart.pixel_x(tick.value), frame.bottom()}, stroke);
    for (const Tick& tick : chart.y.ticks)
      if (tick.label.empty() == minor)
        painter.line({frame.x, chart.pixel_y(tick.value)}, {frame.right(), chart.pixel_y(tick.value)}, stroke);
  }
}

/// Labels that would run into the one before are left out.
void draw_axes(Painter& painter, const Chart& chart) {
  const Rect& frame = chart.frame;
  const double y = frame.bottom() + kTickGap + line_height(kTickText) / 2;
  double taken = -1e9;
  for (const Tick& tick : chart.x.ticks) {
    const double x = chart.pixel_x(tick.value), half = text_width(tick.label, kTickText) / 2;
    if (tick.label.empty() || x - half < taken + 4) continue;
    painter.text({x, y}, tick.label, {.size = kTickText.size, .anchor = Anchor::middle});
    taken = x + half;
  }
  for (const Tick& tick : chart.y.ticks)
    painter.text({frame.x - kTickGap, chart.pixel_y(tick.value)}, tick.label,
                 {.size = kTickText.size, .anchor = Anchor::end});
  painter.polyline({{frame.x, frame.y}, {frame.x, frame.bottom()}, {frame.right(), frame.bottom()}}, {kFrame});
  painter.text({frame.middle(), y + kLabelLine}, chart.x_label, kAxisText);
  painter.text({frame.x - kTickGap - widest_label(chart.y) - kLabelLine / 2 - 1, frame.centre()}, chart.y_label,
               {.size = kAxisText.size, .anchor = Anchor::middle, .rotated = true});
}

void draw_legend(Painter& painter, const Chart& chart) {
  const double top = chart.frame.y - legend_height(chart.legend, chart.frame.width);
  for (const auto& entry : place_legend(chart.legend, chart.frame.width)) {
    const auto style = series_style(entry.series);
    const double x = chart.frame.x + entry.x, y = top + (entry.line + 0.5) * kLegendLine;
    if (chart.swatch == Swatch::line) painter.line({x, y}, {x + kSwatch, y}, {style.color, 1.8, style.dashes});
    if (chart.swatch == Swatch::marker || chart.markers)
      painter.marker({x + kSwatch / 2, y}, style.color, {style.shape, 6});
    if (chart.swatch == Swatch::bar) {
      painter.fill({x, y - 5, kSwatch, 10}, style.color);
      painter.hatch({x, y - 5, kSwatch, 10}, kWhite, style.pattern);
    }
    painter.text({x + kSwatch + 5, y}, entry.name, kLegendText);
  }
}

void draw_notes(Painter& painter, const Chart& chart) {
  const Rect& frame = chart.frame;
  if (chart.hidden == chart.marks)
    painter.text({frame.middle(), frame.centre()}, "no data", {.color = kFaintInk, .anchor = Anchor::middle});
  if (chart.hidden == 0) return;
  const double below = kTickGap + line_height(kTickText) + (chart.x_label.empty() ? 0 : kLabelLine);
  painter.text({frame.right(), frame.bottom() + below + kNoteLine / 2},
               fmt::format("{} of {} {} not shown: {}", chart.hidden, chart.marks, chart.marks_name,
                           chart.x.log || chart.y.log ? "not positive or not finite" : "not finite"),
               {.color = kFaintInk, .size = kTickText.size, .anchor = Anchor::end});
}

/// The ends of an error bar, cut at the axis.
std::pair<double, double> error_ends(const ChartAxis& axis, double value, double error) {
  const double low = axis.shows(value - error) ? std::max(value - error, axis.low) : axis.low;
  return {low, std::min(value + error, axis.high)};
}

}  // namespace

SeriesStyle series_style(size_t index) {
  static const std::array<std::vector<double>, 5> dashes = {{{}, {7, 3}, {2, 2.5}, {9, 2.5, 2, 2.5}, {12, 3, 4, 3}}};
  const int i = static_cast<int>(index);
  return {curve_color(i), dashes[index % dashes.size()], i, i};
}

Margins margins_of(const Chart& chart, const Size& frame) {
  const double edge = chart.x.ticks.empty() ? 0 : text_width(chart.x.ticks.back().label, kTickText) / 2;
  return {.left = kTickGap + widest_label(chart.y) + (chart.y_label.empty() ? 0 : kLabelLine),
          .top = title_height(chart.title, frame.width) + legend_height(chart.legend, frame.width),
          .right = std::max(8.0, edge),
          .bottom = kTickGap + line_height(kTickText) + (chart.x_label.empty() ? 0 : kLabelLine) +
                    (chart.hidden > 0 ? kNoteLine : 0)};
}

void draw_frame(Painter& painter, const Chart& chart) {
  draw_title(painter, chart.title, chart.frame, legend_height(chart.legend, chart.frame.width));
  draw_grid(painter, chart);
  draw_axes(painter, chart);
  draw_legend(painter, chart);
  draw_notes(painter, chart);
}

Rect draw_error_y(Painter& painter, const Chart& chart, double vx, double vy, double error, Rgb color) {
  if (!(error > 0)) return {};
  const auto [low, high] = error_ends(chart.y, vy, error);
  const Point bottom = chart.at(vx, low), top = chart.at(vx, high);
  painter.line(bottom, top, {color, kErrorLine});
  for (const Point& end : {bottom, top})
    painter.line({end.x - kCap, end.y}, {end.x + kCap, end.y}, {color, kErrorLine});
  return {top.x - kCap, top.y, 2 * kCap, bottom.y - top.y};
}

Rect draw_error_x(Painter& painter, const Chart& chart, double vx, double vy, double error, Rgb color) {
  if (!(error > 0)) return {};
  const auto [low, high] = error_ends(chart.x, vx, error);
  const Point left = chart.at(low, vy), right = chart.at(high, vy);
  painter.line(left, right, {color, kErrorLine});
  for (const Point& end : {left, right})
    painter.line({end.x, end.y - kCap}, {end.x, end.y + kCap}, {color, kErrorLine});
  return {left.x, left.y - kCap, right.x - left.x, 2 * kCap};
}

void append_with_error(std::vector<double>& values, double value, double error, bool log) {
  values.push_back(value);
  if (!(error > 0)) return;
  values.push_back(value + error);
  values.push_back(log ? std::max(value - error, value / 10) : value - error);
}

}  // namespace piddm
