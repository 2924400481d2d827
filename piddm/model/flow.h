#pragma once
// The flow of a teacher: dx/dt = v(x, t) from noise at t = 1 to data at the end of its process.
//
// On a GPU, without gradients and for few samples, a whole step (both evaluations of heun and the update) is one launch
// (model/replay.h).

#include <functional>

#include "piddm/model/model.h"
#include "piddm/process/integrator.h"

namespace piddm {

/// `after_step` is called after every step of euler and heun, and once at the end of adaptive. Can be interrupted
/// between steps.
Integration flow(
    const Model& model, const Tensor& noise, const IntegratorOptions& options,
    const std::function<void()>& after_step = [] {});

}  // namespace piddm
