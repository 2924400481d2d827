#pragma once
// Ensembles: K answers to one question, judged as a probabilistic forecast. For one entry with members x_1..x_K and
// truth y:
//
//   CRPS      mean_i |x_i - y| - sum_{i<j} |x_i - x_j| / (K (K-1))   the fair form: its expectation does not depend on
//             K, and the true law scores best
//   coverage  1 if y lies between the k-th smallest and the k-th largest member. If y is exchangeable with the members,
//             the mean of this is (K+1-2k)/(K+1); k is chosen so that this nominal value is nearest to 0.9
//   spread    the unbiased variance of the members

#include "piddm/core/tensor.h"

namespace piddm {

/// Sums over the entries of a case that were asked for: [B] float64 each.
struct EnsembleScores {
  Tensor crps, coverage, spread;
  Tensor mean_mse;          ///< squared error of the ensemble mean
  Tensor asked;             ///< number of these entries
  double nominal_coverage;  ///< what the mean of coverage should be

  /// Mean over all entries asked for.
  double mean(const Tensor& sums) const { return (sums.sum() / asked.sum()).item<double>(); }
};

/// Members [K,B,...] (K >= 2) and truth [B,...], float64; `asked` [B,...] is 1 where the entry counts, else 0.
EnsembleScores ensemble_scores(const Tensor& members, const Tensor& truth, const Tensor& asked);

}  // namespace piddm
