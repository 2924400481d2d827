#include "piddm/eval/bootstrap.h"

#include <cmath>

#include "piddm/core/rng.h"
#include "tests/testing.h"

namespace piddm {
namespace {

// Means of resamples are nearly normal with deviation s/sqrt(n), s^2 the biased variance.
TEST(BootstrapInterval, MatchesTheNormalApproximation) {
  const Tensor x = 5 + 2 * normal(4, Stream::coefficients, 0, 400, {}, torch::kFloat64);
  const std::vector<double> values(x.data_ptr<double>(), x.data_ptr<double>() + 400);
  const double mean = x.mean().item<double>(), error = x.std(false).item<double>() / 20;
  const auto [low, high] = bootstrap_interval(values, 0.95, 1, 8000);
  EXPECT_NEAR((low - mean) / error, -1.96, 0.1);
  EXPECT_NEAR((high - mean) / error, 1.96, 0.1);
  const auto [low80, high80] = bootstrap_interval(values, 0.8, 1, 8000);
  EXPECT_NEAR((high80 - low80) / error, 2 * 1.2816, 0.12);
}

TEST(BootstrapInterval, OfEqualValuesIsAPoint) {
  EXPECT_EQ(bootstrap_interval({2, 2, 2}, 0.95, 1), std::make_pair(2.0, 2.0));
  EXPECT_NE(bootstrap_interval({1, 5, 2, 7, 3.5}, 0.95, 1, 50), bootstrap_interval({1, 5, 2, 7, 3.5}, 0.95, 2, 50));
  EXPECT_ERROR(bootstrap_interval({}, 0.95, 1), ExitCode::usage, "0 values");
  EXPECT_ERROR(bootstrap_interval({1}, 95, 1), ExitCode::usage, "level 95");
}

TEST(BootstrapCounts, SayHowOftenEachSampleWasDrawn) {
  const Tensor counts = bootstrap_counts(torch::tensor({0, 2, 2, 1, 1, 1}, torch::kInt64).view({2, 3}));
  EXPECT_TRUE(torch::equal(counts, torch::tensor({1.0, 0.0, 2.0, 0.0, 3.0, 0.0}, torch::kFloat64).view({2, 3})));
  const Tensor drawn = bootstrap_indices(7, 300, 1);
  EXPECT_EQ(drawn.min().item<int64_t>(), 0);
  EXPECT_EQ(drawn.max().item<int64_t>(), 6);
  EXPECT_TRUE(torch::equal(drawn, bootstrap_indices(7, 300, 1)));
  EXPECT_FALSE(torch::equal(drawn, bootstrap_indices(7, 300, 2)));
  EXPECT_NEAR(bootstrap_counts(drawn).mean(0).sub(1).abs().max().item<double>(), 0, 0.2);
}

TEST(RatioInterval, OfAMeanIsTheMeansInterval) {
  const std::vector<double> values = {1, 5, 2, 7, 3.5};
  const Tensor x = torch::tensor(values, torch::kFloat64);
  EXPECT_EQ(ratio_interval(x, torch::ones_like(x), {50, 3, 0.9}), bootstrap_interval(values, 0.9, 3, 50));
  const auto [low, high] = ratio_interval(3 * x, x, {50, 3});
  EXPECT_DOUBLE_EQ(low, 3);
  EXPECT_DOUBLE_EQ(high, 3);
}

TEST(DistanceInterval, TakesAwayWhatResamplingAdds) {
  const auto [low, high] = distance_interval({2.0, 3.0, 4.0}, 1.5, 0.5);  // quartiles 2.5 and 3.5, mean 3
  EXPECT_DOUBLE_EQ(low, 1.0);
  EXPECT_DOUBLE_EQ(high, 2.0);
  // 2 and 6 become 0 (not -1.5) and 2.5; their 5 % quantile
  EXPECT_DOUBLE_EQ(distance_interval({2.0, 6.0}, 0.5, 0.9).first, 0.125);
  EXPECT_ERROR(distance_interval({}, 1, 0.9), ExitCode::usage, "0 replicates");
}

}  // namespace
}  // namespace piddm
