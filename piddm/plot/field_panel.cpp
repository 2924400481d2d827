#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "piddm/core/table.h"
#include "piddm/plot/page.h"

namespace piddm {

namespace {

constexpr double kBarGap = 6, kBarThickness = 9, kTickLength = 3, kTickGap = 2, kNoteLine = 12, kLabelLine = 14;
constexpr int kFieldTicks = 3, kBarTicks = 4;
constexpr double kShortBar = 180;
constexpr Rgb kUnknown{214, 214, 214};

/// From 0 to the end of the bar, ready for the colour map: [H,W] float64.
Tensor positions(const Tensor& field, const ColorRange& range) {
  const double width = range.second - range.first;
  const auto values = field.detach().to(torch::kCPU, torch::kFloat64);
  return width > 0 ? (values - range.first) / width : torch::where(torch::isfinite(values), 0.5, values);
}

/// Colours of the entries as an image: H to the right, W upwards.
Tensor colored(const Tensor& field, const ColorRange& range, Colors colors, Rgb unknown) {
  const auto upright = positions(field, range).t().flip(0).contiguous();
  auto pixels = torch::empty({upright.size(0), upright.size(1), 3}, torch::kUInt8);
  const double* value = upright.data_ptr<double>();
  auto* out = pixels.data_ptr<uint8_t>();
  for (int64_t i = 0; i < upright.numel(); ++i) {
    const Rgb color = std::isfinite(value[i]) ? map_color(colors, value[i]) : unknown;
    *out++ = color.r, *out++ = color.g, *out++ = color.b;
  }
  return pixels;
}

std::vector<Tick> ticks_of(const FieldAxis& axis) {
  if (!axis.ticks.empty() || axis.low == axis.high) return axis.ticks;
  return make_axis({axis.low, axis.high}, false, 0, kFieldTicks).ticks;
}

/// The axis of a bar of this length; a constant field has one tick.
ChartAxis bar_axis(const ColorRange& range, double length) {
  if (range.second > range.first)
    return make_axis({range.first, range.second}, false, 0, length < kShortBar ? kBarTicks - 1 : kBarTicks);
  return {range.first - 1, range.second + 1, false, {{range.first, format_number(range.first)}}};
}

double widest(const std::vector<Tick>& ticks) {
  double width = 0;
  for (const auto& tick : ticks) width = std::max(width, text_width(tick.label, kTickText));
  return width;
}

int64_t non_finite(const FieldPanel& panel) {
  return panel.gaps ? 0 : panel.field.numel() - torch::isfinite(panel.field).sum().item<int64_t>();
}

double along(const FieldAxis& axis, double value, double length) {
  return length * (value - axis.low) / (axis.high - axis.low);
}

double x_axis_room(const FieldPanel& panel) {
  if (ticks_of(panel.x).empty()) return 0;
  return kTickLength + kTickGap + line_height(kTickText) + (panel.x.label.empty() ? 0 : kLabelLine);
}

double y_axis_room(const FieldPanel& panel) {
  const auto ticks = ticks_of(panel.y);
  if (ticks.empty()) return 0;
  return kTickLength + kTickGap + widest(ticks) + (panel.y.label.empty() ? 0 : kLabelLine);
}

/// Tick labels that would run into the one before are left out.
void draw_x_axis(Painter& painter, const FieldPanel& panel, const Rect& frame) {
  const auto ticks = ticks_of(panel.x);
  if (ticks.empty()) return;
  const double y = frame.bottom() + kTickLength + kTickGap + line_height(kTickText) / 2;
  double taken = -1e9;
  for (const auto& tick : ticks) {
    const double x = frame.x + along(panel.x, tick.value, frame.width), half = text_width(tick.label, kTickText) / 2;
    painter.line({x, frame.bottom()}, {x, frame.bottom() + kTickLength}, {kFrame});
    if (x - half < taken + 3) continue;
    painter.text({x, y}, tick.label, {.size = kTickText.size, .anchor = Anchor::middle});
    taken = x + half;
  }
  painter.text({frame.middle(), y + kLabelLine}, panel.x.label, kAxisText);
}

void draw_y_axis(Painter& painter, const FieldPanel& panel, const Rect& frame) {
  const auto ticks = ticks_of(panel.y);
  if (ticks.empty()) return;
  for (const auto& tick : ticks) {
    const double y = frame.bottom() - along(panel.y, tick.value, frame.height);
    painter.line({frame.x, y}, {frame.x - kTickLength, y}, {kFrame});
    painter.text({frame.x - kTickLength - kTickGap, y}, tick.label, {.size = kTickText.size, .anchor = Anchor::end});
  }
  const double x = frame.x - kTickLength - kTickGap - widest(ticks) - kLabelLine / 2 - 1;
  painter.text({x, frame.centre()}, panel.y.label, {.size = kAxisText.size, .anchor = Anchor::middle, .rotated = true});
}

void draw_bar_right(Painter& painter, const FieldPanel& panel, const Rect& frame, const ColorRange& range) {
  const Rect bar{frame.right() + kBarGap, frame.y, kBarThickness, frame.height};
  const auto ramp = (torch::arange(256, torch::kFloat64) / 255).unsqueeze(0);
  painter.image(bar, colored(ramp, {0, 1}, panel.colors, kUnknown));
  painter.outline(bar, {kFrame, 0.7});
  const auto axis = bar_axis(range, kShortBar);
  for (const auto& tick : axis.ticks) {
    const double y = bar.bottom() - axis.position(tick.value) * bar.height;
    painter.line({bar.right(), y}, {bar.right() + kTickLength, y}, {kFrame});
    painter.text({bar.right() + kTickLength + kTickGap, y}, tick.label, kTickText);
  }
  const double x = bar.right() + kTickLength + kTickGap + widest(axis.ticks) + kLabelLine / 2;
  painter.text({x, bar.centre()}, panel.unit, {.size = kTickText.size, .anchor = Anchor::middle, .rotated = true});
}

void draw_bar_below(Painter& painter, const FieldPanel& panel, const Rect& frame, double top, const ColorRange& range) {
  const Rect bar{frame.x, frame.bottom() + top + kBarGap, frame.width, kBarThickness};
  const auto ramp = (torch::arange(256, torch::kFloat64) / 255).unsqueeze(1);
  painter.image(bar, colored(ramp, {0, 1}, panel.colors, kUnknown));
  painter.outline(bar, {kFrame, 0.7});
  const auto axis = bar_axis(range, bar.width);
  const double y = bar.bottom() + kTickLength + kTickGap + line_height(kTickText) / 2;
  double taken = frame.x - 10;
  for (const auto& tick : axis.ticks) {
    const double half = text_width(tick.label, kTickText) / 2, at = bar.x + axis.position(tick.value) * bar.width;
    painter.line({at, bar.bottom()}, {at, bar.bottom() + kTickLength}, {kFrame});
    const double x = std::clamp(at, bar.x - 6 + half, bar.right() + 6 - half);
    if (x - half < taken + 3) continue;
    painter.text({x, y}, tick.label, {.size = kTickText.size, .anchor = Anchor::middle});
    taken = x + half;
  }
  painter.text({frame.middle(), y + line_height(kTickText)}, panel.unit,
               {.size = kTickText.size, .anchor = Anchor::middle});
}

void draw_sensors(Painter& painter, const FieldPanel& panel, const Rect& frame) {
  const double size = panel.sensors.size() > 200 ? 2.5 : 4.5;
  for (const auto& [x, y] : panel.sensors) {
    const Point at{frame.x + along(panel.x, x, frame.width), frame.bottom() - along(panel.y, y, frame.height)};
    painter.marker(at, kWhite, {0, size + 1.6});
    painter.marker(at, kInk, {0, size});
  }
}

double bar_room_below(const FieldPanel& panel) {
  return kBarGap + kBarThickness + kTickLength + kTickGap + line_height(kTickText) * (panel.unit.empty() ? 1 : 2);
}

}  // namespace

Margins margins_of(const FieldPanel& panel, const Placement& place) {
  Margins m{.top = place.title ? title_height(panel.title, place.frame.width) : 0};
  const bool x_shown = place.x_axis || place.bar == Bar::below;
  if (place.y_axis) m.left = y_axis_room(panel);
  if (x_shown) m.bottom = x_axis_room(panel);
  if (place.bar == Bar::right)
    m.right = kBarGap + kBarThickness + kTickLength + kTickGap + widest(bar_axis(*place.range, kShortBar).ticks) +
              (panel.unit.empty() ? 0 : kLabelLine);
  if (place.bar == Bar::below) m.bottom += bar_room_below(panel);
  if (non_finite(panel) > 0) m.bottom += kNoteLine;
  m.right = std::max(m.right, 8.0);
  m.left = std::max(m.left, 4.0);
  return m;
}

void draw_panel(Painter& painter, const FieldPanel& panel, const Placement& place) {
  const Rect& frame = place.at;
  painter.image(frame, colored(panel.field, *place.range, panel.colors, panel.gaps ? kUnknown : kSignal));
  painter.outline(frame, {kFrame, 0.7});
  if (!panel.sensors.empty()) draw_sensors(painter, panel, frame);
  if (place.title) draw_title(painter, panel.title, frame, 0);
  double below = 0;
  if (place.y_axis) draw_y_axis(painter, panel, frame);
  if (place.x_axis || place.bar == Bar::below) {
    draw_x_axis(painter, panel, frame);
    below += x_axis_room(panel);
  }
  if (place.bar == Bar::right) draw_bar_right(painter, panel, frame, *place.range);
  if (place.bar == Bar::below) {
    draw_bar_below(painter, panel, frame, below, *place.range);
    below += bar_room_below(panel);
  }
  if (const auto count = non_finite(panel); count > 0)
    painter.text({frame.middle(), frame.bottom() + below + kNoteLine / 2}, fmt::format("{} not finite", count),
                 {.color = {200, 0, 150}, .size = kTickText.size, .anchor = Anchor::middle});
}

}  // namespace piddm
