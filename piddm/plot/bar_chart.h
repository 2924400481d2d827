#pragma once
// Bars in groups, e.g. a metric of several methods on several PDEs.

#include <string>
#include <vector>

#include "piddm/plot/canvas.h"

namespace piddm {

struct BarSeries {
  std::string name;              ///< in the legend
  std::vector<double> values{};  ///< one a group
  std::vector<double> errors{};  ///< half lengths of error bars: one a group, or none at all
};

/// For each group its bars side by side, one of each series. Bars stand on zero; with log_y they stand on the frame,
/// which begins below the smallest. The chart grows with the number of bars and the width of the groups' names. Values
/// that are not finite, or not positive when log_y is set, have no bar and are counted below the chart.
Canvas bar_chart(const std::vector<std::string>& groups, const std::vector<BarSeries>& series, const std::string& title,
                 const std::string& y_label, bool log_y = false);

}  // namespace piddm
