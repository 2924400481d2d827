#include <cmath>

#include "piddm/core/rng.h"
#include "piddm/solve/piddm.h"
#include "tests/testing.h"

namespace piddm {
namespace {

const Tensor kCurvature = torch::tensor({1.0, 0.2, 3.0}, torch::kFloat64).view({3, 1});

// 1/2 c |x|^2 with another c for each sample.
Tensor quadratic(const Tensor& x) { return (0.5 * kCurvature * x.square()).sum(1); }

Tensor start() { return torch::tensor({{1.0, -2.0}, {4.0, 0.5}, {0.1, 0.2}}, torch::kFloat64); }

// N evaluations are made at x_0 .. x_{N-1}; x_k = (1 - step c)^k x_0.
TEST(MinimizeLatents, GradientDescentHasItsClosedForm) {
  const auto x = minimize_latents(quadratic, start(), {LatentOptimizer::gd, 6, 0.3});
  EXPECT_LT(testing::relative_error(x, torch::pow(1 - 0.3 * kCurvature, 5) * start()), 1e-14);
}

TEST(MinimizeLatents, ReturnsTheBestPointOfEachSample) {
  const auto x = minimize_latents(quadratic, start(), {LatentOptimizer::gd, 6, 1.0});  // |1 - 3| > 1: sample 2 diverges
  EXPECT_TRUE(torch::equal(x[2], start()[2]));
  EXPECT_LT(x[0].abs().max().item<double>(), 1e-14);
  EXPECT_LT(testing::relative_error(x[1], std::pow(0.8, 5) * start()[1]), 1e-14);
}

TEST(MinimizeLatents, AdamFirstMovesEachEntryByTheStep) {
  const auto x = minimize_latents(quadratic, start(), {LatentOptimizer::adam, 2, 0.05});
  EXPECT_LT(testing::relative_error(x, start() - 0.05 * start().sign()), 1e-6);
  const auto far = minimize_latents(quadratic, start(), {LatentOptimizer::adam, 300, 0.05});
  EXPECT_LT(quadratic(far).max().item<double>(), 1e-3);
}

TEST(MinimizeLatents, LbfgsSolvesAQuadraticInAFewSteps) {
  const auto x = minimize_latents(quadratic, start(), {LatentOptimizer::lbfgs, 12, 0.05});
  EXPECT_LT(quadratic(x).max().item<double>(), 1e-10);
}

TEST(MinimizeLatents, EverySampleIsOnItsOwn) {
  for (const auto optimizer : {LatentOptimizer::gd, LatentOptimizer::adam, LatentOptimizer::lbfgs}) {
    const auto rosenbrock = [](const Tensor& x) {
      return (1 - x.select(1, 0)).square() + 100 * (x.select(1, 1) - x.select(1, 0).square()).square();
    };
    const LatentOptions options{optimizer, 15, 1e-3};
    const auto together = minimize_latents(rosenbrock, start(), options);
    for (int64_t i = 0; i < 3; ++i)
      EXPECT_TRUE(torch::equal(minimize_latents(rosenbrock, start().narrow(0, i, 1), options)[0], together[i])) << i;
  }
}

TEST(MinimizeLatents, CountsEvaluations) {
  for (const auto optimizer : {LatentOptimizer::gd, LatentOptimizer::adam, LatentOptimizer::lbfgs})
    for (const int64_t n : {1, 5}) {
      int64_t calls = 0;
      const auto counted = [&](const Tensor& x) {
        ++calls;
        return (1 - x).pow(4).sum(1);
      };
      minimize_latents(counted, start(), {optimizer, n, 1e-3});
      EXPECT_EQ(calls, n);
    }
}

TEST(MinimizeLatents, ASampleThatIsNotFiniteStaysAndHarmsNoOther) {
  const auto factor = torch::tensor({1.0, 1.0, std::nan("")}, torch::kFloat64);
  const auto broken = [&](const Tensor& x) { return factor * quadratic(x); };
  for (const auto optimizer : {LatentOptimizer::gd, LatentOptimizer::lbfgs}) {
    const auto x = minimize_latents(broken, start(), {optimizer, 5, 0.3});
    EXPECT_TRUE(torch::equal(x[2], start()[2]));
    EXPECT_LT(quadratic(x)[0].item<double>(), 0.3 * quadratic(start())[0].item<double>());
  }
}

TEST(MinimizeLatents, NoIterationsNoChange) {
  EXPECT_TRUE(torch::equal(minimize_latents(quadratic, start(), {LatentOptimizer::gd, 0, 1}), start()));
  EXPECT_ERROR(minimize_latents(quadratic, start(), {LatentOptimizer::gd, -1, 1}), ExitCode::usage, "iterations");
}

}  // namespace
}  // namespace piddm
