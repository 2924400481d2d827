#pragma once
// How much the intervals of an ensemble must be widened to hold the truth as often as they say.
//
// The central interval of share p of K members goes from their (1-p)/2 to their (1+p)/2 quantile. Quantile q is at
// place q (K+1) of the sorted members, linear between them: a truth exchangeable with the members lies in the interval
// with probability p, as long as K + 1 >= 2/(1-p). Widened by a factor f about the median m:
//
//   [m + f (q_low - m), m + f (q_high - m)]
//
// The score of an entry is the least f whose interval holds the truth, so it is covered as stated if its score is <= 1.
// Entries of one case depend on each other, so that the cases are what is exchangeable: the loss of a case, L_i(f), is
// the share of its entries that are left out, and the factor is the least f with
//
//   (sum_i L_i(f) + 1) / (n + 1) <= 1 - p          (conformal risk control; of one entry per case: split conformal)
//
// over n cases that were held out. Then the interval covers at least p of the entries of a new case in expectation,
// whatever the model, and for continuous answers at most 2/(n + 1) more.

#include "piddm/core/tensor.h"

namespace piddm {

inline constexpr double kStatedShare = 0.9;
inline constexpr int64_t kFewestMembers = 19;  ///< that have an interval of this share
inline constexpr int64_t kFewestCases = 9;     ///< that the factor can be found from

/// Of members sorted along dimension 0.
Tensor rank_quantile(const Tensor& sorted, double q);

/// [B,...] float64: the scores of truth [B,...] in the intervals of share p of members sorted along dimension 0,
/// [K,B,...]. Half widths below `resolution` count as that.
Tensor interval_scores(const Tensor& sorted, const Tensor& truth, double p, double resolution);

/// `asked` without the entries that all members and the truth agree on to `resolution`: walls, which need no sensors.
Tensor open_entries(const Tensor& sorted, const Tensor& truth, const Tensor& asked, double resolution);

/// Mean over the cases of the share of their entries with a score up to `factor`; `open` [B,...] says which count.
double covered_share(const Tensor& scores, const Tensor& open, double factor = 1);

/// The factor for intervals of share p; a DataError for fewer cases than 1/(1-p) - 1.
double conformal_factor(const Tensor& scores, const Tensor& open, double p = kStatedShare);

}  // namespace piddm
