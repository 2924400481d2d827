#pragma once
// The two phases of a two-valued coefficient: what a picture of it shows at a glance and pixelwise moments do not see.
// A cell belongs to the high phase where a > (low+high)/2. Everything of fields a [N,H,W] on any device; one number per
// sample, [N] float64 on the CPU, NaN where the sample has a value that is not finite.

#include "piddm/core/tensor.h"

namespace piddm {

/// A cell lies between the two values where it is farther than this share of their distance from both: 4 < a < 11 for 3
/// and 12.
constexpr double kBetweenMargin = 1.0 / 9;

/// Share of the cells between the two values. Cells outside them are not between.
Tensor between_values(const Tensor& a, double low, double high);

/// Share of the pairs of neighbouring cells that are in different phases, over all H(W-1) + (H-1)W pairs.
Tensor interface_length(const Tensor& a, double low, double high);

/// Number of connected regions, of both phases together; cells are connected through their four sides. Union-find, the
/// samples shared by the threads.
Tensor islands(const Tensor& a, double low, double high);

}  // namespace piddm
