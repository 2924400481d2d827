#include "piddm/numerics/random_fields/gaussian_series.h"

#include <cmath>
#include <numbers>

#include "piddm/numerics/random_fields/gaussian_field.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using testing::relative_error;

SeriesAxis cells(int64_t n, double length = 1) {
  return {.length = length, .coordinates = (torch::arange(n, torch::kFloat64) + 0.5) * (length / n), .count = n};
}

TEST(GaussianSeries, IsTheFieldByCosinesAtCellCentres) {
  for (const auto& [alpha, tau] : {std::pair{2.0, 3.0}, {3.0, 7.0}}) {
    const GaussianSeries series({cells(12, 2), cells(20)}, alpha, tau, 2);
    const GaussianField field({{12, 20}, {2, 1}}, alpha, tau);
    EXPECT_LT(relative_error(series.sample(4, 1, 3), 2 * field.sample(4, 1, 3)), 1e-12);
  }
}

TEST(GaussianSeries, IsTheSameFunctionAtOtherPoints) {
  const auto nodes = [](int64_t n, int64_t count) {
    return SeriesAxis{.coordinates = torch::arange(n, torch::kFloat64) / static_cast<double>(n - 1), .count = count};
  };
  const GaussianSeries coarse({nodes(9, 9), nodes(9, 9)}), fine({nodes(17, 9), nodes(17, 9)});
  const auto every_other = fine.sample(1, 0, 2).slice(2, 0, 17, 2).slice(3, 0, 17, 2);
  EXPECT_LT(relative_error(every_other, coarse.sample(1, 0, 2)), 1e-12);
}

// The covariance on a ring is sum_k s_k^2 2 cos(w_k (x - y)): the same from every point, by Monte Carlo.
TEST(GaussianSeries, OnARingTheCovarianceDependsOnTheDistanceOnly) {
  constexpr int64_t n = 15, count = 4000;
  const SeriesAxis ring{.functions = SeriesAxis::Functions::fourier,
                        .length = 2,
                        .coordinates = torch::arange(n, torch::kFloat64) * (2.0 / n),
                        .count = n};
  const auto g = GaussianSeries({ring, {}}, 1, 5).sample(3, 0, count).view({count, n});
  const auto covariance = torch::matmul(g.t(), g) / count;
  for (const int64_t distance : {0, 1, 4}) {
    double exact = 0;
    for (int64_t k = 1; 2 * k < n; ++k) {
      const double w = std::numbers::pi * k;
      exact += std::cos(w * distance * 2.0 / n) / (w * w + 25);  // 2 s^2, area 2
    }
    for (const int64_t i : {0, 7, 14}) {
      const double variance = covariance[i][i].item<double>();
      EXPECT_NEAR(covariance[i][(i + distance) % n].item<double>(), exact, 5 * variance * std::sqrt(2.0 / count));
    }
  }
}

TEST(GaussianSeries, SinesAreZeroAtTheEndsAndHaveNoConstant) {
  const SeriesAxis ends{
      .functions = SeriesAxis::Functions::sine, .coordinates = torch::linspace(0, 1, 11, torch::kFloat64), .count = 9};
  const auto g = GaussianSeries({ends, {}}, 2, 3).sample(3, 0, 5);
  EXPECT_LT(g.select(2, 0).abs().max().item<double>(), 1e-15);
  EXPECT_LT(g.select(2, 10).abs().max().item<double>(), 1e-13);
  EXPECT_GT(g.select(2, 5).abs().min().item<double>(), 1e-4);
}

TEST(GaussianSeries, ASampleDoesNotDependOnItsBatch) {
  const GaussianSeries series({cells(16), cells(24)});
  EXPECT_TRUE(torch::equal(series.sample(1, 0, 5), torch::cat({series.sample(1, 0, 1), series.sample(1, 1, 4)})));
}

}  // namespace
}  // namespace piddm
