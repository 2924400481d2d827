#pragma once
// The nearest of a set of grid points, for every point of the grid: a Euclidean distance transform in two passes.
//
//   d(i,j)^2 = min_i' (i - i')^2 + r(i',j)^2,   r(i,j) = distance to the nearest marked point in row i
//
// Exact, in integers: the same result on every device and for any batch. Of points equally near the one of the lowest
// row is taken, in a row the left one. Cost: H comparisons per point.

#include "piddm/core/tensor.h"

namespace piddm {

struct NearestPoint {
  Tensor index;     ///< [N,H,W] int64, i W + j of the nearest marked point; 0 where a field has none
  Tensor distance;  ///< [N,H,W] float32, in spacings; infinite where a field has none
};

/// Of the points where `marked` [N,H,W] (bool) is true.
NearestPoint nearest_points(const Tensor& marked);

}  // namespace piddm
