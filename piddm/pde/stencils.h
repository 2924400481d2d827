#pragma once
// Compact second-order differences on regular grids, the mean of a scalar channel and the size of a sample. All
// differentiable in the dtype and on the device they are given; `dim` is any axis.

#include "piddm/core/tensor.h"

namespace piddm {

/// Entries 1..n-2 along `dim`: where a three-point stencil fits.
Tensor inner(const Tensor& u, int64_t dim);

/// (u_{i+1} - u_{i-1}) / 2h at the inner entries of `dim`.
Tensor central_difference(const Tensor& u, int64_t dim, double h);

/// ((u_{i+1} - u_i) - (u_i - u_{i-1})) / h^2 at the inner entries of `dim`; in this order the two differences of a
/// smooth field are exact and float32 loses little.
Tensor second_difference(const Tensor& u, int64_t dim, double h);

/// One more entry at each end of `dim`, copied from the other end, so that the stencils above give all n entries of a
/// periodic field.
Tensor wrap(const Tensor& u, int64_t dim);

/// For a mask [...,H,W]: whether the whole 3x3 patch around an inner entry is true, [...,H-2,W-2].
Tensor whole_patch(const Tensor& mask);

/// Spatial mean of scalar channels [B,C,H,W]: [B,C,1,1]. Of a constant channel exactly its value.
Tensor scalar_value(const Tensor& x);

/// Mean over the last axis, keeping it. Of a constant exactly that constant.
Tensor mean_over_time(const Tensor& x);

/// Root mean square of every sample of [B,C,H,W]: [B].
Tensor rms(const Tensor& x);

}  // namespace piddm
