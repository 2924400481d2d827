#pragma once
// What each metric sees: true samples, damaged in known ways, in the place of generated ones.
//
//   none              other true samples
//   blurred           every channel smoothed over three cells along both axes, twice
//   rounded           two-valued coefficients without waves beyond an eighth of the grid's points, cut to their values
//                     again, solutions for them: smooth edges in a sample that satisfies the equation
//   speckled          a share of the cells of two-valued coefficients has the other value
//   without detail    every channel without waves beyond an eighth of the grid's points
//   duplicated        an eighth of the samples, eight times each
//
//   OUT/corruptions.csv, report.md   metrics by corruption, with the floor
//   report.json                      "rows": {corruption: scores}, "floor"
//
// A teacher of the PDE is trained for the features of frechet_teacher; it generates nothing.

#include "piddm/lab/lab.h"
#include "piddm/pde/pde.h"

namespace piddm {

LabRecipe table_corruptions();

/// The names above, in this order.
const std::vector<std::string>& corruptions();

/// True samples x [N,C,H,W], N >= 8, damaged. `share` is that of the speckled cells, a function of the seed.
Tensor corrupted(const std::string& corruption, const Tensor& x, const Pde& pde, double share, uint64_t seed);

}  // namespace piddm
