#include "piddm/eval/ensembles/ensemble.h"

#include <cmath>

#include "piddm/core/rng.h"
#include "tests/testing.h"

namespace piddm {
namespace {

Tensor gaussian_members(int64_t n, const std::vector<int64_t>& shape, uint64_t seed) {
  return normal(seed, Stream::coefficients, 0, n, shape, torch::kFloat64);
}

TEST(Ensemble, ScoresOfTwoMembersByHand) {
  const auto members = torch::tensor({1.0, 0.0, 4.0, 2.0}, torch::kFloat64).view({2, 1, 2});
  const auto truth = torch::tensor({2.0, 5.0}, torch::kFloat64).view({1, 2});
  const auto scores = ensemble_scores(members, truth, torch::ones_like(truth));
  // entry 0: members 1, 4: (1 + 2)/2 - 3/2 = 0, inside; entry 1: members 0, 2: (5 + 3)/2 - 2/2 = 3, outside
  EXPECT_NEAR(scores.mean(scores.crps), 1.5, 1e-14);
  EXPECT_NEAR(scores.mean(scores.coverage), 0.5, 1e-14);
  EXPECT_NEAR(scores.mean(scores.spread), (4.5 + 2.0) / 2, 1e-14);
  EXPECT_NEAR(scores.mean(scores.mean_mse), (0.25 + 16.0) / 2, 1e-14);
  EXPECT_NEAR(scores.nominal_coverage, 1.0 / 3, 1e-14);
}

TEST(Ensemble, CountsOnlyWhatWasAskedFor) {
  const auto members = gaussian_members(4, {2, 3}, 1), truth = gaussian_members(2, {3}, 2);
  auto asked = torch::zeros_like(truth);
  asked[1][2] = 1;
  const auto one = ensemble_scores(members, truth, asked);
  const auto alone = ensemble_scores(members.narrow(1, 1, 1).narrow(2, 2, 1), truth.narrow(0, 1, 1).narrow(1, 2, 1),
                                     torch::ones({1, 1}, torch::kFloat64));
  EXPECT_NEAR(one.mean(one.crps), alone.mean(alone.crps), 1e-14);
  EXPECT_EQ(one.asked.sum().item<double>(), 1);
  EXPECT_EQ(one.crps[0].item<double>(), 0);
}

// For y and all members N(0,1): E crps = E|X-Y| / 2 = 1/sqrt(pi), whatever K.
TEST(Ensemble, OfTheTrueLawIsCalibrated) {
  const auto truth = gaussian_members(4000, {5}, 1);
  for (const int64_t k : {2, 8, 40}) {
    const auto members = gaussian_members(k, {4000, 5}, 2);
    const auto scores = ensemble_scores(members, truth, torch::ones_like(truth));
    EXPECT_NEAR(scores.mean(scores.crps), 1 / std::sqrt(M_PI), 0.02) << k;
    EXPECT_NEAR(scores.mean(scores.coverage), scores.nominal_coverage, 0.02) << k;
    EXPECT_NEAR(scores.mean(scores.spread), 1, 0.04) << k;
    EXPECT_NEAR(scores.mean(scores.mean_mse), 1 + 1.0 / static_cast<double>(k), 0.05) << k;
  }
  EXPECT_NEAR(ensemble_scores(gaussian_members(40, {4000, 5}, 2), truth, torch::ones_like(truth)).nominal_coverage,
              37.0 / 41, 1e-14);
}

TEST(Ensemble, SaysWhatItNeeds) {
  const auto truth = torch::zeros({2, 3}, torch::kFloat64);
  EXPECT_ERROR(ensemble_scores(truth.unsqueeze(0), truth, truth), ExitCode::data, "at least 2 members, got 1");
  EXPECT_ERROR(ensemble_scores(torch::zeros({2, 3, 3}), truth, truth), ExitCode::data, "do not fit the truth (2,3)");
}

}  // namespace
}  // namespace piddm
