#pragma once
// One of the two axes of a PDE's fields, in the coordinate of its equation, which runs from 0 to `length`.
//
//   cells      x_i = (i + 1/2) h,  h = length/N        the ends of the domain lie half a cell outside
//   nodes      x_i = i h,          h = length/(N-1)    both ends are stored
//   periodic   x_i = i h,          h = length/N        entry N is entry 0
//   time       t_n = n h,          h = length/(N-1)    from the initial state to the last one

#include <array>
#include <optional>
#include <string>

#include "piddm/core/tensor.h"

namespace piddm {

enum class AxisKind { cells, nodes, periodic, time };

struct GridAxis {
  std::string name;  ///< "x", "y" or "t"
  AxisKind kind = AxisKind::nodes;
  double length = 1;
  std::string unit = {};   ///< of `length`; empty: dimensionless
  std::string title = {};  ///< in words: "depth"

  /// "x", "x (m)" with a unit, "x, depth (m)" with a title.
  std::string label() const;

  double spacing(int64_t points) const;

  /// [points] float64.
  Tensor coordinates(int64_t points) const;

  /// The entry nearest to a coordinate of the domain; nothing outside of it.
  std::optional<int64_t> nearest(double coordinate, int64_t points) const;
};

/// Along H and along W.
using GridAxes = std::array<GridAxis, 2>;

}  // namespace piddm
