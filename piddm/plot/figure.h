#pragma once
// A figure as data: rows of panels, no drawing yet. page.h lays it out, picture_file.h writes it, figure_file.h keeps
// it for another machine.
//
// Orientation of every field: H = x runs to the right, W = y (or time) upwards, so the entry [0,0] is at the lower
// left.

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "piddm/core/tensor.h"
#include "piddm/plot/axis.h"
#include "piddm/plot/colormap.h"

namespace piddm {

using ColorRange = std::pair<double, double>;  ///< lowest and highest value

/// An axis of a field in the coordinates of the equation; without a range (low = high) nothing is written at it.
struct FieldAxis {
  std::string label = {};  ///< "x", or "x (m)" with its unit
  double low = 0, high = 0;
  std::vector<Tick> ticks = {};  ///< none: chosen when drawn
};

/// A field as colours, with ticks and a colour bar. Panels of one column, or neighbours in a row, that have the same
/// range and colours share a bar.
struct FieldPanel {
  std::string title = {};
  Tensor field = {};                     ///< [H,W]
  std::optional<ColorRange> range = {};  ///< ends of the bar; values outside take the end colours. None: the finite
                                         ///< values, symmetric about zero where colours diverge
  Colors colors = Colors::sequential;
  bool gaps = false;  ///< NaN stands for "not known": drawn grey and not counted
  FieldAxis x = {}, y = {};
  std::string unit = {};                                ///< at the colour bar
  double aspect = 0;                                    ///< width over height; 0: that of the grid
  double width = 0;                                     ///< of the frame in units; 0: what fits the page
  std::vector<std::pair<double, double>> sensors = {};  ///< drawn as dots, in coordinates of the axes
};

struct NumberMark {
  std::string name;  ///< "true", "found"
  double value = 0;
  double error = 0;  ///< half length of an error bar; 0: none
};

/// Numbers on one axis: a line per mark, and a strip of points below them.
struct NumberStrip {
  std::string title = {};
  std::string label = {};  ///< of the axis, with the unit
  std::vector<NumberMark> marks = {};
  std::vector<double> points = {};
  std::optional<ColorRange> range = {};  ///< of the axis; None: what is shown
};

struct Curve {
  std::string name;  ///< in the legend; a curve without a name is left out there
  std::vector<double> x = {}, y = {};
  std::vector<double> error = {};           ///< half lengths of error bars along y: one per point, or none at all
  std::vector<double> low = {}, high = {};  ///< a band around the curve: one per point, or none at all
};

/// Curves in one frame. Colour, dashes and markers (up to 30 points) tell them apart. Points that are not finite, or
/// not positive on a log axis, leave a gap and are counted below the chart.
struct LineChart {
  std::string title = {}, x_label = {}, y_label = {};
  std::vector<Curve> curves = {};
  bool log_x = false, log_y = false;
  std::optional<ColorRange> y_range = {};  ///< None: what is shown
};

struct BarSeries {
  std::string name;                 ///< in the legend
  std::vector<double> values = {};  ///< one per group
  std::vector<double> errors = {};  ///< half lengths of error bars: one per group, or none at all
};

/// For each group its bars side by side, one of each series. Bars stand on zero; with log_y they stand on the frame,
/// which begins below the smallest. Where they do not fit the page's width, groups go on in a second frame below.
struct BarChart {
  std::string title = {}, y_label = {};
  std::vector<std::string> groups = {};
  std::vector<BarSeries> series = {};
  bool log_y = false;
};

struct ScatterPoint {
  std::string label;  ///< beside the point; may be empty
  double x = 0, y = 0;
  double x_error = 0, y_error = 0;  ///< half lengths of error bars; 0: none
};

struct ScatterSeries {
  std::string name;  ///< in the legend; a series without a name is left out there
  std::vector<ScatterPoint> points = {};
};

/// Labelled points, e.g. error against wall time of several methods.
struct ScatterChart {
  std::string title = {}, x_label = {}, y_label = {};
  std::vector<ScatterSeries> series = {};
  bool log_x = false, log_y = false;
  bool frontier = false;  ///< a line through the points that no other beats in both x and y, smaller being better
};

using Panel = std::variant<FieldPanel, NumberStrip, LineChart, BarChart, ScatterChart>;

struct FigureRow {
  std::string label = {};  ///< upright at the left
  std::vector<Panel> panels = {};
};

struct Figure {
  std::string title = {};
  std::vector<FigureRow> rows = {};
};

/// Panels in rows of `columns`.
Figure in_rows(const std::string& title, std::vector<Panel> panels, size_t columns);

/// A UsageError or DataError that names the panel: a field that is not [H,W], lists of different lengths, a range that
/// runs backwards.
void check_figure(const Figure& figure);

/// The ends of a field's colour bar; {0, 0} where nothing is finite.
ColorRange color_range(const FieldPanel& panel);

}  // namespace piddm
