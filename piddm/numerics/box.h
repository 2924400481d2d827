#pragma once
// A rectangle [0,L_H] x [0,L_W] and the points of a grid on it; H is x, W is y.

#include <array>

#include "piddm/numerics/grid_size.h"

namespace piddm {

/// Side lengths along H and along W.
using Lengths = std::array<double, 2>;

struct Box {
  Box(GridSize grid, const Lengths& sides = {1, 1}) : points(grid), lengths(sides) {}  // NOLINT: the unit square
  Box(int64_t side) : points(side) {}                                                  // NOLINT

  GridSize points;
  Lengths lengths = {1, 1};

  double area() const { return lengths[0] * lengths[1]; }
};

}  // namespace piddm
