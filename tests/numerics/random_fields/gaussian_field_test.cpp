#include "piddm/numerics/random_fields/gaussian_field.h"

#include <cmath>
#include <numbers>

#include "piddm/numerics/sine_transform.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using piddm::testing::relative_error;

TEST(GaussianField, IsTheSumOfItsModes) {
  constexpr int64_t n = 6;
  const double pi = std::numbers::pi;
  const Tensor xi = normal(9, Stream::coefficients, 4, 1, {n * n}, torch::kFloat64)[0];
  const auto phi = [&](int64_t k, int64_t i) { return k == 0 ? 1 : std::sqrt(2.0) * std::cos(pi * k * (i + 0.5) / n); };
  const Tensor expected = torch::zeros({n, n}, torch::kFloat64);
  for (int64_t k = 0; k < n; ++k)
    for (int64_t l = 0; l < n; ++l) {
      if (k == 0 && l == 0) continue;
      // shells max(k,l) = m in turn: (m,0) .. (m,m), then (0,m) .. (m-1,m)
      const int64_t place = k >= l ? k * k + l : l * l + l + 1 + k;
      const double s = 3 / (pi * pi * (k * k + l * l) + 9);
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) expected[i][j] += s * xi[place] * phi(k, i) * phi(l, j);
    }
  EXPECT_LT(relative_error(GaussianField(n).sample(9, 4, 1)[0][0], expected), 1e-13);
}

TEST(GaussianField, ExactVarianceOfThePublishedLaw) {
  EXPECT_NEAR(std::sqrt(GaussianField(128).pointwise_variance_mean()), 0.2921, 5e-5);
}

TEST(GaussianField, SampleVarianceMatchesTheSumOfModes) {
  for (const auto& [alpha, tau] : {std::pair{2.0, 3.0}, {3.0, 7.0}}) {
    const GaussianField field(32, alpha, tau);
    const Tensor variance = field.sample(1, 0, 1500).square().mean({1, 2, 3});  // one independent number a sample
    const double error = variance.std().item<double>() / std::sqrt(1500.0);
    EXPECT_NEAR(variance.mean().item<double>(), field.pointwise_variance_mean(), 4 * error);
    EXPECT_LT(error, 0.04 * field.pointwise_variance_mean());
  }
}

TEST(GaussianField, EveryModeHasItsVariance) {
  const Tensor modes = cosine_transform(GaussianField(8).sample(2, 0, 4000)).squeeze(1) / 8;
  const Tensor k2 = torch::arange(8, torch::kFloat64).mul(std::numbers::pi).square();
  const Tensor s = 3 / (k2.unsqueeze(1) + k2 + 9);
  EXPECT_LT(modes.select(1, 0).select(1, 0).abs().max().item<double>(), 1e-14);  // zero mean, sample by sample
  Tensor ratio = modes.square().mean(0) / s.square();
  ratio[0][0] = 1;
  EXPECT_LT((ratio - 1).abs().max().item<double>(), 5 * std::sqrt(2.0 / 4000));  // 63 modes, 5 standard errors
}

TEST(GaussianField, SameFunctionOnEveryGrid) {
  const Tensor coarse = cosine_transform(GaussianField(8).sample(3, 5, 2)) / 8;
  const Tensor fine = cosine_transform(GaussianField(20).sample(3, 5, 2)) / 20;
  EXPECT_LT(relative_error(fine.narrow(2, 0, 8).narrow(3, 0, 8), coarse), 1e-13);
}

TEST(GaussianField, SameBitsForAnyBatchSplit) {
  const GaussianField field(32);
  const Tensor all = field.sample(7, 10, 8);
  for (const int64_t split : {1, 3})
    for (int64_t i = 0; i < 8; i += split) {
      const int64_t count = std::min(split, 8 - i);
      EXPECT_TRUE(torch::equal(field.sample(7, 10 + i, count), all.narrow(0, i, count))) << split << " " << i;
    }
}

TEST(GaussianField, RefusesNonsense) { EXPECT_ERROR(GaussianField(8, 2, 0), ExitCode::usage, "tau = 0"); }

}  // namespace
}  // namespace piddm
