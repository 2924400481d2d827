#pragma once
// Two losses that do not fight: where their gradients point apart, each loses its part along the other (Yu et al.,
// "Gradient surgery for multi-task learning", 2020). With g, h the gradients as one vector over all parameters,
//
//   g.h >= 0:  g + h        g.h < 0:  g - (g.h/|h|^2) h + h - (g.h/|g|^2) g,
//
// so that to first order neither loss rises by what the other asks for.

#include <vector>

#include "piddm/core/tensor.h"

namespace piddm {

/// A scalar with the value `first` + `second` and the gradient above in `parameters` (none in anything else).
Tensor conflict_free_sum(const Tensor& first, const Tensor& second, const std::vector<Tensor>& parameters);

}  // namespace piddm
