#include "piddm/plot/figure.h"

#include <algorithm>
#include <cmath>

#include "piddm/core/error.h"

namespace piddm {

namespace {

void check_panel(const FieldPanel& panel) {
  require<DataError>(panel.field.defined() && panel.field.dim() == 2 && panel.field.numel() > 0,
                     "[figure] panel '{}': expected a field (H,W), got {}", panel.title,
                     panel.field.defined() ? shape_string(panel.field) : "nothing");
  if (panel.range)
    require<UsageError>(panel.range->first <= panel.range->second, "[figure] panel '{}': range from {} to {}",
                        panel.title, panel.range->first, panel.range->second);
}

void check_panel(const NumberStrip&) {}

void check_panel(const LineChart& chart) {
  for (const auto& curve : chart.curves)
    for (const auto& [name, list, may_lack] :
         {std::tuple("y values", &curve.y, false), std::tuple("errors", &curve.error, true),
          std::tuple("lower ends", &curve.low, true), std::tuple("upper ends", &curve.high, true)})
      require<UsageError>(list->size() == curve.x.size() || (may_lack && list->empty()),
                          "[figure] curve '{}': {} x values and {} {}", curve.name, curve.x.size(), list->size(), name);
}

void check_panel(const BarChart& chart) {
  for (const auto& series : chart.series)
    for (const auto& [name, list, may_lack] :
         {std::tuple("values", &series.values, false), std::tuple("errors", &series.errors, true)})
      require<UsageError>(list->size() == chart.groups.size() || (may_lack && list->empty()),
                          "[figure] bars '{}': {} {} for {} groups", series.name, list->size(), name,
                          chart.groups.size());
}

void check_panel(const ScatterChart&) {}

}  // namespace

Figure in_rows(const std::string& title, std::vector<Panel> panels, size_t columns) {
  Figure figure{.title = title};
  for (size_t i = 0; i < panels.size(); ++i) {
    if (i % columns == 0) figure.rows.emplace_back();
    figure.rows.back().panels.push_back(std::move(panels[i]));
  }
  return figure;
}

void check_figure(const Figure& figure) {
  for (const auto& row : figure.rows)
    for (const auto& panel : row.panels) std::visit([](const auto& one) { check_panel(one); }, panel);
}

ColorRange color_range(const FieldPanel& panel) {
  if (panel.range) return *panel.range;
  const auto values = panel.field.detach().to(torch::kCPU, torch::kFloat64);
  const auto finite = values.masked_select(torch::isfinite(values));
  if (finite.numel() == 0) return {0, 0};
  double low = finite.min().item<double>(), high = finite.max().item<double>();
  if (panel.colors == Colors::diverging) {
    high = std::max(std::abs(low), std::abs(high));
    low = -high;
  }
  return {low, high};
}

}  // namespace piddm
