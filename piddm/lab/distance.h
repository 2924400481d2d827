#pragma once
// Distances of samples on a line from a known law.

#include "piddm/process/gaussian_mixture.h"

namespace piddm {

/// Quantiles (i + 1/2) / n of a mixture in one dimension, [n] float64 ascending; point masses are allowed.
Tensor quantiles(const GaussianMixture& law, int64_t n);

/// W1 between two sets of equal size: the mean distance of the sorted values. Any shapes of n entries.
double wasserstein(const Tensor& a, const Tensor& b);

/// W1 between samples and the law's own quantiles.
double wasserstein(const Tensor& samples, const GaussianMixture& law);

/// What W1 comes to for n samples of the law itself: the 95th percentile over `repeats` sets.
double wasserstein_floor(const GaussianMixture& law, int64_t n, uint64_t seed, int64_t repeats = 40);

}  // namespace piddm
