#include "piddm/eval/bootstrap.h"

#include <algorithm>
#include <numeric>

#include "piddm/core/error.h"
#include "piddm/core/rng.h"
#include "piddm/eval/metrics.h"

namespace piddm {

namespace {

constexpr int64_t kBootstrapFirst = int64_t{1} << 32;  // sample indices of Stream::splits far from those of the floors

}  // namespace

Interval central_interval(const std::vector<double>& values, double level) {
  const double tail = 50 * (1 - level);
  return {percentile(values, tail), percentile(values, 100 - tail)};
}

Tensor bootstrap_indices(int64_t n, int resamples, uint64_t seed) {
  require<UsageError>(n >= 1 && resamples >= 1, "[bootstrap] {} values, {} resamples", n, resamples);
  const Tensor u = uniform(seed, Stream::splits, kBootstrapFirst, resamples, {n}, torch::kFloat64);
  return (u * static_cast<double>(n)).to(torch::kInt64).clamp_max(n - 1);
}

Tensor bootstrap_counts(const Tensor& indices) {
  return torch::zeros(indices.sizes(), torch::kFloat64)
      .scatter_add(1, indices, torch::ones(indices.sizes(), torch::kFloat64));
}

Interval bootstrap_interval(const std::vector<double>& values, double level, uint64_t seed, int resamples) {
  require<UsageError>(!values.empty() && level > 0 && level < 1 && resamples >= 1,
                      "[bootstrap] {} values, level {}, {} resamples", values.size(), level, resamples);
  const Tensor x = torch::tensor(values, torch::kFloat64);
  return ratio_interval(x, torch::ones_like(x), {resamples, seed, level});
}

Interval ratio_interval(const Tensor& numerator, const Tensor& denominator, const Bootstrap& bootstrap) {
  const Tensor drawn = bootstrap_indices(numerator.size(0), bootstrap.resamples, bootstrap.seed),
               flat = drawn.flatten();
  const auto sums = [&](const Tensor& x) { return x.to(torch::kCPU).index_select(0, flat).view(drawn.sizes()).sum(1); };
  return central_interval(to_vector(sums(numerator) / sums(denominator)), bootstrap.level);
}

Interval distance_interval(std::vector<double> replicates, double value, double level) {
  require<UsageError>(!replicates.empty() && level > 0 && level < 1, "[bootstrap] {} replicates, level {}",
                      replicates.size(), level);
  const double mean =
      std::accumulate(replicates.begin(), replicates.end(), 0.0) / static_cast<double>(replicates.size());
  for (double& replicate : replicates) replicate = std::max(0.0, replicate - mean + value);
  return central_interval(replicates, level);
}

}  // namespace piddm
