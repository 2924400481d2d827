#pragma once
// What may be wrong with data, how to undo it, and when that explains them.

#include <optional>
#include <vector>

#include "piddm/data/check/cause.h"
#include "piddm/data/check/reading.h"
#include "piddm/data/resample.h"

namespace piddm {

constexpr double kNearFloor = 4;    ///< mean squares within this factor of those of exact data are as good as these
constexpr double kMostLeft = 0.25;  ///< a mean square residual, over that of the reference term, that explains nothing

/// One cause or two.
struct Hypothesis {
  Explanation causes;
  std::vector<Change> changes;
  int rank = 0;                           ///< of those that explain the data equally well the lower ones come first
  std::optional<GridPoints> points = {};  ///< that the data are supposed to lie on others than the PDE's
  double left = INFINITY;                 ///< what is still wrong, in units of what exact data score
};

/// The reading with these changes made; nothing where that is not possible.
std::optional<Reading> changed(const Reading& reading, const std::vector<Change>& changes);

/// Whether a mean square is explained: within kNearFloor of its floor, or lowered by that factor, to at most a quarter
/// and at least half of the way to the floor in its logarithm.
bool close_to_floor(double before, double after, double floor);

/// Whether a correction explains a misfit: residual and boundary error end close to their floors, one that was beyond
/// it is lowered by kNearFloor, and at least half of the points that counted still do.
bool explains(const Misfit& before, const Misfit& after, const Misfit& floor);

/// The same of distances to the solution, mean squares.
bool explains(double before, double after, double floor);

/// Those about as good as the best one; one cause before two, the plausible ones first.
std::vector<Hypothesis> best_of(std::vector<Hypothesis> found);

}  // namespace piddm
