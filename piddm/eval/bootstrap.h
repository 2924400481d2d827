#pragma once
// Intervals by resampling: how much a number would change with other samples of the same law. A function of the seed;
// 95 % unless said otherwise.

#include <cstdint>
#include <utility>
#include <vector>

#include "piddm/core/tensor.h"

namespace piddm {

using Interval = std::pair<double, double>;  ///< from, to

struct Bootstrap {
  int resamples = 0;  ///< 0: no intervals
  uint64_t seed = 0;
  double level = 0.95;
};

/// Members of each resample of n samples, drawn with replacement: [resamples,n] int64.
Tensor bootstrap_indices(int64_t n, int resamples, uint64_t seed);

/// The same as how often each sample was drawn: [resamples,n] float64, rows sum to n.
Tensor bootstrap_counts(const Tensor& indices);

/// The central `level` of these values (0.95: from 2.5 % to 97.5 %).
Interval central_interval(const std::vector<double>& values, double level);

/// Percentile bootstrap interval of the mean: the central `level` (0.95: from 2.5 % to 97.5 %) of the means of
/// `resamples` resamples.
Interval bootstrap_interval(const std::vector<double>& values, double level, uint64_t seed, int resamples = 2000);

/// Percentile bootstrap interval of sum(numerator) / sum(denominator), one entry per sample: [N] float64 each, any
/// device. NaN where an entry is not finite.
Interval ratio_interval(const Tensor& numerator, const Tensor& denominator, const Bootstrap& bootstrap);

/// For a distance of a set of samples from another: its values on resamples of the set. A resample is farther from
/// everything than the set itself (it has the scatter of the samples once more), so the replicates are shifted to have
/// the mean `value`; then percentiles, not below zero.
Interval distance_interval(std::vector<double> replicates, double value, double level);

}  // namespace piddm
