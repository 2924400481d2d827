#include "piddm/posterior/crps.h"

#include <cmath>

#include "piddm/core/rng.h"
#include "piddm/eval/ensembles/ensemble.h"
#include "tests/testing.h"

namespace piddm {
namespace {

Tensor normals(const std::vector<int64_t>& shape, uint64_t seed = 1) {
  return piddm::normal(seed, Stream::noise, 0, 1, shape, torch::kFloat64)[0];
}

TEST(FairCrps, OfTwoDrawsIsTheMeanDistanceLessHalfOfTheirOwn) {
  const auto draws = torch::tensor({{1.0, 4.0}, {-2.0, -2.0}}, torch::kFloat64),
             y = torch::tensor({2.0, 1.0}, torch::kFloat64);
  EXPECT_TRUE(fair_crps(draws, y).equal(torch::tensor({1.5 - 1.5, 3.0}, torch::kFloat64)));
}

TEST(FairCrps, AgreesWithTheJudgesOfEnsembles) {
  for (const int64_t members : {2, 3, 7}) {
    const auto draws = normals({5, members, 3, 4}), y = normals({5, 3, 4}, 2);
    const auto judged = ensemble_scores(draws.transpose(0, 1).contiguous(), y, torch::ones_like(y));
    EXPECT_TRUE(torch::allclose(fair_crps(draws, y).flatten(1).sum(1), judged.crps, 1e-12)) << members;
  }
}

// CRPS(N(0,s^2), y) = s (w (2 Phi(w) - 1) + 2 phi(w) - 1/sqrt(pi)), w = y/s (Gneiting and Raftery 2007).
TEST(FairCrps, MeansThatOfAGaussianLawWhateverTheNumberOfDraws) {
  constexpr int64_t kRepeats = 200'000;
  const double y = 0.7, s = 1.5, w = y / s;
  const double phi = std::exp(-w * w / 2) / std::sqrt(2 * M_PI), distribution = 0.5 * std::erfc(-w / std::sqrt(2));
  const double exact = s * (w * (2 * distribution - 1) + 2 * phi - 1 / std::sqrt(M_PI));
  for (const int64_t members : {2, 5}) {
    const auto scores = fair_crps(s * normals({kRepeats, members}), torch::full({kRepeats}, y, torch::kFloat64));
    const double error = scores.std().item<double>() / std::sqrt(kRepeats);
    EXPECT_NEAR(scores.mean().item<double>(), exact, 4 * error) << members;
  }
}

TEST(FairCrps, HasTheGradientOfItsFormula) {
  auto draws = torch::tensor({{1.0, 4.0, 2.5}}, torch::kFloat64).requires_grad_();
  fair_crps(draws, torch::tensor({3.0}, torch::kFloat64)).sum().backward();
  // sign(x_i - y)/3 - sum_j sign(x_i - x_j)/6
  const auto expected = torch::tensor({{-1.0 / 3 + 2.0 / 6, 1.0 / 3 - 2.0 / 6, -1.0 / 3}}, torch::kFloat64);
  EXPECT_TRUE(torch::allclose(draws.grad(), expected, 0, 1e-15));
}

// A location and a scale learned from draws alone are those of the law of y.
TEST(FairCrps, IsLeastAtTheLawOfTheTruth) {
  const auto y = 2 + 0.5 * normals({20'000}, 4), z = normals({20'000, 2}, 5);
  auto mean = torch::zeros({}, torch::dtype(torch::kFloat64).requires_grad(true)),
       scale = torch::ones({}, torch::dtype(torch::kFloat64).requires_grad(true));
  for (int step = 0; step < 300; ++step) {
    mean.mutable_grad() = Tensor();
    scale.mutable_grad() = Tensor();
    fair_crps(mean + scale * z, y).mean().backward();
    const torch::NoGradGuard no_grad;
    mean -= 0.2 * mean.grad();
    scale -= 0.2 * scale.grad();
  }
  EXPECT_NEAR(mean.item<double>(), 2, 0.02);
  EXPECT_NEAR(scale.item<double>(), 0.5, 0.02);
}

TEST(FairCrps, RefusesASingleDrawAndWrongShapes) {
  EXPECT_THROW(fair_crps(torch::ones({3, 1, 4}), torch::ones({3, 4})), DataError);
  EXPECT_THROW(fair_crps(torch::ones({3, 2, 4}), torch::ones({3, 5})), DataError);
}

}  // namespace
}  // namespace piddm
