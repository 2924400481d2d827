#pragma once
// How close a set of generated samples is to a set of true ones. Everything on [N,C,H,W], computed in float64 on the
// device of the generated samples.
//
// Inputs of mmse, smse and sampling_floor are z-scored by the caller (normaliser of the training set), so channels are
// comparable; then with m(p), s(p) the mean and the unbiased standard deviation over samples at pixel p of one channel,
//   MMSE = mean_p (m_gen(p) - m_ref(p))^2        SMSE = mean_p (s_gen(p) - s_ref(p))^2.
// A value that is not finite anywhere makes its metric NaN, which tables print as "n/a".

#include <cstdint>
#include <functional>
#include <vector>

#include "piddm/core/tensor.h"

namespace piddm {

struct ChannelMetric {
  double mean = 0;              ///< over channels
  std::vector<double> channel;  ///< each channel
};

/// Mean squared difference of pixelwise means; [N,C,H,W] against [M,C,H,W], N, M >= 1.
ChannelMetric mmse(const Tensor& generated, const Tensor& reference);

/// Mean squared difference of pixelwise unbiased standard deviations; N, M >= 2.
ChannelMetric smse(const Tensor& generated, const Tensor& reference);

/// [N], share of the cells of each sample's two-valued coefficient on the wrong side of (low+high)/2; a cell that is
/// not finite is wrong. Same shapes [N,...].
Tensor misclassified(const Tensor& a, const Tensor& truth, double low, double high);

/// What MMSE and SMSE come to for a perfect model: 95th percentiles of true data against true data.
struct Floor {
  ChannelMetric mmse, smse;
  int64_t n_generated = 0, n_reference = 0;  ///< sizes of the splits really drawn
};

/// Splits true data [N,C,H,W] at random (permutation() of Stream::splits, indices 0..repeats-1) into disjoint parts of
/// n_generated and n_reference samples and takes the 95th percentile of each metric over the repeats; `mean` is the
/// percentile of the channel mean. Expected MMSE of one split: variance * (1/n_generated + 1/n_reference). If there
/// are fewer than n_generated + n_reference samples, two halves of k = N/2 samples are used instead and both metrics
/// multiplied by (1/n_generated + 1/n_reference) / (2/k): exact for the expected MMSE, and for SMSE to leading
/// order in 1/k, since the variances of a mean and of a standard deviation both fall as 1/n.
Floor sampling_floor(const Tensor& true_data, int64_t n_generated, int64_t n_reference, uint64_t seed,
                     int repeats = 40);

/// The same for any metric of two subsets of `total` true samples, given by their indices (int64): the 95th percentile
/// over the splits. A metric falls with the sizes as (1/n + 1/m)^order, 1 for squared distances and 1/2 for distances;
/// this is how it is scaled where halves had to be split.
double split_floor(int64_t total, int64_t n_generated, int64_t n_reference, double order, uint64_t seed, int repeats,
                   const std::function<double(const Tensor& generated, const Tensor& reference)>& metric);

/// MMSE and SMSE of resamples of the generated set, [C,R] each: sample i counts counts[r][i] times (rows sum to N).
struct MomentReplicates {
  Tensor mmse, smse;
};
MomentReplicates moment_replicates(const Tensor& generated, const Tensor& reference, const Tensor& counts);

/// The `percent`-th percentile (0..100), linear between order statistics (position percent/100 * (n-1)). NaN if a value
/// is NaN.
double percentile(std::vector<double> values, double percent);

}  // namespace piddm
