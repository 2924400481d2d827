#include "piddm/plot/bar_chart.h"

#include <algorithm>
#include <cmath>

#include "piddm/core/error.h"
#include "piddm/plot/chart.h"

namespace piddm {

namespace {

constexpr int kLeastWidth = 640, kLeastBar = 7, kGroupGap = 16;
constexpr Rgb kErrorInk{70, 75, 85};

double error_of(const BarSeries& series, size_t group) { return series.errors.empty() ? 0 : series.errors[group]; }

void check(const BarSeries& series, size_t groups) {
  require<UsageError>(series.values.size() == groups, "[bar chart] series '{}': {} values for {} groups", series.name,
                      series.values.size(), groups);
  require<UsageError>(series.errors.empty() || series.errors.size() == groups,
                      "[bar chart] series '{}': {} errors for {} groups", series.name, series.errors.size(), groups);
}

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

int wanted_width(const std::vector<std::string>& groups, size_t series) {
  int slot = static_cast<int>(series) * kLeastBar + kGroupGap;
  for (const std::string& group : groups) slot = std::max(slot, text_width(group) + kGroupGap);
  return std::max(kLeastWidth, slot * static_cast<int>(groups.size()));
}

ChartSetup span_bars(const std::vector<std::string>& groups, const std::vector<BarSeries>& series, bool log_y) {
  const ChartAxis any{.log = log_y};
  ChartSetup setup{.marks_name = "bars", .plot_width = wanted_width(groups, series.size()), .grid_x = false};
  std::vector<double> values;
  for (const BarSeries& one : series) {
    check(one, groups.size());
    setup.legend.push_back(one.name);
    setup.marks += groups.size();
    for (size_t g = 0; g < groups.size(); ++g) {
      if (any.shows(one.values[g]))
        append_with_error(values, one.values[g], error_of(one, g), log_y);
      else
        ++setup.hidden;
    }
  }
  setup.x = group_axis(groups);
  setup.y = value_axis(values, log_y);
  return setup;
}

/// Bar `index` of `count` in a group, on the axis of groups: [left, right].
std::pair<double, double> bar_span(size_t group, size_t index, size_t count) {
  const double width = 0.8 / static_cast<double>(count), left = static_cast<double>(group) + 0.1;
  return {left + width * static_cast<double>(index), left + width * static_cast<double>(index + 1)};
}

void draw_bar(Chart& chart, std::pair<double, double> span, double value, double error, Rgb color) {
  const int left = static_cast<int>(std::lround(chart.pixel_x(span.first)));
  const int right = static_cast<int>(std::lround(chart.pixel_x(span.second)));
  const double base = chart.y.log ? chart.plot.bottom() : chart.pixel_y(0), end = chart.pixel_y(value);
  const int top = static_cast<int>(std::lround(std::min(base, end)));
  const int bottom = static_cast<int>(std::lround(std::max(base, end)));
  chart.canvas.fill_rect({left, top, std::max(1, right - left - 1), std::max(1, bottom - top)}, color);
  chart.error_bar_y((span.first + span.second) / 2, value, error, kErrorInk);
}

}  // namespace

Canvas bar_chart(const std::vector<std::string>& groups, const std::vector<BarSeries>& series, const std::string& title,
                 const std::string& y_label, bool log_y) {
  ChartSetup setup = span_bars(groups, series, log_y);
  setup.title = title;
  setup.y_label = y_label;
  Chart chart = start_chart(setup);
  for (size_t s = 0; s < series.size(); ++s)
    for (size_t g = 0; g < groups.size(); ++g)
      if (chart.y.shows(series[s].values[g]))
        draw_bar(chart, bar_span(g, s, series.size()), series[s].values[g], error_of(series[s], g),
                 curve_color(static_cast<int>(s)));
  if (!log_y && setup.hidden < setup.marks)
    chart.canvas.fill_rect({chart.plot.x, static_cast<int>(std::lround(chart.pixel_y(0))), chart.plot.width + 1, 1},
                           kFrame);
  return std::move(chart.canvas);
}

}  // namespace piddm
