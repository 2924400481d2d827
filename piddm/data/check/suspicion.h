#pragma once
// What may be wrong with data of a PDE that has no number in it: axes, directions, the kind of points, the form of the
// equation, the walls. Each with the words for it.

#include <string>
#include <vector>

#include "piddm/data/check/cause.h"
#include "piddm/data/check/reading.h"
#include "piddm/data/resample.h"

namespace piddm {

struct Suspicion {
  std::string subject;                    ///< two of one subject are not combined
  Change correct;                         ///< the data as they should be
  Cause cause;                            ///< evidence: what can be seen in the fields themselves
  std::optional<GridPoints> points = {};  ///< where the data are supposed to lie on others than the PDE's
};

/// Transposed and reversed axes, other points, other forms of the residual (`file` is the name in commands).
std::vector<Suspicion> suspicions(const Reading& reading, const std::string& file);

/// That the equation holds but for what lies across a periodic wrap-around, or at walls and the initial state.
std::vector<Suspicion> edge_suspicions(const Reading& reading);

/// The PDE on another grid.
PdePtr with_grid(const Pde& pde, const GridSize& grid);

/// "u and v", "a, b and c".
std::string listed(const std::vector<std::string>& names);

}  // namespace piddm
