#pragma once
// The smoothest field through scattered values.
//
//   min_c  sum over neighbours (c_i - c_j)^2 + 1/length^2 sum c_i^2      with c = values where mask is 1
//
// a screened Poisson problem on the entries that are not given, natural conditions at the edges of the grid: between
// values a membrane, far from any of them (beyond `length` entries) 0. By conjugate gradients; the condition number is
// below 1 + 8 length^2.

#include "piddm/core/tensor.h"

namespace piddm {

/// values, mask: [B,C,H,W], mask 0 or 1. Computed in float64, returned as `values` are.
Tensor smooth_fill(const Tensor& values, const Tensor& mask, double length);

}  // namespace piddm
