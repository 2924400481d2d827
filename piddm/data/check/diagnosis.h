#pragma once
// Why data miss the residual of their PDE.
//
// Hypotheses, each a change of the fields or of the PDE: transposed and reversed axes, other points (nodes, cells, an
// end point stored twice or left out), another form of the residual, a factor on a channel or its sign, a constant
// added, a wrong parameter or length. They are tried in this order, and the first that explain the data are the answer:
//
//   one cause, by residual and boundary error   exact data have residuals too: a fitted number is rid of the bias they
//                                               give it
//   one cause, by distance to the solution      for what the residual of exact data hides: Burgers on a coarse grid
//   two causes, by residual and boundary error  before this, too, where one cause leaves much
//   the edges alone                             data that are not periodic, other walls or initial states
//
// hypothesis.h says when one explains the data. Data of which most samples are exact have no cause.

#include <string>
#include <vector>

#include "piddm/data/check/cause.h"
#include "piddm/pde/pde.h"

namespace piddm {

/// Alternatives, the best first; none where nothing is wrong or nothing explains it. Looks at the first 64 samples, and
/// searches with fewer, for about 10 s at most for two causes and for the distance. Every cause's evidence has
/// "rel_residual": [before, after], "boundary_error" likewise (RMS over that of the solution) where the PDE has one,
/// "distance_to_solution" likewise where that was searched, "floor" (the rel_residual of exact data), "samples", and
/// what the cause itself shows. `file` is the data's name in advice.
std::vector<Explanation> diagnose(const Pde& pde, const Tensor& fields, const std::string& file);

}  // namespace piddm
