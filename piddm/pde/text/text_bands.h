#pragma once
// Differences and means on the grid of a PDE's text as banded matrices (band.h), with walls of constant numbers in
// them. pde/text/evaluation.h has the formulas.

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "piddm/pde/text/band.h"
#include "piddm/pde/text/text_grid.h"

namespace piddm {

/// Of anything, along a space axis.
struct AxisBands {
  Band mean, difference;  ///< of points, on the faces between them
  Band divergence;        ///< of faces (of cells with those on the walls), at points (of nodes without the ends)
};

/// Of one field along a space axis; nothing where a wall is not made of constant numbers. Faces with those on the
/// walls.
struct FieldBands {
  std::optional<Band> on_faces = {}, slope_on_faces = {};
  std::optional<Band> first = {}, second = {};  ///< derivatives at points
};

/// Of all levels of a problem in time at once: the rows of text_grid.h's TimeWindow.
struct TimeBands {
  Band first;                  ///< dt
  std::optional<Band> second;  ///< dtt, of order 2
  Band rows;                   ///< everything else
};

class TextBands {
 public:
  explicit TextBands(const TextGrid& grid);

  const AxisBands& of_axis(size_t axis) const { return *axes_[axis]; }
  const FieldBands& of_field(const std::string& name, size_t axis) const { return fields_.at({name, axis}); }

  /// Null for windows of another number of levels.
  const TimeBands* of_time(int64_t levels) const {
    return time_ && time_->first.columns() == levels ? &*time_ : nullptr;
  }

 private:
  void add_time(const PdeText& text);

  std::array<std::optional<AxisBands>, 2> axes_;
  std::map<std::pair<std::string, size_t>, FieldBands> fields_;
  std::optional<TimeBands> time_;
};

}  // namespace piddm
