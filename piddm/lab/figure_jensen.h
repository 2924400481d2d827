#pragma once
// The sampling-time Jensen's gap (Fig. 2a-c of the paper): posterior-mean guidance (DPS) against the exact conditional
// velocity on two lines.
//
//   x_0: with probability 1/2 each   z = -1 or 1,   x_1 ~ N(z, 0.2^2),   x_2 = z         x_2 is the hard constraint,
//                                    x_1 is free
//   truth: the law given z is one component, and so its velocity v_GT is known
//   v_DPS = v + w grad_x (E[x_2|x_t] - z)^2
//
// Errors over time are averaged over x_t drawn from the true p_t(x|z): |v_DPS - v_GT| a coordinate, and 1 - cos of the
// angle between them. Samples: Euler along v_DPS, for several w, compared with the law given z; x_1 z has the law N(1,
// 0.2^2) and x_2 z is 1 for both z.
//
// The paper gives w = 0.035 and neither steps nor unit. Default: 100 steps, as everywhere else in the paper, and w a
// step, as DPS is published; w = 3.5e-4 a step is 0.035 a unit of time, the other reading, and is among the weights
// compared.

#include "piddm/lab/lab.h"

namespace piddm {

LabRecipe figure_jensen();

}  // namespace piddm
