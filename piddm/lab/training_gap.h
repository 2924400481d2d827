#pragma once
// Jensen's gap in training (Fig. 2d): one teacher of Stokes trained plainly, one with the residual of its clean
// estimate (PIDM), from the same weights on the same batches, times and noise; the diffusion loss || v - (alpha' x_0 +
// sigma' e) ||^2 of both over the iterations, several seeds.
//
//   OUT/curves.csv, figure-training-gap.png   mean over seeds and the band from the lowest to the highest, averaged
//                                             over windows of iterations
//   report.json  "arms": final diffusion loss and pde_error of the clean estimate, mean and range over seeds;
//                "increase": PIDM over plain by seed
//
// The paper: "a significant increase in diffusion loss when the PDE residual loss is incorporated".

#include "piddm/lab/lab.h"

namespace piddm {

LabRecipe figure_training_gap();

}  // namespace piddm
