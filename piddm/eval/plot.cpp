#include "piddm/eval/plot.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "piddm/core/error.h"
#include "piddm/eval/axis.h"
#include "piddm/eval/table.h"

namespace piddm {
namespace {

constexpr int kMargin = 22;
constexpr Rgb kFrame{150, 156, 168}, kGrid{222, 226, 233}, kMinorGrid{241, 243, 246};
constexpr TextStyle kTitle{.scale = 2};
constexpr TextStyle kCentred{.anchor = Anchor::middle};

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
  for (int i = 0; i < bar.width; ++i)
    canvas.fill_rect({bar.x + i, bar.y, 1, bar.height}, map_color(cell.heat.colors, (i + 0.5) / bar.width));
  canvas.outline_rect({bar.x - 1, bar.y - 1, bar.width + 2, bar.height + 2}, kFrame);
  int y = bar.bottom() + kLabelGap;
  const int middle = bar.x + bar.width / 2;
  if (!cell.has_values) {
    canvas.text(middle, y, format_number(NAN), kCentred);
  } else if (cell.heat.low == cell.heat.high) {
    canvas.text(middle, y, format_number(cell.heat.low), kCentred);
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
  canvas.text(middle, map_top - kTitleGap - text_height(), cell.title, kCentred);
  canvas.heat_map(left, map_top, cell.heat);
  canvas.outline_rect({left - 1, map_top - 1, cell.map_width() + 2, cell.map_height() + 2}, kFrame);
  canvas.text(left + cell.map_width() + kAxisGap, map_bottom - text_height(), cell.x_label, {.color = kFaintInk});
  canvas.text(left - kAxisGap, map_top, cell.y_label, {.color = kFaintInk, .anchor = Anchor::end});
  draw_bar(canvas, {left, map_bottom + kBarGap, cell.map_width(), kBarHeight}, cell);
}

struct SheetLayout {
  int left = kMargin, top = kMargin, width = 0, height = 0;
  std::vector<int> columns;      ///< width of each
  std::vector<int> map_heights;  ///< of each row
  std::vector<int> row_heights;  ///< with title, bar and labels
};

SheetLayout arrange(const std::vector<std::vector<Cell>>& rows, const std::string& title, bool labelled) {
  SheetLayout layout;
  if (labelled) layout.left += text_height() + 16;
  if (!title.empty()) layout.top += text_height(kTitle) + 20;
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
      std::max(layout.left + extent(layout.columns, kColumnGap), kMargin + text_width(title, kTitle)) + kMargin;
  layout.height = layout.top + extent(layout.row_heights, kRowGap) + kMargin;
  return layout;
}

// --- line chart ---

constexpr int kPlotWidth = 640, kPlotHeight = 360, kTickGap = 7, kSwatch = 22, kLegendLine = 20, kNoteLine = 22;
constexpr size_t kMarkedPoints = 30;

struct ChartLayout {
  Rect plot;
  int width = 0, height = 0;
};

struct Chart {
  ChartAxis x, y;
  Rect plot;

  double pixel_x(double value) const { return plot.x + x.position(value) * plot.width; }
  double pixel_y(double value) const { return plot.bottom() - y.position(value) * plot.height; }
};

int widest_label(const ChartAxis& axis) {
  int width = 0;
  for (const Tick& tick : axis.ticks) width = std::max(width, text_width(tick.label));
  return width;
}

int legend_width(const std::vector<Curve>& curves) {
  int width = 0;
  for (const Curve& curve : curves)
    if (!curve.name.empty()) width = std::max(width, 20 + kSwatch + 8 + text_width(curve.name));
  return width;
}

ChartLayout arrange(const Chart& chart, const std::vector<Curve>& curves, const std::string& title, bool x_label,
                    bool y_label, bool note) {
  ChartLayout layout;
  layout.plot = {kMargin + (y_label ? text_height() + 14 : 0) + widest_label(chart.y) + kTickGap,
                 kMargin + (title.empty() ? 0 : text_height(kTitle) + 20), kPlotWidth, kPlotHeight};
  const int half_label = widest_label(chart.x) / 2;
  layout.width =
      std::max(layout.plot.right() + std::max(legend_width(curves), half_label), kMargin + text_width(title, kTitle)) +
      kMargin;
  const int below_plot =
      layout.plot.bottom() + kTickGap + text_height() + (x_label ? 14 + text_height() : 0) + (note ? kNoteLine : 0);
  layout.height = std::max(below_plot, layout.plot.y + static_cast<int>(curves.size()) * kLegendLine) + kMargin;
  return layout;
}

/// The points an axis takes its range from: those that both axes can show.
std::vector<double> shown_values(const std::vector<Curve>& curves, bool log_x, bool log_y, bool of_x) {
  const ChartAxis any_x{.log = log_x}, any_y{.log = log_y};
  std::vector<double> values;
  for (const Curve& curve : curves) {
    require<UsageError>(curve.x.size() == curve.y.size(), "[line chart] curve '{}': {} x values and {} y values",
                        curve.name, curve.x.size(), curve.y.size());
    for (size_t i = 0; i < curve.x.size(); ++i)
      if (any_x.shows(curve.x[i]) && any_y.shows(curve.y[i])) values.push_back(of_x ? curve.x[i] : curve.y[i]);
  }
  return values;
}

void draw_axes(Canvas& canvas, const Chart& chart) {
  const Rect& plot = chart.plot;
  for (const bool minor : {true, false}) {
    const Rgb color = minor ? kMinorGrid : kGrid;
    for (const Tick& tick : chart.x.ticks)
      if (tick.label.empty() == minor)
        canvas.fill_rect({static_cast<int>(std::lround(chart.pixel_x(tick.value))), plot.y, 1, plot.height}, color);
    for (const Tick& tick : chart.y.ticks)
      if (tick.label.empty() == minor)
        canvas.fill_rect({plot.x, static_cast<int>(std::lround(chart.pixel_y(tick.value))), plot.width, 1}, color);
  }
  for (const Tick& tick : chart.x.ticks)
    canvas.text(static_cast<int>(std::lround(chart.pixel_x(tick.value))), plot.bottom() + kTickGap, tick.label,
                kCentred);
  for (const Tick& tick : chart.y.ticks)
    canvas.text(plot.x - kTickGap, static_cast<int>(std::lround(chart.pixel_y(tick.value))) - text_height() / 2,
                tick.label, {.anchor = Anchor::end});
  canvas.fill_rect({plot.x, plot.y, 1, plot.height + 1}, kFrame);
  canvas.fill_rect({plot.x, plot.bottom(), plot.width + 1, 1}, kFrame);
}

void draw_curve(Canvas& canvas, const Chart& chart, const Curve& curve, Rgb color) {
  std::vector<Point> points;
  for (size_t i = 0; i < curve.x.size(); ++i) {
    const bool shown = chart.x.shows(curve.x[i]) && chart.y.shows(curve.y[i]);
    points.push_back(shown ? Point{chart.pixel_x(curve.x[i]) + 0.5, chart.pixel_y(curve.y[i]) + 0.5} : Point{NAN, NAN});
  }
  canvas.polyline(points, color, 1.8);
  const auto gap = [&](size_t i) { return i >= points.size() || !std::isfinite(points[i].x); };
  for (size_t i = 0; i < points.size(); ++i)
    if (points.size() <= kMarkedPoints || (gap(i - 1) && gap(i + 1))) canvas.polyline({points[i]}, color, 6);
}

void draw_legend(Canvas& canvas, const Chart& chart, const std::vector<Curve>& curves) {
  const int x = chart.plot.right() + 20;
  int y = chart.plot.y + 2;
  for (size_t i = 0; i < curves.size(); ++i) {
    if (curves[i].name.empty()) continue;
    const double middle = y + text_height() / 2.0;
    canvas.line({x + 1.5, middle}, {x + kSwatch - 1.5, middle}, curve_color(static_cast<int>(i)), 3);
    canvas.text(x + kSwatch + 8, y, curves[i].name);
    y += kLegendLine;
  }
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
  canvas.text(kMargin, kMargin, title, kTitle);
  int y = layout.top;
  for (size_t r = 0; r < cells.size(); ++r) {
    if (!row_labels.empty())
      canvas.text(kMargin, y + text_height() + kTitleGap + layout.map_heights[r] / 2, row_labels[r],
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
  const auto x_values = shown_values(curves, log_x, log_y, true), y_values = shown_values(curves, log_x, log_y, false);
  size_t points = 0;
  for (const Curve& curve : curves) points += curve.x.size();
  const size_t hidden = points - x_values.size();
  Chart chart{make_axis(x_values, log_x, 0.0), make_axis(y_values, log_y, 0.05), {}};
  const ChartLayout layout = arrange(chart, curves, title, !x_label.empty(), !y_label.empty(), hidden > 0);
  const Rect& plot = chart.plot = layout.plot;

  Canvas canvas(layout.width, layout.height);
  canvas.text(kMargin, kMargin, title, kTitle);
  draw_axes(canvas, chart);
  canvas.text(plot.x + plot.width / 2, plot.bottom() + kTickGap + text_height() + 14, x_label, kCentred);
  canvas.text(kMargin, plot.y + plot.height / 2, y_label, {.anchor = Anchor::middle, .rotated = true});
  for (size_t i = 0; i < curves.size(); ++i) draw_curve(canvas, chart, curves[i], curve_color(static_cast<int>(i)));
  draw_legend(canvas, chart, curves);
  if (hidden == points)
    canvas.text(plot.x + plot.width / 2, plot.y + plot.height / 2, "no data",
                {.color = kFaintInk, .anchor = Anchor::middle});
  if (hidden > 0)
    canvas.text(plot.right(), canvas.height() - kMargin - text_height(),
                fmt::format("{} of {} points not shown: {}", hidden, points,
                            log_y || log_x ? "not positive or not finite" : "not finite"),
                {.color = kFaintInk, .anchor = Anchor::end});
  return canvas;
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
