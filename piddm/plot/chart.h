#pragma once
// What line, bar and scatter charts have in common: the frame with ticks and grid, title, labels, legend above the
// frame, and a note on what could not be shown.

#include <string>
#include <vector>

#include "piddm/plot/axis.h"
#include "piddm/plot/page.h"

namespace piddm {

/// How a series is told from the others, in colour and in grey.
struct SeriesStyle {
  Rgb color;
  std::vector<double> dashes;
  int shape = 0;    ///< of its markers
  int pattern = 0;  ///< of its bars
};
SeriesStyle series_style(size_t index);

enum class Swatch { line, bar, marker };

struct Chart {
  std::string title, x_label, y_label;
  ChartAxis x = {}, y = {};
  std::vector<std::string> legend = {};  ///< one name per series; empty names are left out
  Swatch swatch = Swatch::line;
  bool markers = false;               ///< also on lines
  std::string marks_name = "points";  ///< what the note calls the marks
  size_t marks = 0, hidden = 0;       ///< how many there are, and how many of them the axes cannot show
  bool grid_x = true;                 ///< lines at the ticks of x
  Rect frame = {};

  double pixel_x(double value) const { return frame.x + x.position(value) * frame.width; }
  double pixel_y(double value) const { return frame.bottom() - y.position(value) * frame.height; }
  bool shows(double vx, double vy) const { return x.shows(vx) && y.shows(vy); }
  Point at(double vx, double vy) const { return {pixel_x(vx), pixel_y(vy)}; }
};

Margins margins_of(const Chart& chart, const Size& frame);

/// Everything but the marks. Without a mark to show, the frame says "no data".
void draw_frame(Painter& painter, const Chart& chart);

/// A bar with caps from vy - error to vy + error, cut at the frame; nothing unless error is positive. The other goes
/// along x. Returns what it covers.
Rect draw_error_y(Painter& painter, const Chart& chart, double vx, double vy, double error, Rgb color);
Rect draw_error_x(Painter& painter, const Chart& chart, double vx, double vy, double error, Rgb color);

/// Adds a value and the ends of its error bar to what an axis must span; on a log axis a bar counts down to a tenth of
/// the value at most.
void append_with_error(std::vector<double>& values, double value, double error, bool log);

}  // namespace piddm
