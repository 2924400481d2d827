#include "piddm/eval/ensembles/rank_test.h"

#include <algorithm>

#include "piddm/core/rng.h"

namespace piddm {

namespace {

constexpr int64_t kRanksPerBin = 5, kMostBins = 20;

/// The place of y among x [K]: one of those it ties with, by u in (0,1).
int64_t rank_of(const Tensor& x, const Tensor& y, double u) {
  const auto below = (x < y).sum().item<int64_t>(), equal = (x == y).sum().item<int64_t>();
  return below + std::min(static_cast<int64_t>(u * static_cast<double>(equal + 1)), equal);
}

}  // namespace

RankTest rank_test(const std::string& quantity, const std::vector<int64_t>& ranks, int64_t members) {
  const auto n = static_cast<int64_t>(ranks.size());
  const int64_t bins = std::clamp<int64_t>(n / kRanksPerBin, 2, std::min(members + 1, kMostBins));
  RankTest out{.quantity = quantity, .counts = std::vector<int64_t>(static_cast<size_t>(bins), 0)};
  std::vector<int64_t> width(static_cast<size_t>(bins), 0);  // ranks in each bin
  const auto bin_of = [&](int64_t rank) { return static_cast<size_t>(rank * bins / (members + 1)); };
  for (int64_t rank = 0; rank <= members; ++rank) ++width[bin_of(rank)];
  for (const int64_t rank : ranks) ++out.counts[bin_of(rank)];
  for (size_t b = 0; b < width.size(); ++b) {
    const double expected = static_cast<double>(n * width[b]) / static_cast<double>(members + 1);
    const double off = static_cast<double>(out.counts[b]) - expected;
    out.chi2 += off * off / expected;
  }
  const auto half = [](double x) { return torch::tensor(0.5 * x, torch::kFloat64); };
  out.p_value = torch::special_gammaincc(half(static_cast<double>(bins - 1)), half(out.chi2)).item<double>();
  return out;
}

std::vector<RankTest> rank_tests(const Tensor& members, const Tensor& truth, const Tensor& open, uint64_t seed) {
  const int64_t count = members.size(0);
  std::vector<int64_t> mean, size, point;
  for (int64_t i = 0; i < truth.size(0); ++i) {
    const auto at = open[i].flatten().nonzero().squeeze(1);
    if (at.size(0) == 0) continue;
    const auto x = members.select(1, i).flatten(1).index_select(1, at);
    const auto y = truth[i].flatten().index_select(0, at);
    const auto u = to_vector(uniform(seed, Stream::splits, i, 1, {4}, torch::kFloat64)[0]);
    mean.push_back(rank_of(x.mean(1), y.mean(), u[0]));
    size.push_back(rank_of(x.square().mean(1), y.square().mean(), u[1]));
    const auto k = std::min(static_cast<int64_t>(u[2] * static_cast<double>(at.size(0))), at.size(0) - 1);
    point.push_back(rank_of(x.select(1, k), y[k], u[3]));
  }
  if (static_cast<int64_t>(mean.size()) < kFewestRanks || count < 2) return {};
  return {rank_test("mean", mean, count), rank_test("size", size, count), rank_test("point", point, count)};
}

}  // namespace piddm
