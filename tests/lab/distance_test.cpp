#include "piddm/lab/distance.h"

#include <cmath>

#include "piddm/core/json_text.h"
#include "piddm/lab/histogram.h"
#include "tests/testing.h"

namespace piddm {
namespace {

GaussianMixture line(const std::vector<double>& means, double variance) {
  std::vector<GaussianComponent> components;
  for (const double mean : means)
    components.push_back({1, torch::full({1}, mean, torch::kFloat64), torch::full({1, 1}, variance, torch::kFloat64)});
  return GaussianMixture(components);
}

Tensor vector_of(const json& values) { return torch::tensor(values.get<std::vector<double>>(), torch::kFloat64); }

TEST(Wasserstein, AgreesWithScipy) {
  const auto golden = parse_json(testing::read_text(testing::golden("mixture.json")), "mixture.json").at("distance");
  EXPECT_NEAR(wasserstein(vector_of(golden.at("a")), vector_of(golden.at("b"))), golden.at("w1").get<double>(), 1e-12);
}

TEST(Wasserstein, OfAShiftIsTheShift) {
  const auto x = line({0}, 1).sample(1, Stream::coefficients, 0, 1000);
  EXPECT_NEAR(wasserstein(x, x + 0.25), 0.25, 1e-12);
  EXPECT_ERROR(wasserstein(x, x.narrow(0, 0, 3)), ExitCode::data, "1000 values against 3");
}

TEST(Wasserstein, FallsToItsFloorForTrueSamplesOnly) {
  const auto law = line({-1, 1}, 0.04);
  const double floor = wasserstein_floor(law, 4000, 5);
  EXPECT_LT(wasserstein(law.sample(6, Stream::coefficients, 0, 4000), law), floor);
  EXPECT_GT(wasserstein(line({-1, 1}, 0.01).sample(6, Stream::coefficients, 0, 4000), law), floor);
  EXPECT_LT(wasserstein_floor(law, 16000, 5), 0.7 * floor);
}

TEST(Quantiles, AreThoseOfTheNormalLaw) {
  const auto q = quantiles(line({2}, 9), 4);
  const double at_7_8 = 1.1503493803760083;  // the normal quantile 7/8
  EXPECT_NEAR(q[3].item<double>(), 2 + 3 * at_7_8, 1e-10);
  EXPECT_NEAR(q[0].item<double>(), 2 - 3 * at_7_8, 1e-10);
}

TEST(Quantiles, StandOnPointMasses) {
  const auto q = quantiles(line({-1, 1}, 0), 4);
  EXPECT_LT(testing::relative_error(q, torch::tensor({-1.0, -1.0, 1.0, 1.0}, torch::kFloat64)), 1e-8);
}

TEST(Histogram, CountsIntoItsBinsAndKeepsTheTotal) {
  const auto x = torch::tensor({0.1, 0.2, 0.6, 5.0}, torch::kFloat64);
  const auto density = histogram(x, {0, 1, 2});
  EXPECT_DOUBLE_EQ(density[0].item<double>(), 1.0);
  EXPECT_DOUBLE_EQ(density[1].item<double>(), 0.5);
  const auto curve = histogram_curve("x", x, {0, 1, 2});
  EXPECT_EQ(curve.x, (std::vector<double>{0, 0.5, 0.5, 1}));
  EXPECT_EQ(curve.y, (std::vector<double>{1, 1, 0.5, 0.5}));
}

}  // namespace
}  // namespace piddm
