#pragma once
// What `generate` and `solve` say of samples at once, without held-out data.

#include "piddm/data/normalizer.h"
#include "piddm/eval/scores.h"
#include "piddm/solve/method.h"

namespace piddm {

/// pde_error, rel_residual, boundary_error (where a PDE has one) and the work done.
Scores physics_summary(const Samples& samples, const Pde& pde);

/// mse_<channel>: mean square error of whole channels against the truth, both [n,C,H,W] physical, in units of a
/// channel's variance.
Scores error_summary(const Tensor& x, const Tensor& truth, const Pde& pde, const Normalizer& normalizer);

}  // namespace piddm
