#pragma once
// Labelled points, e.g. error against wall time of several methods.

#include <string>
#include <vector>

#include "piddm/plot/canvas.h"

namespace piddm {

struct ScatterPoint {
  std::string label;  ///< beside the point; may be empty
  double x = 0, y = 0;
  double x_error = 0, y_error = 0;  ///< half lengths of error bars; 0: none
};

struct ScatterSeries {
  std::string name;  ///< in the legend; a series without a name is left out there
  std::vector<ScatterPoint> points{};
};

struct ScatterStyle {
  bool log_x = false, log_y = false;
  bool frontier = false;  ///< a line through the points that no other beats in both x and y, smaller being better
};

/// Labels stand to the right of their points, or where else there is room. Points that are not finite, or not positive
/// on a log axis, are counted below the chart.
Canvas scatter_chart(const std::vector<ScatterSeries>& series, const std::string& title, const std::string& x_label,
                     const std::string& y_label, const ScatterStyle& style = {});

}  // namespace piddm
