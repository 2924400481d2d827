#include "piddm/eval/ensembles/ensemble.h"

#include <algorithm>
#include <cmath>

#include "piddm/core/error.h"

namespace piddm {

namespace {

constexpr double kWanted = 0.9;

/// The k of the interval.
int64_t rank_of(int64_t members) {
  return std::clamp<int64_t>(std::lround((1 - kWanted) * static_cast<double>(members + 1) / 2), 1, members / 2);
}

}  // namespace

EnsembleScores ensemble_scores(const Tensor& members, const Tensor& truth, const Tensor& asked) {
  require<DataError>(members.dim() >= 2 && members.size(0) >= 2, "[ensemble] needs at least 2 members, got {}",
                     members.dim() >= 1 ? members.size(0) : 0);
  require<DataError>(members.sizes().slice(1) == truth.sizes() && asked.sizes() == truth.sizes(),
                     "[ensemble] members {} do not fit the truth {}", shape_string(members), shape_string(truth));
  const int64_t count = members.size(0), k = rank_of(count);
  const double n = static_cast<double>(count);
  const auto sum = [&](const Tensor& x) { return (x * asked).reshape({truth.size(0), -1}).sum(1); };

  const auto sorted = std::get<0>(members.sort(0));
  // sum_{i<j} |x_i - x_j| = sum_i (2i - K + 1) x_(i), i = 0..K-1 in ascending order
  const auto rank = 2 * torch::arange(count, truth.options()) - (n - 1);
  const auto spacing = torch::tensordot(rank, sorted, {0}, {0});
  const auto inside = (truth >= sorted[k - 1]).logical_and(truth <= sorted[count - k]).to(torch::kFloat64);
  return {sum((members - truth).abs().mean(0) - spacing / (n * (n - 1))),
          sum(inside),
          sum(members.var(0, /*unbiased=*/true)),
          sum((members.mean(0) - truth).square()),
          sum(torch::ones_like(truth)),
          static_cast<double>(count + 1 - 2 * k) / (n + 1)};
}

}  // namespace piddm
