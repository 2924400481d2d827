#pragma once
// Ensembles: K draws of the answer to each of N cases, and what they say together. A draw is a member of its case;
// member k of case i is sample number i K + k of the seed, so that it does not depend on batches.

#include <array>

#include "piddm/files/tensor_map.h"
#include "piddm/pde/pde.h"
#include "piddm/solve/task/task.h"

namespace piddm {

inline constexpr std::array<double, 5> kEnsembleQuantiles = {0.05, 0.25, 0.5, 0.75, 0.95};

/// Each case `members` times, one after the other: what a method is given for an ensemble.
Observation repeated(const Observation& observation, int64_t members);

struct EnsembleSummary {
  Tensor mean;                      ///< [N,C,H,W] float64
  Tensor deviation;                 ///< unbiased, of K - 1 degrees of freedom
  std::array<Tensor, 5> quantiles;  ///< kEnsembleQuantiles, linear between members as numpy.quantile has it
  Tensor above;                     ///< share of the members above the middle of a channel's two values; 0 elsewhere
};

/// Of members [N K,C,H,W], K >= 2.
EnsembleSummary summarize(const Tensor& members, int64_t k, const Pde& pde);

/// The arrays of an ensemble file beside its members, [N,H,W] float32: CHANNEL_mean, CHANNEL_std, CHANNEL_q05, _q25,
/// _q50, _q75, _q95, and of a channel with two values CHANNEL_probability, that of the higher one.
TensorMap ensemble_arrays(const EnsembleSummary& summary, const Pde& pde);

}  // namespace piddm
