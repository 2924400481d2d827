#include "piddm/eval/metrics.h"

#include <cmath>
#include <limits>

#include "piddm/core/rng.h"
#include "tests/testing.h"

namespace piddm {
namespace {

Tensor gaussians(int64_t n, int64_t channels, int64_t side, uint64_t seed = 3) {
  return normal(seed, Stream::coefficients, 0, n, {channels, side, side}, torch::kFloat64);
}

// Pixel means (2, 5) and standard deviations sqrt(2), 0 of channel 0; channel 1 is the same times 10.
Tensor two_samples() {
  const Tensor channel = torch::tensor({1.0, 5.0, 3.0, 5.0}, torch::kFloat64).reshape({2, 1, 1, 2});
  return torch::cat({channel, 10 * channel}, 1);
}

TEST(Mmse, IsTheMeanSquaredDifferenceOfPixelMeans) {
  const Tensor reference = torch::zeros({5, 2, 1, 2}, torch::kFloat32);
  const ChannelMetric metric = mmse(two_samples(), reference);
  ASSERT_EQ(metric.channel.size(), 2U);
  EXPECT_DOUBLE_EQ(metric.channel[0], (4.0 + 25.0) / 2);
  EXPECT_DOUBLE_EQ(metric.channel[1], 100 * (4.0 + 25.0) / 2);
  EXPECT_DOUBLE_EQ(metric.mean, (metric.channel[0] + metric.channel[1]) / 2);
}

TEST(Smse, ComparesUnbiasedDeviations) {
  const Tensor constant = torch::ones({3, 2, 1, 2}, torch::kFloat64);
  const ChannelMetric metric = smse(two_samples(), constant);
  EXPECT_NEAR(metric.channel[0], 2.0 / 2, 1e-14);
  EXPECT_NEAR(metric.channel[1], 200.0 / 2, 1e-12);
  EXPECT_NEAR(metric.mean, 50.5, 1e-12);
}

TEST(Smse, IgnoresAShiftThatMmseSees) {
  const Tensor x = gaussians(16, 2, 4);
  EXPECT_NEAR(smse(x, x + 3).mean, 0, 1e-26);
  EXPECT_NEAR(mmse(x, x + 3).mean, 9, 1e-12);
  EXPECT_GT(smse(x, 2 * x).mean, 0.5);
}

TEST(Mmse, IsComputedInDoubleFromFloats) {
  const Tensor x =
      torch::full({4096, 1, 1, 1}, 1e4F) + torch::arange(4096, torch::kFloat32).remainder(2).reshape({4096, 1, 1, 1});
  EXPECT_NEAR(mmse(x, torch::full({1, 1, 1, 1}, 1e4F)).mean, 0.25, 1e-9);
  EXPECT_NEAR(smse(x, torch::full({2, 1, 1, 1}, 1e4F)).mean, 0.25 * 4096 / 4095, 1e-9);
}

TEST(Mmse, OfNonFiniteSamplesIsNotANumber) {
  Tensor x = gaussians(4, 2, 2);
  x[1][1][0][0] = NAN;
  const ChannelMetric metric = mmse(x, gaussians(4, 2, 2, 9));
  EXPECT_TRUE(std::isfinite(metric.channel[0]));
  EXPECT_TRUE(std::isnan(metric.channel[1]));
  EXPECT_TRUE(std::isnan(metric.mean));
}

TEST(Metrics, NameWrongShapes) {
  EXPECT_ERROR(mmse(torch::zeros({2, 3, 3}), torch::zeros({2, 1, 3, 3})), ExitCode::data,
               "[mmse] expected (N,C,H,W), got (2,3,3)");
  EXPECT_ERROR(smse(torch::zeros({2, 1, 3, 3}), torch::zeros({2, 2, 3, 3})), ExitCode::data, "reference (2,2,3,3)");
  EXPECT_ERROR(smse(torch::zeros({1, 1, 3, 3}), torch::zeros({2, 1, 3, 3})), ExitCode::data,
               "at least 2 samples, got 1");
  EXPECT_ERROR(sampling_floor(torch::zeros({3, 1, 2, 2}), 2, 2, 0), ExitCode::data, "at least 4 samples, got 3");
  EXPECT_ERROR(sampling_floor(torch::zeros({8, 1, 2, 2}), 1, 2, 0), ExitCode::usage, "sizes 1 and 2");
}

TEST(Misclassified, CountsCellsOnTheWrongSideOfTheMiddle) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Tensor truth = torch::tensor({3.0, 3.0, 12.0, 12.0, 3.0}).expand({3, 5});
  const Tensor a =
      torch::tensor({3.0, 7.4, 7.6, 20.0, -5.0, 7.6, 3.0, 7.4, 12.0, 3.0, std::nan(""), 3.0, kInf, 12.0, 3.0})
          .view({3, 5});
  const Tensor shares = misclassified(a, truth, 3, 12);
  for (const auto& [sample, share] : std::vector<std::pair<int64_t, double>>{{0, 0.0}, {1, 0.4}, {2, 0.4}})
    EXPECT_DOUBLE_EQ(shares[sample].item<double>(), share) << sample;
  EXPECT_ERROR(misclassified(torch::zeros({3, 2}), truth, 3, 12), ExitCode::data, "equal, non-empty shapes");
}

// With P independent Gaussian pixels MMSE is variance (1/n + 1/m) chi2_P / P. Here each of four channels is one pixel:
// 95th percentiles are 3.8415 for a channel and 9.4877 / 4 for the mean of the channels.
TEST(SamplingFloor, IsTheChiSquaredPercentileForFewPixels) {
  const Tensor data = gaussians(400, 4, 1);
  const Tensor standardised = 2 * (data - data.mean(0)) / data.std(0);
  const Floor floor = sampling_floor(standardised, 100, 50, 5, 4000);
  EXPECT_EQ(floor.n_generated, 100);
  EXPECT_EQ(floor.n_reference, 50);
  const double expected = 4 * (1.0 / 100 + 1.0 / 50);
  EXPECT_NEAR(floor.mmse.mean / expected, 9.4877 / 4, 0.12);
  for (const double channel : floor.mmse.channel) EXPECT_NEAR(channel / expected, 3.8415, 0.3);
}

// For many pixels the percentile closes in on the mean: variance (1/n + 1/m), and for the deviation variance/2 (1/(n-1)
// + 1/(m-1)).
TEST(SamplingFloor, ApproachesTheClosedFormForManyPixels) {
  Tensor data = gaussians(256, 2, 64);
  data.select(1, 1) *= 3;
  data += 40;
  const Floor floor = sampling_floor(data, 128, 64, 1);
  const double mean_unit = 1.0 / 128 + 1.0 / 64, deviation_unit = 0.5 / 127 + 0.5 / 63,
               q95 = 1.0367;  // chi2_4096(0.95) / 4096
  EXPECT_NEAR(floor.mmse.channel[0] / mean_unit, q95, 0.03);
  EXPECT_NEAR(floor.mmse.channel[1] / (9 * mean_unit), q95, 0.03);
  EXPECT_NEAR(floor.smse.channel[0] / deviation_unit, q95, 0.03);
  EXPECT_NEAR(floor.smse.channel[1] / (9 * deviation_unit), q95, 0.03);
  EXPECT_NEAR(floor.mmse.mean / (5 * mean_unit), q95, 0.03);
}

TEST(SamplingFloor, AgreesWithTheMetricsOnTheSameSplit) {
  const Tensor data = gaussians(30, 2, 3);
  const Tensor order = permutation(8, Stream::splits, 0, 30);
  const Tensor generated = data.index_select(0, order.slice(0, 0, 12)),
               reference = data.index_select(0, order.slice(0, 12, 30));
  const Floor floor = sampling_floor(data, 12, 18, 8, 1);
  const ChannelMetric mean_error = mmse(generated, reference), deviation_error = smse(generated, reference);
  for (size_t c = 0; c < 2; ++c) {
    EXPECT_NEAR(floor.mmse.channel[c], mean_error.channel[c], 1e-13);
    EXPECT_NEAR(floor.smse.channel[c], deviation_error.channel[c], 1e-13);
  }
  EXPECT_NEAR(floor.smse.mean, deviation_error.mean, 1e-13);
}

TEST(SamplingFloor, RescalesHalvesOfASmallSet) {
  const Tensor data = gaussians(41, 1, 3);
  const Floor drawn = sampling_floor(data, 20, 20, 2), scaled = sampling_floor(data, 1024, 512, 2);
  const double ratio = (1.0 / 1024 + 1.0 / 512) / (2.0 / 20);
  EXPECT_EQ(scaled.n_generated, 20);
  EXPECT_EQ(scaled.n_reference, 20);
  EXPECT_NEAR(scaled.mmse.mean / drawn.mmse.mean, ratio, 1e-12);
  EXPECT_NEAR(scaled.smse.channel[0] / drawn.smse.channel[0], ratio, 1e-12);
}

TEST(SamplingFloor, DependsOnTheSeedOnly) {
  const Tensor data = gaussians(20, 1, 3);
  EXPECT_EQ(sampling_floor(data, 10, 10, 2).mmse.mean, sampling_floor(data, 10, 10, 2).mmse.mean);
  EXPECT_NE(sampling_floor(data, 10, 10, 2).mmse.mean, sampling_floor(data, 10, 10, 3).mmse.mean);
}

TEST(Percentile, InterpolatesBetweenOrderStatistics) {
  const std::vector<double> values = {40, 10, 30, 20};
  EXPECT_DOUBLE_EQ(percentile(values, 0), 10);
  EXPECT_DOUBLE_EQ(percentile(values, 100), 40);
  EXPECT_DOUBLE_EQ(percentile(values, 50), 25);
  EXPECT_DOUBLE_EQ(percentile(values, 95), 38.5);
  EXPECT_DOUBLE_EQ(percentile({7}, 95), 7);
  EXPECT_TRUE(std::isnan(percentile({1, NAN, 2}, 50)));
  EXPECT_ERROR(percentile({}, 50), ExitCode::usage, "of 0 values");
  EXPECT_ERROR(percentile({1}, 101), ExitCode::usage, "101 %");
}

TEST(SplitFloor, AgreesWithTheMetricOnTheSameSplit) {
  const Tensor data = gaussians(30, 1, 3);
  const auto metric = [&](const Tensor& a, const Tensor& b) {
    EXPECT_EQ(a.size(0) + b.size(0), 30);
    return mmse(data.index_select(0, a), data.index_select(0, b)).mean;
  };
  EXPECT_NEAR(split_floor(30, 12, 18, 1, 8, 5, metric), sampling_floor(data, 12, 18, 8, 5).mmse.mean, 1e-13);
}

TEST(SplitFloor, ScalesHalvesByTheOrderOfTheMetric) {
  const auto size = [](const Tensor& a, const Tensor& b) { return static_cast<double>(a.size(0) + b.size(0)); };
  EXPECT_DOUBLE_EQ(split_floor(20, 10, 10, 1, 1, 3, size), 20);
  EXPECT_DOUBLE_EQ(split_floor(20, 40, 40, 1, 1, 3, size), 20 * 0.25);
  EXPECT_DOUBLE_EQ(split_floor(20, 40, 40, 0.5, 1, 3, size), 20 * 0.5);
  EXPECT_ERROR(split_floor(3, 2, 2, 1, 1, 3, size), ExitCode::data, "at least 4 samples, got 3");
}

TEST(MomentReplicates, AreTheMetricsOfTheResamples) {
  const Tensor generated = gaussians(9, 2, 3), reference = gaussians(7, 2, 3, 4) + 0.5;
  const Tensor indices = torch::tensor({0, 0, 3, 5, 5, 5, 8, 1, 2}, torch::kInt64);
  Tensor counts = torch::ones({2, 9}, torch::kFloat64);
  counts[1] = torch::bincount(indices, {}, 9).to(torch::kFloat64);
  const auto replicates = moment_replicates(generated, reference, counts);
  const Tensor resampled = generated.index_select(0, indices);
  for (int64_t c = 0; c < 2; ++c) {
    const auto channel = static_cast<size_t>(c);
    EXPECT_NEAR(replicates.mmse[c][0].item<double>(), mmse(generated, reference).channel[channel], 1e-13);
    EXPECT_NEAR(replicates.mmse[c][1].item<double>(), mmse(resampled, reference).channel[channel], 1e-13);
    EXPECT_NEAR(replicates.smse[c][1].item<double>(), smse(resampled, reference).channel[channel], 1e-13);
  }
}

}  // namespace
}  // namespace piddm
