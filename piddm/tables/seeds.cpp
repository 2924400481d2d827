#include "piddm/tables/seeds.h"

#include <algorithm>
#include <cmath>

namespace piddm {

namespace {

struct Moments {
  double sum = 0, squares = 0;
  int64_t n = 0;
  void add(double x) { sum += x, squares += x * x, ++n; }
  double mean() const { return sum / static_cast<double>(n); }
  double deviation() const {
    const auto count = static_cast<double>(n);
    return n < 2 ? 0 : std::sqrt(std::max(0.0, (squares - sum * sum / count) / (count - 1)));
  }
};

}  // namespace

void combine_seeds(Row& row) {
  row.result = {};
  row.deviation = {};
  for (const auto& [seed, result] : row.by_seed)
    if (!result.done() || row.by_seed.size() == 1) {
      row.result = result;
      return;
    }
  std::map<std::string, Moments> moments;
  size_t diverged = 0;
  row.result.precision = row.by_seed.begin()->second.precision;
  for (const auto& [seed, result] : row.by_seed) {
    if (!result.diverged.empty())
      row.result.diverged = fmt::format("{} of {} seeds: {}", ++diverged, row.by_seed.size(), result.diverged);
    for (const auto& [name, value] : result.scores.values) {
      moments[name].add(value);
      row.result.scores.values[name] = moments[name].mean();
      row.deviation.values[name] = moments[name].deviation();
    }
  }
}

Row joined_seeds(const Row& earlier, const Row& later) {
  if (earlier.by_seed.empty() || later.by_seed.empty()) return later;
  auto row = later;
  row.by_seed.insert(earlier.by_seed.begin(), earlier.by_seed.end());
  if (row.by_seed.size() == later.by_seed.size()) return later;
  row.seeds.reset();
  combine_seeds(row);
  return row;
}

}  // namespace piddm
