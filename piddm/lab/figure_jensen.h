#pragma once
// The sampling-time Jensen's gap (Fig. 2a-c of the paper): posterior-mean guidance (DPS) against the exact conditional
// velocity on two lines.
//
//   x_0: z = -1 or 1 with probability 1/2 each,   x_1 ~ N(z, 0.2^2) is free,   x_2 = z is the hard constraint
//   truth: the law given z is one component, and so its velocity v_GT is known
//   v_DPS = v + w grad_x (E[x_2|x_t] - z)^2
//
// Errors over time are averaged over x_t drawn from the true p_t(x|z): |v_DPS - v_GT| per coordinate, and 1 - cos of
// the angle between them. Samples: Euler along v_DPS, for several w, compared with the law given z; for both z, x_1 z
// has the law N(1, 0.2^2) and x_2 z is 1.
//
// The paper gives w = 0.035 and neither steps nor unit. Here: 100 steps, as everywhere else in the paper, and w per
// step, as DPS is published; w = 3.5e-4 per step is 0.035 per unit of time, the other reading, and is among the weights
// compared.

#include "piddm/lab/lab.h"

namespace piddm {

LabRecipe figure_jensen();

}  // namespace piddm
