#pragma once
// Where the entries of a PDE's fields lie, in the coordinates of its equation: x along H, y or t along W.

#include <optional>

#include "piddm/pde/pde.h"

namespace piddm {

struct GridAxis {
  int64_t points = 0;
  double first = 0, spacing = 0;  ///< entry i lies at first + i spacing
  double low = 0, high = 0;       ///< ends of the domain
  bool periodic = false;          ///< entry `points` is entry 0

  /// The entry nearest to a coordinate of the domain; nothing outside of it.
  std::optional<int64_t> nearest(double coordinate) const;
};

struct GridAxes {
  GridAxis h, w;
};

/// A UsageError for a PDE whose positions are not listed.
GridAxes grid_axes(const Pde& pde);

}  // namespace piddm
