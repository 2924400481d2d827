#include "piddm/plot/page.h"

#include <algorithm>
#include <cmath>

namespace piddm {

namespace {

constexpr double kLeastSide = 120, kMostSide = 200, kColumnGap = 12, kRowGap = 12, kRowLabel = 20, kBarRoom = 62;
constexpr double kLeastAspect = 0.25, kMostAspect = 4;
constexpr double kChartAspect = 0.6, kLeastChart = 200, kChartMargins = 76;

bool is_field(const Panel& panel) { return std::holds_alternative<FieldPanel>(panel); }
bool is_strip(const Panel& panel) { return std::holds_alternative<NumberStrip>(panel); }

/// Long bar charts in parts, each a row of its own.
std::vector<FigureRow> with_parts(const Figure& figure) {
  std::vector<FigureRow> rows;
  for (const auto& row : figure.rows) {
    const auto* bars = row.panels.size() == 1 ? std::get_if<BarChart>(row.panels.data()) : nullptr;
    if (!bars) {
      rows.push_back(row);
      continue;
    }
    for (auto& part : cut_to_width(*bars, kPageWidth - 2 * kPageMargin)) rows.push_back({row.label, {std::move(part)}});
  }
  return rows;
}

double aspect_of(const FieldPanel& panel) {
  const double grid = static_cast<double>(panel.field.size(0)) / static_cast<double>(panel.field.size(1));
  return std::clamp(panel.aspect > 0 ? panel.aspect : grid, kLeastAspect, kMostAspect);
}

Size field_size(double side, double aspect) {
  return aspect >= 1 ? Size{side * std::min(aspect, 2.0), side * std::min(aspect, 2.0) / aspect}
                     : Size{side * std::max(aspect, 0.5), side * std::max(aspect, 0.5) / aspect};
}

/// A shared aspect: that of the first field, so that frames of a page line up.
double shared_aspect(const std::vector<FigureRow>& rows) {
  for (const auto& row : rows)
    for (const auto& panel : row.panels)
      if (const auto* field = std::get_if<FieldPanel>(&panel)) return aspect_of(*field);
  return 1;
}

void set_sizes(Page& page) {
  size_t columns = 1;
  for (const auto& row : page.rows) columns = std::max(columns, row.panels.size());
  const auto count = static_cast<double>(columns);
  const double room = (kPageWidth - 2 * kPageMargin - kRowLabel) / count - kColumnGap;
  const double side = std::clamp(room - kBarRoom, kLeastSide, kMostSide);
  const Size field = field_size(side, shared_aspect(page.rows));
  const double chart = std::clamp(room - kChartMargins, kLeastChart, 640.0);
  for (size_t r = 0; r < page.rows.size(); ++r)
    for (size_t c = 0; c < page.rows[r].panels.size(); ++c) {
      const auto& panel = page.rows[r].panels[c];
      auto& place = page.places[r][c];
      place.frame = is_field(panel) || is_strip(panel) ? field : Size{chart, kChartAspect * std::min(chart, 520.0)};
      const auto* one = std::get_if<FieldPanel>(&panel);
      if (!one) continue;
      place.range = color_range(*one);
      if (one->width > 0) place.frame = {one->width, one->width / aspect_of(*one)};
    }
}

bool same_scale(const Page& page, std::pair<size_t, size_t> a, std::pair<size_t, size_t> b) {
  const auto& one = std::get<FieldPanel>(page.rows[a.first].panels[a.second]);
  const auto& other = std::get<FieldPanel>(page.rows[b.first].panels[b.second]);
  return page.places[a.first][a.second].range == page.places[b.first][b.second].range && one.colors == other.colors &&
         one.unit == other.unit;
}

bool same_axis(const FieldAxis& a, const FieldAxis& b) {
  return a.label == b.label &&
         std::abs(a.low - b.low) + std::abs(a.high - b.high) < 0.1 * std::abs(a.high - a.low) + 1e-300;
}

/// The rows in which this column has a field.
std::vector<size_t> fields_in(const Page& page, size_t column) {
  std::vector<size_t> rows;
  for (size_t r = 0; r < page.rows.size(); ++r)
    if (column < page.rows[r].panels.size() && is_field(page.rows[r].panels[column])) rows.push_back(r);
  return rows;
}

/// One bar below a column whose fields all have the same scale.
bool share_in_column(Page& page, size_t column) {
  const auto rows = fields_in(page, column);
  if (rows.size() < 2) return false;
  for (const size_t r : rows)
    if (!same_scale(page, {rows.front(), column}, {r, column})) return false;
  for (const size_t r : rows) page.places[r][column].bar = r == rows.back() ? Bar::below : Bar::none;
  return true;
}

const FieldPanel* field_at(const Page& page, size_t r, size_t c) {
  return r < page.rows.size() && c < page.rows[r].panels.size() ? std::get_if<FieldPanel>(&page.rows[r].panels[c])
                                                                : nullptr;
}

void share_bars_and_axes(Page& page) {
  size_t columns = 0;
  for (const auto& row : page.rows) columns = std::max(columns, row.panels.size());
  std::vector<bool> shared(columns);
  for (size_t c = 0; c < columns; ++c) shared[c] = share_in_column(page, c);
  for (size_t r = 0; r < page.rows.size(); ++r)
    for (size_t c = 0; c < page.rows[r].panels.size(); ++c) {
      const auto* field = field_at(page, r, c);
      if (!field) continue;
      auto& place = page.places[r][c];
      if (!shared[c])
        place.bar =
            c + 1 < columns && !shared[c + 1] && field_at(page, r, c + 1) && same_scale(page, {r, c}, {r, c + 1})
                ? Bar::none
                : Bar::right;
      const auto* left = c > 0 ? field_at(page, r, c - 1) : nullptr;
      const auto* below = field_at(page, r + 1, c);
      place.y_axis = !(left && same_axis(left->y, field->y));
      place.x_axis = !(below && same_axis(below->x, field->x));
      const auto* above = r > 0 ? field_at(page, r - 1, c) : nullptr;
      place.title = !(above && above->title == field->title);
    }
}

Margins widest(const Margins& a, const Margins& b) {
  return {std::max(a.left, b.left), std::max(a.top, b.top), std::max(a.right, b.right), std::max(a.bottom, b.bottom)};
}

/// Margins and frame of a row or column: the largest of its panels'.
struct Track {
  Margins margins = {};
  Size frame = {};
};

void grow(Track& track, const Placement& place) {
  track.margins = widest(track.margins, place.margins);
  track.frame = {std::max(track.frame.width, place.frame.width), std::max(track.frame.height, place.frame.height)};
}

void place_panels(Page& page, bool labelled) {
  std::vector<Track> columns, rows(page.rows.size());
  for (size_t r = 0; r < page.rows.size(); ++r)
    for (size_t c = 0; c < page.rows[r].panels.size(); ++c) {
      auto& place = page.places[r][c];
      place.margins = std::visit([&](const auto& panel) { return margins_of(panel, place); }, page.rows[r].panels[c]);
      if (columns.size() <= c) columns.emplace_back();
      grow(columns[c], place);
      grow(rows[r], place);
    }
  const double left = kPageMargin + (labelled ? kRowLabel : 0);
  double width = left;
  for (const auto& column : columns)
    width += column.margins.left + column.frame.width + column.margins.right + kColumnGap;
  width = std::max(width - (columns.empty() ? 0 : kColumnGap) + kPageMargin, columns.empty() ? 400.0 : 320.0);
  double y = kPageMargin;
  if (!page.title.empty()) {
    const auto lines = wrapped(page.title, width - 2 * kPageMargin, kTitleText);
    y += static_cast<double>(lines.size()) * line_height(kTitleText) + 8;
  }
  for (size_t r = 0; r < page.rows.size(); ++r) {
    double x = left;
    y += rows[r].margins.top;
    for (size_t c = 0; c < page.places[r].size(); ++c) {
      auto& place = page.places[r][c];
      x += columns[c].margins.left;
      place.at = {x, y + rows[r].frame.height - place.frame.height, place.frame.width, place.frame.height};
      place.margins.left = columns[c].margins.left;
      x += columns[c].frame.width + columns[c].margins.right + kColumnGap;
    }
    y += rows[r].frame.height + rows[r].margins.bottom + kRowGap;
  }
  page.size = {width, y - (page.rows.empty() ? 0 : kRowGap) + kPageMargin};
}

void draw_row_label(Painter& painter, const std::string& label, const std::vector<Placement>& places) {
  if (label.empty() || places.empty()) return;
  const auto& frame = places.front().at;
  const TextStyle style{.size = 11, .bold = true, .anchor = Anchor::middle, .rotated = true};
  const auto lines = wrapped(label, frame.height + 24, style);
  const double first = kPageMargin + kRowLabel / 2 - 6.0 * static_cast<double>(lines.size() - 1);
  for (size_t i = 0; i < std::min<size_t>(lines.size(), 2); ++i)
    painter.text({first + 12.0 * static_cast<double>(i), frame.centre()}, lines[i], style);
}

}  // namespace

Page lay_out(const Figure& figure) {
  check_figure(figure);
  Page page{.title = figure.title, .rows = with_parts(figure)};
  bool labelled = false;
  for (const auto& row : page.rows) {
    page.places.emplace_back(row.panels.size());
    labelled = labelled || !row.label.empty();
  }
  set_sizes(page);
  share_bars_and_axes(page);
  place_panels(page, labelled);
  return page;
}

void draw_page(Painter& painter, const Page& page) {
  double y = kPageMargin;
  for (const auto& line : wrapped(page.title, page.size.width - 2 * kPageMargin, kTitleText)) {
    painter.text({kPageMargin, y + line_height(kTitleText) / 2}, line, kTitleText);
    y += line_height(kTitleText);
  }
  for (size_t r = 0; r < page.rows.size(); ++r) {
    draw_row_label(painter, page.rows[r].label, page.places[r]);
    for (size_t c = 0; c < page.places[r].size(); ++c)
      std::visit([&](const auto& panel) { draw_panel(painter, panel, page.places[r][c]); }, page.rows[r].panels[c]);
  }
}

double title_height(const std::string& title, double width) {
  if (title.empty()) return 0;
  return static_cast<double>(wrapped(title, width, kPanelTitle).size()) * line_height(kPanelTitle) + 4;
}

void draw_title(Painter& painter, const std::string& title, const Rect& frame, double top) {
  const auto lines = wrapped(title, frame.width, kPanelTitle);
  double y = frame.y - top - 4 - line_height(kPanelTitle) * (static_cast<double>(lines.size()) - 0.5);
  for (const auto& line : lines) {
    painter.text({frame.middle(), y}, line, kPanelTitle);
    y += line_height(kPanelTitle);
  }
}

}  // namespace piddm
