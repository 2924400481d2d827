#pragma once
// The layout of a figure: columns and rows aligned by their frames, titles wrapped, one colour bar for what shares a
// scale. A page is about 960 units (10 inches) wide; fields have a side of 120 to 200 units (at 192 dpi 240 to 400
// pixels), charts share the width.

#include "piddm/plot/figure.h"
#include "piddm/plot/painter.h"

namespace piddm {

inline constexpr double kPageWidth = 960, kPageMargin = 14;
inline constexpr TextStyle kTitleText{.size = 14, .bold = true};
inline constexpr TextStyle kPanelTitle{.size = 11, .anchor = Anchor::middle};
inline constexpr TextStyle kTickText{.size = 9};
inline constexpr TextStyle kAxisText{.size = 10, .anchor = Anchor::middle};
inline constexpr Rgb kFrame{150, 156, 168};

/// Room around a frame for titles, ticks, labels, bar and legend.
struct Margins {
  double left = 0, top = 0, right = 0, bottom = 0;
};

struct Size {
  double width = 0, height = 0;
};

/// Where a field's colour bar stands.
enum class Bar { none, right, below };

/// What the layout decides for a panel.
struct Placement {
  Size frame = {};
  Rect at = {};  ///< of the frame, on the page
  Margins margins = {};
  Bar bar = Bar::right;
  bool x_axis = true, y_axis = true;  ///< whether the field writes its ticks, or its neighbour does
  bool title = true;                  ///< not where the field above has the same
  std::optional<ColorRange> range = {};
};

/// Panels after long bar charts were cut, each with its place.
struct Page {
  Size size = {};
  std::string title = {};
  std::vector<FigureRow> rows = {};
  std::vector<std::vector<Placement>> places = {};  ///< one per panel
};

/// Checks and lays out.
Page lay_out(const Figure& figure);

void draw_page(Painter& painter, const Page& page);

// --- what the kinds of panels implement (field_panel.cpp, number_strip.cpp, chart.cpp) ---

Margins margins_of(const FieldPanel& panel, const Placement& place);
Margins margins_of(const NumberStrip& panel, const Placement& place);
Margins margins_of(const LineChart& chart, const Placement& place);
Margins margins_of(const BarChart& chart, const Placement& place);
Margins margins_of(const ScatterChart& chart, const Placement& place);

void draw_panel(Painter& painter, const FieldPanel& panel, const Placement& place);
void draw_panel(Painter& painter, const NumberStrip& panel, const Placement& place);
void draw_panel(Painter& painter, const LineChart& chart, const Placement& place);
void draw_panel(Painter& painter, const BarChart& chart, const Placement& place);
void draw_panel(Painter& painter, const ScatterChart& chart, const Placement& place);

/// A panel's title above `top`, wrapped to `width`, and the room it takes.
double title_height(const std::string& title, double width);
void draw_title(Painter& painter, const std::string& title, const Rect& frame, double top);

/// How a panel's number of bars fits the page: a chart per part of the groups.
std::vector<BarChart> cut_to_width(const BarChart& chart, double width);

}  // namespace piddm
