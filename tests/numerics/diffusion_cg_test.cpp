#include "piddm/numerics/diffusion_cg.h"

#include <cmath>
#include <fstream>

#include "piddm/numerics/fast_poisson.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using piddm::testing::golden;
using piddm::testing::relative_error;

/// The operator face by face, with loops.
Tensor diffuse(const Tensor& a, const Tensor& u) {
  const int64_t n = a.size(2);
  Tensor out = torch::zeros_like(u);
  const auto w = a.accessor<double, 4>(), v = u.accessor<double, 4>();
  auto r = out.accessor<double, 4>();
  for (int64_t b = 0; b < a.size(0); ++b)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j)
        for (const auto& [di, dj] : {std::pair{1, 0}, {-1, 0}, {0, 1}, {0, -1}}) {
          const int64_t k = i + di, l = j + dj;
          const bool wall = k < 0 || k == n || l < 0 || l == n;
          r[b][0][i][j] += static_cast<double>(n * n) *
                           (wall ? 2 * w[b][0][i][j] * v[b][0][i][j]
                                 : 0.5 * (w[b][0][i][j] + w[b][0][k][l]) * (v[b][0][i][j] - v[b][0][k][l]));
        }
  return out;
}

Tensor two_valued(int64_t count, int64_t n) {
  return torch::where(torch::rand({count, 1, n, n}, torch::kFloat64) < 0.5, 3.0, 12.0).to(torch::kFloat64);
}

Tensor true_residual(const Tensor& a, const Tensor& f, const Tensor& u) {
  return (f - diffuse(a, u)).flatten(1).norm(2, 1) / f.flatten(1).norm(2, 1);
}

TEST(DiffusionCg, SolvesOnAnyGrid) {
  for (const int64_t n : {2, 3, 4, 7, 8, 9, 16, 31, 40, 100}) {
    const Tensor a = two_valued(2, n), f = torch::randn({2, 1, n, n}, torch::kFloat64);
    const CgResult result = solve_diffusion(a, f);
    EXPECT_LT(true_residual(a, f, result.x).max().item<double>(), 2e-12) << n;
    const Tensor truth = true_residual(a, f, result.x);  // two ways to round a residual of rounding
    EXPECT_LT((result.relative_residual - truth).abs().max().item<double>(), 0.5 * truth.max().item<double>() + 1e-14)
        << n;
    EXPECT_LE(result.iterations.max().item<int64_t>(), 40) << n;
  }
}

TEST(DiffusionCg, MatchesADenseAssembly) {
  constexpr int64_t n = 12;
  std::ifstream in(golden("darcy_12.txt"));
  std::vector<double> values(4 * n * n);
  for (double& value : values) ASSERT_TRUE(in >> value);
  const Tensor cases = torch::tensor(values, torch::kFloat64).view({2, 2, n, n});
  const Tensor a = cases.narrow(1, 0, 1), u = cases.narrow(1, 1, 1);
  const CgResult result = solve_diffusion(a, torch::ones_like(a));
  EXPECT_LT(relative_error(result.x[0], u[0]), 1e-11);
  EXPECT_LT(relative_error(result.x[1], u[1]), 1e-10);  // max a / min a is about 100
}

TEST(DiffusionCg, ConstantCoefficientTakesOneIteration) {
  const Tensor f = torch::randn({1, 1, 33, 33}, torch::kFloat64);
  const CgResult result = solve_diffusion(torch::full_like(f, 2.5), f, {}, {.tolerance = 1e-10});
  EXPECT_EQ(result.iterations.item<int64_t>(), 1);
  EXPECT_LT(relative_error(result.x, FastPoisson(33).solve(f, 2.5)), 1e-12);
}

TEST(DiffusionCg, StopsAtTheTolerance) {
  const Tensor a = two_valued(3, 48), f = torch::ones_like(a);
  const CgResult loose = solve_diffusion(a, f, {}, {.tolerance = 1e-5}), tight = solve_diffusion(a, f);
  EXPECT_LT(loose.relative_residual.max().item<double>(), 1e-5);
  EXPECT_GT(loose.relative_residual.min().item<double>(), 1e-8);
  EXPECT_LT(2 * loose.iterations.max().item<int64_t>(), tight.iterations.min().item<int64_t>() + 5);
}

TEST(DiffusionCg, StartVector) {
  const Tensor a = two_valued(2, 20), f = torch::ones_like(a);
  const CgResult cold = solve_diffusion(a, f), same = solve_diffusion(a, f, cold.x);
  EXPECT_EQ(same.iterations.sum().item<int64_t>(), 0);
  EXPECT_TRUE(torch::equal(same.x, cold.x));
  const CgResult far = solve_diffusion(a, f, 10 * torch::randn_like(a));
  EXPECT_LT(relative_error(far.x, cold.x), 1e-10);
  const CgResult zero = solve_diffusion(a, torch::zeros_like(a));
  EXPECT_EQ(zero.x.abs().max().item<double>(), 0);
}

TEST(DiffusionCg, CopesWithAContrastOfThousands) {
  const Tensor a = torch::exp(torch::empty({2, 1, 32, 32}, torch::kFloat64).uniform_(-4, 4)), f = torch::ones_like(a);
  EXPECT_LT(true_residual(a, f, solve_diffusion(a, f).x).max().item<double>(), 1e-10);
}

TEST(DiffusionCg, FailuresAreErrors) {
  const Tensor a = two_valued(2, 16), f = torch::ones_like(a);
  EXPECT_ERROR(solve_diffusion(a, f, {}, {.max_iterations = 3}), ExitCode::numerics, "2 of 2 samples");
  EXPECT_ERROR(solve_diffusion(-a, f), ExitCode::numerics, "did not converge");
  EXPECT_ERROR(solve_diffusion(a, f * NAN), ExitCode::numerics, "nan,");
  EXPECT_ERROR(solve_diffusion(a, f.narrow(0, 0, 1)), ExitCode::data, "(1,1,16,16)");
}

}  // namespace
}  // namespace piddm
