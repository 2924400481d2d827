#include <cmath>

#include "piddm/core/rng.h"
#include "piddm/solve/methods/piddm.h"
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

// sqrt(c/2) x: the same objective as a sum of squares.
Tensor quadratic_rows(const Tensor& x, const Tensor& rows) {
  return (0.5 * kCurvature.index_select(0, rows)).sqrt() * x;
}

/// A x - b for each sample.
struct LinearProblem {
  Tensor a = normal(6, Stream::noise, 0, 3, {8, 5}, torch::kFloat64);
  Tensor b = normal(6, Stream::noise, 10, 3, {8}, torch::kFloat64);
  Tensor x0 = normal(6, Stream::noise, 20, 3, {5}, torch::kFloat64);
  Tensor minimum() const { return torch::linalg_pinv(a).bmm(b.unsqueeze(2)).squeeze(2); }
  Tensor operator()(const Tensor& x, const Tensor& rows) const {
    return a.index_select(0, rows).bmm(x.unsqueeze(2)).squeeze(2) - b.index_select(0, rows);
  }
};

constexpr LatentOptimizer kAll[] = {LatentOptimizer::gd, LatentOptimizer::adam, LatentOptimizer::lbfgs,
                                    LatentOptimizer::gauss_newton};

TEST(MinimizeSquares, AgreesWithTheLossItSquares) {
  for (const auto optimizer : {LatentOptimizer::gd, LatentOptimizer::adam, LatentOptimizer::lbfgs}) {
    const LatentOptions options{optimizer, 7, 0.1};
    const auto result = minimize_squares(quadratic_rows, start(), options);
    EXPECT_LT((result.x - minimize_latents(quadratic, start(), options)).abs().max().item<double>(), 1e-9);
    EXPECT_LT(testing::relative_error(result.value, quadratic(result.x)), 1e-12);
    EXPECT_TRUE((result.evaluations <= 7).all().item<bool>());
  }
}

TEST(MinimizeSquares, GaussNewtonSolvesALinearProblem) {
  const LinearProblem problem;
  const auto result = minimize_squares(problem, problem.x0, {.optimizer = LatentOptimizer::gauss_newton});
  EXPECT_LT(testing::relative_error(result.x, problem.minimum()), 1e-6);
  EXPECT_LT((problem.minimum() - problem.x0).abs().max().item<double>(), 10);
}

// Sample 0 starts at its minimum and ends at once; what becomes of the others is what becomes of them without it.
TEST(MinimizeSquares, SamplesThatAreDoneLeaveAndChangeNoOther) {
  const LinearProblem problem;
  auto x0 = problem.x0.clone();
  x0[0] = problem.minimum()[0];
  for (const auto optimizer : kAll) {
    LatentOptions options{optimizer, 40, 0.01};
    options.tolerance = 1e-2;
    int64_t asked = 0;
    const auto counted = [&](const Tensor& x, const Tensor& rows) {
      asked += rows.size(0);
      return problem(x, rows);
    };
    const auto result = minimize_squares(counted, x0, options);
    EXPECT_EQ(asked + result.tangents, result.evaluations.sum().item<int64_t>());
    EXPECT_LT(testing::relative_error(result.value, problem(result.x, torch::arange(3)).square().sum(1)), 1e-12);
    EXPECT_LT(result.evaluations[0].item<int64_t>(), 40);
    EXPECT_TRUE(result.converged[0].item<bool>());
    for (const int64_t i : {1, 2}) {
      const auto only = [&](const Tensor& x, const Tensor& rows) { return problem(x, rows + i); };
      const auto alone = minimize_squares(only, x0.narrow(0, i, 1), options);
      EXPECT_LT(testing::relative_error(alone.x[0], result.x[i]), 1e-9) << i;
      EXPECT_EQ(alone.evaluations[0].item<int64_t>(), result.evaluations[i].item<int64_t>()) << i;
    }
  }
}

TEST(MinimizeSquares, WithoutAToleranceNobodyLeaves) {
  const LinearProblem problem;
  for (const auto optimizer : {LatentOptimizer::gd, LatentOptimizer::adam, LatentOptimizer::lbfgs}) {
    const auto result = minimize_squares(problem, problem.x0, {optimizer, 9, 1e-3});
    EXPECT_TRUE((result.evaluations == 9).all().item<bool>());
    EXPECT_FALSE(result.converged.any().item<bool>());
  }
}

TEST(MinimizeSquares, ToleranceIsAShareOfTheObjectiveOverTenEvaluations) {
  // gd multiplies the objective by (1 - 0.1 c)^2 an evaluation: over ten by 0.1, 0.67 and 0.0008
  const auto share = [&](double tolerance) {
    LatentOptions options{LatentOptimizer::gd, 60, 0.1};
    options.tolerance = tolerance;
    return minimize_squares(quadratic_rows, start(), options).evaluations;
  };
  EXPECT_TRUE(torch::equal(share(0.5), torch::tensor({60, 20, 60}, torch::kLong)));
  EXPECT_TRUE(torch::equal(share(0.95), torch::tensor({20, 20, 60}, torch::kLong)));
}

TEST(MinimizeSquares, NoIterationsNoChange) {
  for (const auto optimizer : kAll) {
    const auto result = minimize_squares(quadratic_rows, start(), {optimizer, 0, 1});
    EXPECT_TRUE(torch::equal(result.x, start()));
    EXPECT_EQ(result.evaluations.sum().item<int64_t>(), 0);
  }
}

TEST(MinimizeLatents, RefusesGaussNewtonWithoutSquares) {
  EXPECT_ERROR(minimize_latents(quadratic, start(), {LatentOptimizer::gauss_newton, 5, 1}), ExitCode::usage,
               "gauss-newton needs");
}

}  // namespace
}  // namespace piddm
