#include "piddm/plot/plot.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "piddm/core/error.h"
#include "piddm/core/table.h"
#include "piddm/plot/chart.h"

namespace piddm {
namespace {

// --- contact sheet ---

constexpr int kLeastSide = 144, kBarHeight = 8, kLineHeight = 14;
constexpr int kTitleGap = 8, kBarGap = 7, kLabelGap = 5, kColumnGap = 26, kRowGap = 24, kAxisGap = 5;

/// A panel ready to be drawn.
struct Cell {
  std::string title, x_label, y_label;
  HeatMap heat;
  int64_t non_finite = 0;
  bool has_values = true;

  int map_width() const { return static_cast<int>(heat.field.size(0)) * heat.scale_x; }
  int map_height() const { return static_cast<int>(heat.field.size(1)) * heat.scale_y; }
  int axis_room() const {
    const int widest = std::max(text_width(x_label), text_width(y_label));
    return widest > 0 ? widest + kAxisGap : 0;
  }
  int width() const { return std::max(map_width() + 2 * axis_room(), text_width(title)); }
};

int enlargement(int64_t points) { return static_cast<int>((kLeastSide + points - 1) / points); }

void set_range(Cell& cell, const Panel& panel, const Tensor& finite_values) {
  if (panel.range) {
    std::tie(cell.heat.low, cell.heat.high) = *panel.range;
  } else if (finite_values.numel() > 0) {
    cell.heat.low = finite_values.min().item<double>();
    cell.heat.high = finite_values.max().item<double>();
    if (panel.colors == Colors::diverging) {
      cell.heat.high = std::max(std::abs(cell.heat.low), std::abs(cell.heat.high));
      cell.heat.low = -cell.heat.high;
    }
  } else {
    cell.has_values = false;
  }
  require<UsageError>(cell.heat.low <= cell.heat.high, "[contact sheet] panel '{}': range from {} to {}", panel.title,
                      cell.heat.low, cell.heat.high);
}

constexpr Rgb kUnknown{214, 214, 214};

Cell make_cell(const Panel& panel) {
  require<DataError>(panel.field.defined() && panel.field.dim() == 2 && panel.field.numel() > 0,
                     "[contact sheet] panel '{}': expected a field (H,W), got {}", panel.title,
                     panel.field.defined() ? shape_string(panel.field) : "nothing");
  Cell cell{.title = panel.title,
            .x_label = panel.x_label,
            .y_label = panel.y_label,
            .heat = {.field = panel.field.detach().to(torch::kCPU, torch::kFloat64), .colors = panel.colors}};
  cell.heat.scale_x = enlargement(panel.field.size(0));
  cell.heat.scale_y = enlargement(panel.field.size(1));
  const Tensor finite_values = cell.heat.field.masked_select(torch::isfinite(cell.heat.field));
  cell.non_finite = panel.gaps ? 0 : cell.heat.field.numel() - finite_values.numel();
  if (panel.gaps) cell.heat.non_finite = kUnknown;
  set_range(cell, panel, finite_values);
  return cell;
}

void draw_bar(Canvas& canvas, const Rect& bar, const Cell& cell) {
  const Tensor ramp = (torch::arange(bar.width, torch::kFloat64) + 0.5).unsqueeze(1) / bar.width;
  canvas.heat_map(bar.x, bar.y, {.field = ramp, .colors = cell.heat.colors, .scale_y = bar.height});
  canvas.outline_rect({bar.x - 1, bar.y - 1, bar.width + 2, bar.height + 2}, kFrame);
  int y = bar.bottom() + kLabelGap;
  const int middle = bar.x + bar.width / 2;
  if (!cell.has_values) {
    canvas.text(middle, y, format_number(NAN), kCentredText);
  } else if (cell.heat.low == cell.heat.high) {
    canvas.text(middle, y, format_number(cell.heat.low), kCentredText);
  } else {
    canvas.text(bar.x, y, format_number(cell.heat.low));
    canvas.text(bar.right(), y, format_number(cell.heat.high), {.anchor = Anchor::end});
  }
  if (cell.non_finite == 0) return;
  y += kLineHeight;
  canvas.text(middle, y, fmt::format("{} non-finite", cell.non_finite),
              {.color = {200, 0, 150}, .anchor = Anchor::middle});
}

/// `column` is the full width of the panel's column, `map_height` that of its row; maps stand on the row's common line.
void draw_cell(Canvas& canvas, int x, int y, int column, int map_height, const Cell& cell) {
  const int left = x + (column - cell.map_width()) / 2, middle = x + column / 2;
  const int map_bottom = y + text_height() + kTitleGap + map_height, map_top = map_bottom - cell.map_height();
  canvas.text(middle, map_top - kTitleGap - text_height(), cell.title, kCentredText);
  canvas.heat_map(left, map_top, cell.heat);
  canvas.outline_rect({left - 1, map_top - 1, cell.map_width() + 2, cell.map_height() + 2}, kFrame);
  canvas.text(left + cell.map_width() + kAxisGap, map_bottom - text_height(), cell.x_label, {.color = kFaintInk});
  canvas.text(left - kAxisGap, map_top, cell.y_label, {.color = kFaintInk, .anchor = Anchor::end});
  draw_bar(canvas, {left, map_bottom + kBarGap, cell.map_width(), kBarHeight}, cell);
}

struct SheetLayout {
  int left = kPictureMargin, top = kPictureMargin, width = 0, height = 0;
  std::vector<int> columns;      ///< width of each
  std::vector<int> map_heights;  ///< of each row
  std::vector<int> row_heights;  ///< with title, bar and labels
};

SheetLayout arrange(const std::vector<std::vector<Cell>>& rows, const std::string& title, bool labelled) {
  SheetLayout layout;
  if (labelled) layout.left += text_height() + 16;
  if (!title.empty()) layout.top += text_height(kTitleText) + 20;
  for (const auto& row : rows) {
    int map_height = 0, lines = 1;
    for (size_t i = 0; i < row.size(); ++i) {
      if (layout.columns.size() <= i) layout.columns.push_back(0);
      layout.columns[i] = std::max(layout.columns[i], row[i].width());
      map_height = std::max(map_height, row[i].map_height());
      if (row[i].non_finite > 0) lines = 2;
    }
    layout.map_heights.push_back(map_height);
    layout.row_heights.push_back(text_height() + kTitleGap + map_height + kBarGap + kBarHeight + kLabelGap +
                                 text_height() + (lines - 1) * kLineHeight);
  }
  const auto extent = [](const std::vector<int>& sizes, int gap) {
    return std::accumulate(sizes.begin(), sizes.end(), 0) + gap * std::max(0, static_cast<int>(sizes.size()) - 1);
  };
  layout.width =
      std::max(layout.left + extent(layout.columns, kColumnGap), kPictureMargin + text_width(title, kTitleText)) +
      kPictureMargin;
  layout.height = layout.top + extent(layout.row_heights, kRowGap) + kPictureMargin;
  return layout;
}

// --- line chart ---

constexpr size_t kMarkedPoints = 30;

double error_of(const Curve& curve, size_t i) { return curve.error.empty() ? 0 : curve.error[i]; }

void check(const Curve& curve) {
  require<UsageError>(curve.x.size() == curve.y.size(), "[line chart] curve '{}': {} x values and {} y values",
                      curve.name, curve.x.size(), curve.y.size());
  require<UsageError>(curve.error.empty() || curve.error.size() == curve.y.size(),
                      "[line chart] curve '{}': {} errors and {} y values", curve.name, curve.error.size(),
                      curve.y.size());
}

/// Axes around the points that both of them can show, and how many there are and are not.
ChartSetup span_curves(const std::vector<Curve>& curves, bool log_x, bool log_y) {
  const ChartAxis any_x{.log = log_x}, any_y{.log = log_y};
  ChartSetup setup;
  std::vector<double> x_values, y_values;
  for (const Curve& curve : curves) {
    check(curve);
    setup.legend.push_back(curve.name);
    setup.marks += curve.x.size();
    for (size_t i = 0; i < curve.x.size(); ++i) {
      if (!any_x.shows(curve.x[i]) || !any_y.shows(curve.y[i])) continue;
      x_values.push_back(curve.x[i]);
      append_with_error(y_values, curve.y[i], error_of(curve, i), log_y);
    }
  }
  setup.hidden = setup.marks - x_values.size();
  setup.x = make_axis(x_values, log_x, 0.0);
  setup.y = make_axis(y_values, log_y, 0.05);
  return setup;
}

void draw_curve(Chart& chart, const Curve& curve, Rgb color) {
  std::vector<Point> points;
  for (size_t i = 0; i < curve.x.size(); ++i) {
    const bool shown = chart.shows(curve.x[i], curve.y[i]);
    points.push_back(shown ? chart.at(curve.x[i], curve.y[i]) : Point{NAN, NAN});
    if (shown) chart.error_bar_y(curve.x[i], curve.y[i], error_of(curve, i), color);
  }
  chart.canvas.polyline(points, color, 1.8);
  const auto gap = [&](size_t i) { return i >= points.size() || !std::isfinite(points[i].x); };
  for (size_t i = 0; i < points.size(); ++i)
    if (points.size() <= kMarkedPoints || (gap(i - 1) && gap(i + 1))) chart.canvas.polyline({points[i]}, color, 6);
}

}  // namespace

Canvas contact_sheet(const std::vector<std::vector<Panel>>& rows, const std::string& title,
                     const std::vector<std::string>& row_labels) {
  require<UsageError>(row_labels.empty() || row_labels.size() == rows.size(),
                      "[contact sheet] {} row labels for {} rows", row_labels.size(), rows.size());
  std::vector<std::vector<Cell>> cells;
  for (const auto& row : rows) {
    cells.emplace_back();
    for (const Panel& panel : row) cells.back().push_back(make_cell(panel));
  }
  const SheetLayout layout = arrange(cells, title, !row_labels.empty());
  Canvas canvas(layout.width, layout.height);
  canvas.text(kPictureMargin, kPictureMargin, title, kTitleText);
  int y = layout.top;
  for (size_t r = 0; r < cells.size(); ++r) {
    if (!row_labels.empty())
      canvas.text(kPictureMargin, y + text_height() + kTitleGap + layout.map_heights[r] / 2, row_labels[r],
                  {.bold = true, .anchor = Anchor::middle, .rotated = true});
    int x = layout.left;
    for (size_t c = 0; c < cells[r].size(); ++c) {
      draw_cell(canvas, x, y, layout.columns[c], layout.map_heights[r], cells[r][c]);
      x += layout.columns[c] + kColumnGap;
    }
    y += layout.row_heights[r] + kRowGap;
  }
  return canvas;
}

Canvas line_chart(const std::vector<Curve>& curves, const std::string& title, const std::string& x_label,
                  const std::string& y_label, bool log_y, bool log_x) {
  ChartSetup setup = span_curves(curves, log_x, log_y);
  setup.title = title;
  setup.x_label = x_label;
  setup.y_label = y_label;
  Chart chart = start_chart(setup);
  for (size_t i = 0; i < curves.size(); ++i) draw_curve(chart, curves[i], curve_color(static_cast<int>(i)));
  return std::move(chart.canvas);
}

Canvas arrange_pictures(const std::vector<Canvas>& pictures, int columns) {
  require<UsageError>(!pictures.empty() && columns > 0, "[arrange] {} pictures in {} columns", pictures.size(),
                      columns);
  const auto per_row = static_cast<size_t>(columns);
  int width = 0, height = 0;
  std::vector<Rect> places;
  for (size_t first = 0; first < pictures.size(); first += per_row) {
    int x = 0, tallest = 0;
    for (size_t i = first; i < std::min(first + per_row, pictures.size()); ++i) {
      places.push_back({x, height, pictures[i].width(), pictures[i].height()});
      x += pictures[i].width();
      tallest = std::max(tallest, pictures[i].height());
    }
    width = std::max(width, x);
    height += tallest;
  }
  Canvas canvas(width, height);
  for (size_t i = 0; i < pictures.size(); ++i) canvas.paste(places[i].x, places[i].y, pictures[i]);
  return canvas;
}

}  // namespace piddm
