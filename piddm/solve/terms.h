#pragma once
// The terms that methods minimise or are guided by, beside the misfit of a Target.
//
//   residual   ||R(x)||^2 + boundary ||B(x)||^2, means over the scored points; R in the PDE's unit, B in standard
//              deviations of the solution

#include <optional>

#include "piddm/solve/task/target.h"

namespace piddm {

/// What is known of a batch; nothing in generation.
using Known = std::optional<Target>;

/// z with the exact known values in their places; z itself where nothing is known.
Tensor with_known(const Known& known, const Tensor& z);

/// The residual term of z [B,C,H,W] in network units, [B]. Differentiable.
Tensor residual_term(const Model& model, const Tensor& z, double boundary);

/// lambda_train of the experiment the model comes from; 10, the paper's, where it comes from none.
double trained_lambda(const Model& model);

}  // namespace piddm
