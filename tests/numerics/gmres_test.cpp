#include "piddm/numerics/gmres.h"

#include <ATen/Parallel.h>

#include <cmath>

#include "piddm/core/device.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using piddm::testing::relative_error;

constexpr int64_t kHeight = 5, kWidth = 4, kUnknowns = 2 * kHeight * kWidth;

/// Dense matrices [B,40,40] acting on samples [B,2,5,4].
LinearMap dense_map(const Tensor& matrices) {
  return [matrices](const Tensor& x) { return (matrices * x.reshape({-1, 1, kUnknowns})).sum(2).view(x.sizes()); };
}

Tensor same(const Tensor& x) { return x; }

/// Nonsymmetric, with eigenvalues around 1 in circles of these radii: the larger, the harder.
Tensor matrices_around_one(const std::vector<double>& radii) {
  std::vector<Tensor> out;
  const Tensor one = torch::eye(kUnknowns, torch::kFloat64);
  for (const double radius : radii)
    out.push_back(one + torch::randn({kUnknowns, kUnknowns}, torch::kFloat64) * (radius / std::sqrt(kUnknowns)));
  return torch::stack(out);
}

Tensor random_samples(int64_t count) { return torch::randn({count, 2, kHeight, kWidth}, torch::kFloat64); }

Tensor true_residual(const LinearMap& a, const Tensor& x, const Tensor& b) {
  return (b - a(x)).flatten(1).norm(2, 1) / b.flatten(1).norm(2, 1);
}

TEST(Gmres, SolvesEachSample) {
  const Tensor a = matrices_around_one({0, 0.2, 3}), x = random_samples(3);
  const GmresResult result = gmres(dense_map(a), same, dense_map(a)(x));
  EXPECT_LT(relative_error(result.x, x), 1e-9);
  EXPECT_LE(result.relative_residual.max().item<double>(), 1e-12);
  EXPECT_EQ(result.iterations[0].item<int64_t>(), 1);
  EXPECT_GT(result.iterations[2].item<int64_t>(), result.iterations[1].item<int64_t>());
}

TEST(Gmres, StepsGiveWhatACycleOfAsManyDoes) {
  const Tensor a = matrices_around_one({0.3, 2}), b = random_samples(2), start = random_samples(2);
  const LinearMap half = [](const Tensor& x) { return x * 0.5; };
  for (const int64_t k : {1, 3, 8}) {
    const auto cycle = gmres(dense_map(a), half, b, start, {.tolerance = 0, .restart = k, .max_iterations = k});
    EXPECT_LT(relative_error(gmres_steps(dense_map(a), half, b, start, k), cycle.x), 1e-10) << k;
  }
  EXPECT_TRUE(torch::equal(gmres_steps(dense_map(a), half, b, start, 0), start));
}

TEST(Gmres, StepsAreDifferentiableAndStayFiniteBeyondTheSolution) {
  const Tensor a = matrices_around_one({0.5}), b = random_samples(1), start = random_samples(1);
  const Tensor weights = random_samples(1);
  const auto by_b = [&](const Tensor& v) { return (gmres_steps(dense_map(a), same, v, start, 3) * weights).sum(); };
  const auto by_a = [&](const Tensor& m) { return (gmres_steps(dense_map(m), same, b, start, 3) * weights).sum(); };
  EXPECT_LT(piddm::testing::gradient_error(by_b, b), 1e-6);
  EXPECT_LT(piddm::testing::gradient_error(by_a, a), 1e-6);
  const Tensor nothing = torch::zeros_like(b);
  EXPECT_TRUE(torch::equal(gmres_steps(dense_map(a), same, nothing, nothing, 3), nothing));
}

TEST(Gmres, AFullCycleIsADirectSolver) {
  const Tensor a = matrices_around_one({5, 20}), x = random_samples(2);
  const GmresResult result = gmres(dense_map(a), same, dense_map(a)(x), {}, {.tolerance = 1e-10});
  EXPECT_LE(result.iterations.max().item<int64_t>(), kUnknowns);
  EXPECT_LE(result.relative_residual.max().item<double>(), 1e-10);
}

TEST(Gmres, TheResidualAfterKStepsIsTheSmallestOfTheKrylovSpace) {
  const Tensor a = matrices_around_one({1}), b = random_samples(1), column = b.view({kUnknowns, 1});
  Tensor krylov = column / column.norm();
  for (int64_t k = 1; k <= 6; ++k) {
    const Tensor image = a[0].mm(krylov), y = std::get<0>(torch::linalg_lstsq(image, column, 1e-14, "gelsd"));
    const double smallest = ((column - image.mm(y)).norm() / column.norm()).item<double>();
    const GmresResult result = gmres(dense_map(a), same, b, {}, {.max_iterations = k});
    EXPECT_NEAR(result.relative_residual.item<double>(), smallest, 1e-10) << k;
    EXPECT_EQ(result.iterations.item<int64_t>(), k);
    const Tensor next = a[0].mm(krylov.narrow(1, k - 1, 1));
    krylov = torch::cat({krylov, next / next.norm()}, 1);
  }
}

TEST(Gmres, ReportsTheTrueResidualAndStopsWhenAskedTo) {
  const Tensor a = matrices_around_one({0.5, 0.5}), b = random_samples(2);
  const GmresResult result = gmres(dense_map(a), same, b, {}, {.tolerance = 1e-5});
  EXPECT_LT(relative_error(result.relative_residual, true_residual(dense_map(a), result.x, b)), 1e-8);
  EXPECT_LE(result.relative_residual.max().item<double>(), 1e-5);
  EXPECT_GT(result.relative_residual.min().item<double>(), 1e-9);
}

TEST(Gmres, RestartsReachTheTolerance) {
  const Tensor a = matrices_around_one({0.4, 0.7}), x = random_samples(2);
  const GmresResult whole = gmres(dense_map(a), same, dense_map(a)(x));
  const GmresResult restarted = gmres(dense_map(a), same, dense_map(a)(x), {}, {.restart = 5});
  EXPECT_LE(restarted.relative_residual.max().item<double>(), 1e-12);
  EXPECT_LT(relative_error(restarted.x, whole.x), 1e-10);
  EXPECT_GE(restarted.iterations.max().item<int64_t>(), whole.iterations.max().item<int64_t>());
}

TEST(Gmres, PreconditionerSavesIterations) {
  const Tensor a = matrices_around_one({4}), b = random_samples(1);
  const Tensor nearly = torch::linalg_inv(a + 0.001 * torch::randn_like(a));
  const GmresResult plain = gmres(dense_map(a), same, b), fast = gmres(dense_map(a), dense_map(nearly), b);
  EXPECT_LT(relative_error(fast.x, plain.x), 1e-8);
  EXPECT_LT(fast.iterations.item<int64_t>() * 3, plain.iterations.item<int64_t>());
  EXPECT_LE(fast.relative_residual.item<double>(), 1e-12);
}

TEST(Gmres, ResultsDoNotDependOnTheBatchOrOnThreads) {
  const Tensor a = matrices_around_one({0.1, 3, 0.8, 0}), b = random_samples(4);
  const GmresResult together = gmres(dense_map(a), same, b, {}, {.restart = 12});
  const auto expect_each = [&] {
    for (int64_t i = 0; i < 4; ++i) {
      const GmresResult alone = gmres(dense_map(a.narrow(0, i, 1)), same, b.narrow(0, i, 1), {}, {.restart = 12});
      EXPECT_TRUE(torch::equal(alone.x, together.x.narrow(0, i, 1))) << i;
      EXPECT_EQ(alone.iterations.item<int64_t>(), together.iterations[i].item<int64_t>()) << i;
      EXPECT_EQ(alone.relative_residual.item<double>(), together.relative_residual[i].item<double>()) << i;
    }
  };
  expect_each();
  const int threads = at::get_num_threads();
  set_threads(2);
  expect_each();
  set_threads(threads);
}

TEST(Gmres, SameBitsOnLargeGridsForAnyBatch) {
  const Tensor b = torch::randn({3, 1, 96, 80}, torch::kFloat64), d = torch::rand_like(b) + 1;
  const auto map_of = [](const Tensor& diagonal) -> LinearMap {
    return [diagonal](const Tensor& x) { return x * diagonal + 0.4 * x.roll(1, 2) - 0.3 * x.roll(1, 3); };
  };
  const Tensor together = gmres(map_of(d), same, b).x;
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_TRUE(torch::equal(gmres(map_of(d.narrow(0, i, 1)), same, b.narrow(0, i, 1)).x, together.narrow(0, i, 1)));
}

TEST(Gmres, StartVector) {
  const Tensor a = matrices_around_one({0.5, 2}), b = random_samples(2);
  const GmresResult cold = gmres(dense_map(a), same, b);
  const GmresResult again = gmres(dense_map(a), same, b, cold.x);
  EXPECT_EQ(again.iterations.sum().item<int64_t>(), 0);
  EXPECT_TRUE(torch::equal(again.x, cold.x));
  const GmresResult far = gmres(dense_map(a), same, b, 1e3 * random_samples(2));
  EXPECT_LT(relative_error(far.x, cold.x), 1e-9);
}

TEST(Gmres, ZeroRightHandSideGivesZero) {
  const Tensor a = matrices_around_one({1, 1}), b = random_samples(2);
  b[1].zero_();
  for (const Tensor& start : {Tensor(), random_samples(2)}) {
    const GmresResult result = gmres(dense_map(a), same, b, start);
    EXPECT_EQ(result.x[1].abs().max().item<double>(), 0);
    EXPECT_EQ(result.iterations[1].item<int64_t>(), 0);
    EXPECT_EQ(result.relative_residual[1].item<double>(), 0);
    EXPECT_LE(result.relative_residual[0].item<double>(), 1e-12);
  }
}

TEST(Gmres, ASingularMatrixGivesTheBestResidualAndNoNaN) {
  const Tensor a = matrices_around_one({0.3, 0.3, 0.3});
  a.select(2, 7).zero_();  // x_7 has no say,
  a.select(1, 7).zero_();  // and the equation 7 is 0 = b_7
  const Tensor b = random_samples(3), flat = b.view({3, kUnknowns});
  flat[0][7] = 0;     // may be solved,
  flat[1][7] = 0.01;  // nearly,
  flat[2].zero_();
  flat[2][7] = 1;  // not at all
  const GmresResult result = gmres(dense_map(a), same, b);
  EXPECT_TRUE(all_finite(result.x));
  EXPECT_LE(result.relative_residual[0].item<double>(), 1e-12);
  EXPECT_NEAR(result.relative_residual[1].item<double>(), (0.01 / b[1].norm()).item<double>(), 1e-8);
  EXPECT_EQ(result.relative_residual[2].item<double>(), 1);
  EXPECT_EQ(result.x[2].abs().max().item<double>(), 0);
}

TEST(Gmres, TooFewStepsAreNoError) {
  const Tensor a = matrices_around_one({3, 0}), b = random_samples(2);
  const GmresResult result = gmres(dense_map(a), same, b, {}, {.max_iterations = 5});
  EXPECT_EQ(result.iterations[0].item<int64_t>(), 5);
  EXPECT_GT(result.relative_residual[0].item<double>(), 1e-6);
  EXPECT_LT(result.relative_residual[0].item<double>(), 1);
  EXPECT_LE(result.relative_residual[1].item<double>(), 1e-12);
  EXPECT_EQ(gmres(dense_map(a), same, b, {}, {.max_iterations = 0}).iterations.sum().item<int64_t>(), 0);
}

TEST(Gmres, StopsAtRoundOffWhenTheToleranceIsOutOfReach) {
  const Tensor a = matrices_around_one({0.6, 0.2}), b = random_samples(2);
  const GmresResult result = gmres(dense_map(a), same, b, {}, {.tolerance = 1e-30});
  EXPECT_LT(result.relative_residual.max().item<double>(), 1e-14);
  EXPECT_LT(result.iterations.max().item<int64_t>(), 200);
}

TEST(Gmres, SingleFloatsReachTheirRoundOff) {
  const Tensor a = matrices_around_one({0.5, 2}).to(torch::kFloat32), b = random_samples(2).to(torch::kFloat32);
  const GmresResult result = gmres(dense_map(a), same, b);
  EXPECT_EQ(result.x.scalar_type(), torch::kFloat32);
  EXPECT_LT(result.relative_residual.max().item<double>(), 2e-6);
  EXPECT_LT(result.iterations.max().item<int64_t>(), 200);
}

TEST(Gmres, NaNStaysInItsSample) {
  const Tensor a = matrices_around_one({0.5, 0.5}), b = random_samples(2);
  b[0][0][0][0] = NAN;
  const GmresResult result = gmres(dense_map(a), same, b);
  EXPECT_TRUE(std::isnan(result.relative_residual[0].item<double>()));
  EXPECT_LE(result.relative_residual[1].item<double>(), 1e-12);
  EXPECT_TRUE(all_finite(result.x));
}

TEST(Gmres, WrongShapesAreErrors) {
  const Tensor a = matrices_around_one({0, 0}), b = random_samples(2);
  EXPECT_ERROR(gmres(dense_map(a), same, b, random_samples(1)), ExitCode::data, "(1,2,5,4)");
  EXPECT_ERROR(gmres(dense_map(a), same, b, {}, {.restart = 0}), ExitCode::usage, "restart = 0");
}

}  // namespace
}  // namespace piddm
