#pragma once
// The fair continuous ranked probability score of M draws x_1..x_M at the truth y, entry by entry:
//
//   CRPS = 1/M sum_i |x_i - y| - 1/(M (M-1)) sum_{i<j} |x_i - x_j|
//
// Its expectation over draws of a law does not depend on M >= 2 and is least where the law is that of y (Ferro 2014):
// a network trained by it on two draws learns the posterior of every entry, with no likelihood and no steps. The same
// form as eval/ensemble.h, differentiable and in the dtype of the draws.

#include "piddm/core/tensor.h"

namespace piddm {

/// Draws [B,M,...] and truth [B,...] give [B,...]. A DataError for fewer than two draws or shapes that do not fit.
Tensor fair_crps(const Tensor& draws, const Tensor& truth);

}  // namespace piddm
