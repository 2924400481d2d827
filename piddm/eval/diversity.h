#pragma once
// Distances of sets of samples that see more than pixelwise moments. Samples are [N,...], flattened, z-scored by the
// caller; float64 on their device. Weights and counts, one number per sample, may be on another.
//
//   SWD   mean over 128 fixed random unit directions of W1 between the projected sets
//   APD   mean over pairs i < j of |x_i - x_j|_2;   APDD = |APD - APD_ref| / APD_ref  (the paper's appendix on
//         diversity)

#include "piddm/core/tensor.h"

namespace piddm {

/// Unit vectors, always the same: [dimension,count] float64 on the CPU.
Tensor slice_directions(int64_t dimension, int64_t count = 128);

/// W1 between subsets of a pool of points on lines, for many subsets of one pool: the sorting is done once.
class SlicedPool {
 public:
  explicit SlicedPool(const Tensor& projections);  ///< [T,D]: T points on D lines

  /// `weights` [T] is a difference of two probability weights (sum 0): mean over lines of the integral of |F - G|.
  double distance(const Tensor& weights) const;

 private:
  Tensor order_, gaps_;  ///< [D,T], [D,T-1]
};

/// SWD of [N,...] against [M,...], N, M >= 1.
double sliced_wasserstein(const Tensor& generated, const Tensor& reference);

/// |x_i - x_j|_2 of [N,...]: [N,N], zeros on the diagonal.
Tensor pairwise_distances(const Tensor& x);

/// APD of the samples drawn `counts` [N] times each, of which there must be at least 2: mean over ordered pairs of
/// different draws.
double average_pairwise_distance(const Tensor& distances, const Tensor& counts);
double average_pairwise_distance(const Tensor& x);  ///< of all samples [N,...]

}  // namespace piddm
