#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "piddm/core/table.h"
#include "piddm/plot/page.h"

namespace piddm {

namespace {

constexpr double kPadding = 8, kDot = 7, kErrorCap = 3, kSmallDot = 3;
constexpr int kTicks = 3;
constexpr Rgb kPointInk{112, 118, 130};

ChartAxis axis_of(const NumberStrip& strip) {
  if (strip.range) return make_axis({strip.range->first, strip.range->second}, false, 0.05, kTicks);
  std::vector<double> values = strip.points;
  for (const auto& mark : strip.marks) values.insert(values.end(), {mark.value - mark.error, mark.value + mark.error});
  return make_axis(values, false, 0.08, kTicks);
}

/// Points spread over the strip in a fixed pattern, so that equal values do not hide each other.
double spread(size_t index) { return std::fmod(0.5 + 0.6180339887498949 * static_cast<double>(index), 1.0); }

void draw_mark(Painter& painter, const NumberMark& mark, const ChartAxis& axis, const Rect& line, int index) {
  const Rgb color = curve_color(index);
  const auto value = std::isfinite(mark.value) ? format_number(mark.value) : "not finite";
  const auto text = mark.error > 0 ? fmt::format("{} {} ± {}", mark.name, value, format_number(mark.error))
                                   : fmt::format("{} {}", mark.name, value);
  const double text_y = line.y + line_height(kTickText) / 2 + 1, y = line.bottom() - kDot / 2 - 2;
  painter.text({line.middle(), text_y}, text, {.size = kTickText.size, .anchor = Anchor::middle});
  if (!std::isfinite(mark.value)) return;
  const auto at = [&](double v) { return line.x + std::clamp(axis.position(v), 0.0, 1.0) * line.width; };
  if (mark.error > 0) {
    const double low = at(mark.value - mark.error), high = at(mark.value + mark.error);
    painter.line({low, y}, {high, y}, {color, 1.2});
    for (const double x : {low, high}) painter.line({x, y - kErrorCap}, {x, y + kErrorCap}, {color, 1.2});
  }
  painter.marker({at(mark.value), y}, color, {index, kDot});
}

}  // namespace

Margins margins_of(const NumberStrip& panel, const Placement& place) {
  return {.left = 8,
          .top = title_height(panel.title, place.frame.width),
          .right = 8,
          .bottom = 5 + line_height(kTickText) + (panel.label.empty() ? 0 : line_height(kAxisText))};
}

void draw_panel(Painter& painter, const NumberStrip& panel, const Placement& place) {
  const Rect& frame = place.at;
  const auto axis = axis_of(panel);
  draw_title(painter, panel.title, frame, 0);
  painter.outline(frame, {kFrame, 0.7});
  const double tick_y = frame.bottom() + 5 + line_height(kTickText) / 2;
  for (const auto& tick : axis.ticks) {
    const double x = frame.x + axis.position(tick.value) * frame.width;
    painter.line({x, frame.y}, {x, frame.bottom() + 3}, {{228, 231, 237}, 0.7});
    painter.text({x, tick_y}, tick.label, {.size = kTickText.size, .anchor = Anchor::middle});
  }
  painter.text({frame.middle(), tick_y + line_height(kAxisText)}, panel.label, kAxisText);
  const size_t lines = panel.marks.size() + (panel.points.empty() ? 0 : 1);
  const double height = (frame.height - 2 * kPadding) / static_cast<double>(std::max<size_t>(lines, 1));
  double y = frame.y + kPadding;
  for (size_t i = 0; i < panel.marks.size(); ++i, y += height)
    draw_mark(painter, panel.marks[i], axis, {frame.x, y, frame.width, std::min(height, 30.0)}, static_cast<int>(i));
  for (size_t i = 0; i < panel.points.size(); ++i) {
    const double position = axis.position(panel.points[i]);
    if (!(position >= 0 && position <= 1)) continue;
    painter.marker({frame.x + position * frame.width, y + 4 + spread(i) * (height - 8)}, kPointInk, {0, kSmallDot});
  }
}

}  // namespace piddm
