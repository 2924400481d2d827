#include <algorithm>
#include <cmath>

#include "piddm/plot/chart.h"

namespace piddm {

namespace {

constexpr double kLeastBar = 9, kGroupGap = 16, kAxisRoom = 90;
constexpr Rgb kErrorInk{45, 48, 56};

double error_of(const BarSeries& series, size_t group) { return series.errors.empty() ? 0 : series.errors[group]; }

/// Room above the bars; below them only where some are negative.
ChartAxis value_axis(std::vector<double> values, bool log_y) {
  if (values.empty()) return make_axis(values, log_y, 0);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double least = *low, most = *high;
  if (log_y) return make_axis({least / 2, most * std::pow(most / least, 0.05)}, true, 0);
  values.push_back(0);
  if (least < 0 || most <= 0) return make_axis(values, false, 0.05);
  return make_axis({0, 1.05 * most}, false, 0);
}

ChartAxis group_axis(const std::vector<std::string>& groups) {
  ChartAxis axis{0, std::max<double>(1, static_cast<double>(groups.size())), false, {}};
  for (size_t i = 0; i < groups.size(); ++i) axis.ticks.push_back({static_cast<double>(i) + 0.5, groups[i]});
  return axis;
}

Chart chart_of(const BarChart& bars) {
  const ChartAxis any{.log = bars.log_y};
  Chart chart{.title = bars.title, .x_label = "", .y_label = bars.y_label};
  chart.swatch = Swatch::bar;
  chart.marks_name = "bars";
  chart.grid_x = false;
  std::vector<double> values;
  for (const BarSeries& one : bars.series) {
    chart.legend.push_back(one.name);
    chart.marks += bars.groups.size();
    for (size_t g = 0; g < bars.groups.size(); ++g) {
      if (any.shows(one.values[g]))
        append_with_error(values, one.values[g], error_of(one, g), bars.log_y);
      else
        ++chart.hidden;
    }
  }
  chart.x = group_axis(bars.groups);
  chart.y = value_axis(values, bars.log_y);
  return chart;
}

/// Bar `index` of `count` in a group, on the axis of groups: [left, right].
std::pair<double, double> bar_span(size_t group, size_t index, size_t count) {
  const double width = 0.8 / static_cast<double>(count), left = static_cast<double>(group) + 0.1;
  return {left + width * static_cast<double>(index), left + width * static_cast<double>(index + 1)};
}

void draw_bar(Painter& painter, const Chart& chart, std::pair<double, double> span, double value, double error,
              const SeriesStyle& style) {
  const double left = chart.pixel_x(span.first), right = chart.pixel_x(span.second) - 1;
  const double base = chart.y.log ? chart.frame.bottom() : chart.pixel_y(0), end = chart.pixel_y(value);
  const Rect bar{left, std::min(base, end), std::max(1.0, right - left), std::max(1.0, std::abs(base - end))};
  painter.fill(bar, style.color);
  painter.hatch(bar, kWhite, style.pattern);
  draw_error_y(painter, chart, (span.first + span.second) / 2, value, error, kErrorInk);
}

BarChart part_of(const BarChart& bars, size_t first, size_t last) {
  const auto from = static_cast<std::ptrdiff_t>(first), to = static_cast<std::ptrdiff_t>(last);
  BarChart part{.title = first == 0 ? bars.title : "", .y_label = bars.y_label, .log_y = bars.log_y};
  part.groups.assign(bars.groups.begin() + from, bars.groups.begin() + to);
  for (const auto& series : bars.series) {
    part.series.push_back({first == 0 ? series.name : ""});
    part.series.back().values.assign(series.values.begin() + from, series.values.begin() + to);
    if (!series.errors.empty())
      part.series.back().errors.assign(series.errors.begin() + from, series.errors.begin() + to);
  }
  return part;
}

}  // namespace

std::vector<BarChart> cut_to_width(const BarChart& bars, double width) {
  double slot = static_cast<double>(bars.series.size()) * kLeastBar + kGroupGap;
  for (const auto& group : bars.groups) slot = std::max(slot, text_width(group, kTickText) + kGroupGap);
  const size_t count = bars.groups.size(), most = std::max<size_t>(1, static_cast<size_t>((width - kAxisRoom) / slot));
  const size_t parts = std::max<size_t>(1, (count + most - 1) / most), per_part = (count + parts - 1) / parts;
  std::vector<BarChart> out;
  for (size_t first = 0; first == 0 || first < count; first += std::max<size_t>(per_part, 1))
    out.push_back(part_of(bars, first, std::min(first + per_part, count)));
  return out;
}

Margins margins_of(const BarChart& bars, const Placement& place) { return margins_of(chart_of(bars), place.frame); }

void draw_panel(Painter& painter, const BarChart& bars, const Placement& place) {
  auto chart = chart_of(bars);
  chart.frame = place.at;
  draw_frame(painter, chart);
  for (size_t s = 0; s < bars.series.size(); ++s)
    for (size_t g = 0; g < bars.groups.size(); ++g)
      if (chart.y.shows(bars.series[s].values[g]))
        draw_bar(painter, chart, bar_span(g, s, bars.series.size()), bars.series[s].values[g],
                 error_of(bars.series[s], g), series_style(s));
  if (!bars.log_y && chart.hidden < chart.marks)
    painter.line({place.at.x, chart.pixel_y(0)}, {place.at.right(), chart.pixel_y(0)}, {kFrame});
}

}  // namespace piddm
