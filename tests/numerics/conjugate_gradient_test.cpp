#include "piddm/numerics/conjugate_gradient.h"

#include "tests/testing.h"

namespace piddm {
namespace {

using piddm::testing::relative_error;

constexpr int64_t kSide = 6, kSize = kSide * kSide;

/// Dense matrices [B,36,36] acting on samples [B,1,6,6].
LinearMap dense(const Tensor& matrices) {
  return [matrices](const Tensor& x) { return (matrices * x.reshape({-1, 1, kSize})).sum(2).view(x.sizes()); };
}

Tensor identity(const Tensor& x) { return x; }

/// Symmetric positive definite with the condition numbers given, one matrix each.
Tensor spd_matrices(const std::vector<double>& conditions) {
  std::vector<Tensor> out;
  for (const double condition : conditions) {
    const Tensor q = std::get<0>(torch::linalg_qr(torch::randn({kSize, kSize}, torch::kFloat64), "reduced"));
    out.push_back((q * torch::linspace(1, condition, kSize, torch::kFloat64)).mm(q.t()));
  }
  return torch::stack(out);
}

Tensor random_fields(int64_t count) { return torch::randn({count, 1, kSide, kSide}, torch::kFloat64); }

TEST(ConjugateGradient, SolvesEachSample) {
  const Tensor a = spd_matrices({1, 10, 1000}), x = random_fields(3);
  const CgResult result = conjugate_gradient(dense(a), identity, dense(a)(x));
  EXPECT_LT(relative_error(result.x, x), 1e-9);
  EXPECT_LT(result.relative_residual.max().item<double>(), 1e-12);
  EXPECT_EQ(result.iterations[0].item<int64_t>(), 1);
  EXPECT_GT(result.iterations[2].item<int64_t>(), result.iterations[1].item<int64_t>());
}

TEST(ConjugateGradient, ReportsTheTrueResidual) {
  const Tensor a = spd_matrices({50, 50}), b = random_fields(2);
  const CgResult result = conjugate_gradient(dense(a), identity, b, {}, {.tolerance = 1e-5});
  const Tensor truth = (b - dense(a)(result.x)).flatten(1).norm(2, 1) / b.flatten(1).norm(2, 1);
  EXPECT_LT(relative_error(result.relative_residual, truth), 1e-8);
  EXPECT_LT(truth.max().item<double>(), 1e-5);
  EXPECT_GT(truth.min().item<double>(), 1e-8);  // stopped when asked to, not later
}

TEST(ConjugateGradient, PreconditionerSavesIterations) {
  const Tensor a = spd_matrices({1e4}), b = random_fields(1);
  const Tensor nearly = torch::linalg_inv(a + 0.01 * torch::eye(kSize, torch::kFloat64));
  const CgResult plain = conjugate_gradient(dense(a), identity, b),
                 fast = conjugate_gradient(dense(a), dense(nearly), b);
  EXPECT_LT(relative_error(fast.x, plain.x), 1e-8);
  EXPECT_LT(fast.iterations.item<int64_t>() * 3, plain.iterations.item<int64_t>());
}

TEST(ConjugateGradient, ResultsDoNotDependOnTheBatch) {
  const Tensor a = spd_matrices({3, 1000, 30, 1}), b = random_fields(4);
  const CgResult together = conjugate_gradient(dense(a), identity, b);
  for (int64_t i = 0; i < 4; ++i) {
    const CgResult alone = conjugate_gradient(dense(a.narrow(0, i, 1)), identity, b.narrow(0, i, 1));
    EXPECT_TRUE(torch::equal(alone.x, together.x.narrow(0, i, 1))) << i;
    EXPECT_EQ(alone.iterations.item<int64_t>(), together.iterations[i].item<int64_t>()) << i;
  }
}

TEST(ConjugateGradient, StartVector) {
  const Tensor a = spd_matrices({100, 100}), b = random_fields(2);
  const CgResult cold = conjugate_gradient(dense(a), identity, b);
  const CgResult same = conjugate_gradient(dense(a), identity, b, cold.x);
  EXPECT_EQ(same.iterations.sum().item<int64_t>(), 0);
  EXPECT_TRUE(torch::equal(same.x, cold.x));
  const CgResult far = conjugate_gradient(dense(a), identity, b, 1e3 * random_fields(2));
  EXPECT_LT(relative_error(far.x, cold.x), 1e-10);
}

TEST(ConjugateGradient, ZeroRightHandSide) {
  const Tensor a = spd_matrices({10, 10}),
               b = torch::cat({random_fields(1), torch::zeros({1, 1, kSide, kSide}, torch::kFloat64)});
  const CgResult result = conjugate_gradient(dense(a), identity, b);
  EXPECT_EQ(result.x[1].abs().max().item<double>(), 0);
  EXPECT_EQ(result.iterations[1].item<int64_t>(), 0);
  EXPECT_TRUE(all_finite(result.x));
}

TEST(ConjugateGradient, StopsAtRoundOffWhenTheToleranceIsOutOfReach) {
  const Tensor a = spd_matrices({1e5, 10}), b = random_fields(2);
  const CgResult result = conjugate_gradient(dense(a), identity, b, {}, {.tolerance = 1e-30});
  EXPECT_LT(result.relative_residual.max().item<double>(), 1e-11);
  EXPECT_LT(result.iterations.max().item<int64_t>(), 2000);
}

TEST(ConjugateGradient, AFixedNumberOfStepsEndsAtTheSolution) {
  const Tensor a = spd_matrices({10, 30}), x = random_fields(2), b = dense(a)(x), start = random_fields(2);
  EXPECT_TRUE(conjugate_gradient_steps(dense(a), identity, b, start, 0).equal(start));
  Tensor error = start - x;
  const auto energy = [&](const Tensor& e) { return (e * dense(a)(e)).sum({1, 2, 3}); };
  for (int64_t k = 1; k <= 10; ++k) {
    const Tensor next = conjugate_gradient_steps(dense(a), identity, b, start, k) - x;
    EXPECT_TRUE((energy(next) < 0.9 * energy(error)).all().item<bool>()) << k;
    error = next;
  }
  EXPECT_LT(relative_error(conjugate_gradient_steps(dense(a), identity, b, start, kSize + 4), x), 1e-10);
}

TEST(ConjugateGradient, AFactorOfThePreconditionerDropsOutOfTheSteps) {
  const Tensor a = spd_matrices({10, 30}), b = random_fields(2), start = random_fields(2);
  const auto minus = [](const Tensor& r) { return -0.1 * r; };
  EXPECT_LT(relative_error(conjugate_gradient_steps(dense(a), minus, b, start, 4),
                           conjugate_gradient_steps(dense(a), identity, b, start, 4)),
            1e-12);
}

TEST(ConjugateGradient, StepsAreDifferentiableAndStayAtASolution) {
  const Tensor a = spd_matrices({10, 30}), b = random_fields(2), start = random_fields(2);
  const auto loss = [&](const Tensor& v) { return conjugate_gradient_steps(dense(a), identity, b, v, 3).pow(3).sum(); };
  EXPECT_LT(testing::gradient_error(loss, start), 1e-6);
  const Tensor zero = torch::zeros_like(b), at = zero.clone().requires_grad_();
  const Tensor y = conjugate_gradient_steps(dense(a), identity, zero, at, 3);
  EXPECT_EQ(y.abs().max().item<double>(), 0);
  EXPECT_TRUE(all_finite(torch::autograd::grad({y.sum()}, {at})[0]));
}

TEST(ConjugateGradient, FailuresAreErrors) {
  const Tensor a = spd_matrices({1e4, 1}), b = random_fields(2);
  EXPECT_ERROR(conjugate_gradient(dense(a), identity, b, {}, {.max_iterations = 5}), ExitCode::numerics,
               "1 of 2 samples");
  EXPECT_ERROR(conjugate_gradient(dense(-a), identity, b), ExitCode::numerics, "did not converge");
  EXPECT_ERROR(conjugate_gradient(dense(a), identity, b * NAN), ExitCode::numerics, "nan,");
  EXPECT_ERROR(conjugate_gradient(dense(a), identity, b, random_fields(1)), ExitCode::data, "(1,1,6,6)");
}

}  // namespace
}  // namespace piddm
