#pragma once
// Constraint satisfaction on a nearly singular mixture (appendix of the paper): DPS, ECI and PIDDM against the law.
//
//   x ~ (N((-1,-1), S) + N((1,1), S)) / 2,   S = 0.04 [[1, rho], [rho, 1]],  rho = 0.99999;      F(x) = (x_0 - x_1)^2
//
// The law itself does not satisfy F = 0: x_0 - x_1 has the standard deviation sqrt(0.08 (1 - rho)) = 8.9e-4, so widths
// are judged against that, and W1 distances from the exact laws of x_0 and of x_0 - x_1 say how distorted a result is.
// Process: linear, exact score.
//
// Rows: the teacher with 100 and 1000 Euler steps; DPS with weight 300 per unit of time and per step, to t = 0 and to
// t = 1e-3; ECI with its three kinds of noise; students distilled without and with the constraint (lambda = 1), and the
// latter refined.

#include "piddm/lab/lab.h"

namespace piddm {

LabRecipe figure_mog();

}  // namespace piddm
