#pragma once
// What line, bar and scatter charts have in common: the frame with ticks and grid, title, labels, legend, and a note on
// what could not be shown.

#include <string>
#include <vector>

#include "piddm/plot/axis.h"
#include "piddm/plot/canvas.h"

namespace piddm {

inline constexpr int kPictureMargin = 22;
inline constexpr Rgb kFrame{150, 156, 168};
inline constexpr TextStyle kTitleText{.scale = 2};
inline constexpr TextStyle kCentredText{.anchor = Anchor::middle};

struct ChartSetup {
  ChartAxis x = {}, y = {};
  std::string title = {}, x_label = {}, y_label = {};
  std::vector<std::string> legend = {};  ///< one name per series, whose colour is curve_color of its index; empty
                                         ///< names are left out
  std::string marks_name = "points";     ///< what the note calls the marks
  size_t marks = 0, hidden = 0;          ///< how many there are, and how many of them the axes cannot show
  int plot_width = 640;                  ///< of the frame, in pixels; it is 360 high
  bool grid_x = true;                    ///< lines at the ticks of x
};

/// A frame to draw marks in.
struct Chart {
  Canvas canvas;
  ChartAxis x, y;
  Rect plot;

  double pixel_x(double value) const { return plot.x + x.position(value) * plot.width; }
  double pixel_y(double value) const { return plot.bottom() - y.position(value) * plot.height; }
  bool shows(double vx, double vy) const { return x.shows(vx) && y.shows(vy); }
  Point at(double vx, double vy) const { return {pixel_x(vx) + 0.5, pixel_y(vy) + 0.5}; }  ///< NaN if not shown

  /// A bar with caps from vy - error to vy + error, cut at the frame; nothing unless error is positive. The other goes
  /// along x. Returns what it covers.
  Rect error_bar_y(double vx, double vy, double error, Rgb color);
  Rect error_bar_x(double vx, double vy, double error, Rgb color);
};

/// Everything but the marks. Without a mark to show, the frame says "no data".
Chart start_chart(const ChartSetup& setup);

/// Adds a value and the ends of its error bar to what an axis must span; on a log axis a bar counts down to a tenth of
/// the value at most.
void append_with_error(std::vector<double>& values, double value, double error, bool log);

}  // namespace piddm
