#pragma once
// Axes of charts: the range that shows the data, and readable tick marks in it.

#include <string>
#include <vector>

namespace piddm {

struct Tick {
  double value = 0;
  std::string label;  ///< empty for minor ticks
};

struct ChartAxis {
  double low = 0, high = 1;
  bool log = false;
  std::vector<Tick> ticks{};  ///< ascending, all within [low, high]

  bool shows(double value) const;       ///< finite, and positive on a log axis
  double position(double value) const;  ///< 0 at low, 1 at high
};

/// An axis around the values it can show, with `padding` (share of the range) left free at both ends.
/// Linear: ticks at 1, 2 or 5 times a power of ten. Log: decades, with minor ticks at 2..9 while there are few of them;
/// below one decade linear ticks on the log scale; about `wanted` of them. No values give [0,1] (log: [0.1,1]); equal
/// values are put in the middle.
ChartAxis make_axis(const std::vector<double>& values, bool log, double padding, int wanted = 6);

}  // namespace piddm
