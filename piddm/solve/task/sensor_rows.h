#pragma once
// What a sensor at a place sees of a field on the grid of a PDE, as weights of its entries.
//
//   point   the value there, linear between entries along each axis (second order). A channel that is 0 on a wall is
//           taken as 0 there; beyond the outermost centres of other channels the last two entries go on
//   line    the mean over the segment from (h,w) to (h1,w1) of that field, exactly
//   box     the mean over the rectangle with these corners
//   flux    the derivative along the outward normal, integrated over the part of a wall that the segment is: second
//           order from the next entries, with the 0 on the wall where the channel has it
//
// A coefficient of two values has them cell by cell: between the entries its field is constant around each of them.

#include <optional>
#include <vector>

#include "piddm/pde/pde.h"

namespace piddm {

struct EntryWeight {
  int64_t entry;  ///< in the flattened [H,W]
  double weight;
};

struct SensorRow {
  std::vector<EntryWeight> weights;
  double gain = 1;  ///< its size for a field of size 1
};

struct Place {
  double h = 0, w = 0;  ///< coordinates of the equation
};

/// Where the place is an entry, or within a hundredth of a cell of one: its number in the flattened [H,W].
std::optional<int64_t> entry_at(const Pde& pde, const Place& place);

/// Both coordinates must be in the domain.
SensorRow point_row(const Pde& pde, const Channel& channel, const Place& place);
SensorRow line_row(const Pde& pde, const Channel& channel, const Place& from, const Place& to);

/// A DataError where the rectangle has no area.
SensorRow box_row(const Pde& pde, const Channel& channel, const Place& from, const Place& to);

/// A DataError unless the segment is part of a wall: an end of an axis that is neither periodic nor time; or for a
/// coefficient, of which no equation knows a flux.
SensorRow flux_row(const Pde& pde, const Channel& channel, const Place& from, const Place& to);

}  // namespace piddm
