#include <cmath>

#include "piddm/pde/burgers.h"
#include "tests/pde/spectral.h"

namespace piddm {
namespace {

using namespace piddm::testing;

PdePtr burgers(int64_t grid, const std::string& form) {
  return make_pde({.name = "burgers", .grid = grid, .parameters = {{"residual", form}}});
}

/// An exact solution, from q = 1 + c exp(-4 pi^2 nu t) cos(2 pi x), u = -2 nu q_x/q: [1,2,n,n].
Tensor exact_solution(int64_t n, double nu = 0.01, double c = 0.6) {
  const Tensor x = periodic_points(n).unsqueeze(1) * kTwoPi;
  const Tensor t = torch::arange(n, torch::kFloat64) / static_cast<double>(n - 1);
  const Tensor wave = c * torch::exp(-kTwoPi * kTwoPi * nu * t);
  const Tensor u = 2 * nu * kTwoPi * wave * x.sin() / (1 + wave * x.cos());
  return torch::stack({u, u.narrow(1, 0, 1).expand({n, n})}).unsqueeze(0);
}

TEST(BurgersResidual, StencilsAreOfSecondOrder) {
  for (const std::string form : {"compact", "wide"}) {
    double previous = 0;
    for (const int64_t n : {32, 64, 128, 256}) {
      const double error =
          burgers(n, form)->residual(exact_solution(n)).fields[0].interior.square().mean().sqrt().item<double>();
      if (previous > 0) {
        EXPECT_NEAR(std::log2(previous / error), 2, 0.15) << form << " " << n;
      }
      previous = error;
    }
  }
}

TEST(BurgersResidual, StepIsExactToTheTimeErrorOfTheScheme) {
  EXPECT_LT(rel_residual(*burgers(32, "step"), exact_solution(32)), 1e-6);
  EXPECT_LT(rel_residual(*burgers(33, "step"), exact_solution(33)), 1e-6);
  EXPECT_GT(rel_residual(*burgers(32, "step"), exact_solution(32) * 1.01), 1e-3);
}

TEST(BurgersResidual, CompactStencilByHand) {
  const PdePtr pde = burgers(16, "compact");
  const Tensor x = torch::randn({1, 2, 16, 16}, torch::kFloat64), r = pde->residual(x).fields[0].interior;
  ASSERT_EQ(r.sizes(), torch::IntArrayRef({1, 1, 16, 14}));
  const auto u = x.accessor<double, 4>()[0][0];
  for (const auto& [j, n] : {std::pair{0, 1}, {15, 14}, {7, 5}}) {
    const int up = (j + 1) % 16, down = (j + 15) % 16;
    const double expected = (u[j][n + 1] - u[j][n - 1]) * 15 / 2 + u[j][n] * (u[up][n] - u[down][n]) * 8 -
                            0.01 * (u[up][n] - 2 * u[j][n] + u[down][n]) * 256;
    EXPECT_NEAR(r[0][0][j][n - 1].item<double>(), expected, 1e-12);
  }
}

TEST(BurgersResidual, WideStencilDoesNotSeeTheDiffusionOfCheckerboards) {
  const Tensor sign = 1 - 2 * (torch::arange(16, torch::kFloat64).remainder(2));
  const Tensor x = sign.view({1, 1, 16, 1}).expand({1, 2, 16, 16}).clone();
  EXPECT_LT(burgers(16, "wide")->residual(x).fields[0].interior.abs().max().item<double>(), 1e-12);
  EXPECT_GT(burgers(16, "compact")->residual(x).fields[0].interior.abs().min().item<double>(), 1);
  EXPECT_GT(burgers(16, "step")->residual(x).fields[0].interior.abs().min().item<double>(), 1);
}

TEST(BurgersResidual, ShapesReferenceAndBoundary) {
  for (const std::string form : {"compact", "wide", "step"}) {
    const PdePtr pde = burgers(16, form);
    Tensor x = pde->sample(1, 0, 2);
    x.select(1, 1) += 0.25;
    const Residual r = pde->residual(x);
    EXPECT_EQ(r.fields[0].interior.sizes(), torch::IntArrayRef({2, 1, 16, form == "step" ? 15 : 14}));
    EXPECT_EQ(pde->residual(x).fields[0].reference.sizes(), r.fields[0].interior.sizes());
    EXPECT_EQ(r.boundary.sizes(), torch::IntArrayRef({2, 16}));
    EXPECT_LT(largest_difference(r.boundary, torch::full({2, 16}, -0.25, torch::kFloat64)), 1e-14);
  }
}

TEST(BurgersResidual, FloorsAreThoseOfTheFacts) {
  // Means over samples of the published floors, 2e-3, 2e-4 and 2.4e-5 at 32, 64 and 128; wide 1.9e-4 at 128.
  for (const auto& [grid, compact, wide, step] :
       {std::tuple{32, 2e-3, 0.0, 1e-5}, {64, 2e-4, 0.0, 1e-9}, {128, 2.4e-5, 1.9e-4, 5e-9}}) {
    const PdePtr pde = burgers(grid, "compact");
    const Tensor x = pde->sample(0, 1'000'000, 48);
    const double floor = pde->pde_error(x).mean().item<double>();
    EXPECT_GT(floor, compact / 2) << grid;
    EXPECT_LT(floor, compact * 2) << grid;
    EXPECT_LT(burgers(grid, "step")->pde_error(x).mean().item<double>(), step) << grid;
    if (wide == 0) continue;
    const double wide_floor = burgers(grid, "wide")->pde_error(x).mean().item<double>();
    EXPECT_GT(wide_floor, wide / 2);
    EXPECT_LT(wide_floor, wide * 2);
    EXPECT_GT(median_error(*pde, x), 2.4e-5 / 4);
    EXPECT_LT(median_error(*pde, x), 2.4e-5);
  }
}

TEST(BurgersResidual, IsDifferentiable) {
  for (const std::string form : {"compact", "wide", "step"}) {
    const PdePtr pde = burgers(16, form);
    const Tensor x = pde->sample(2, 0, 2) + 0.05 * torch::randn({2, 2, 16, 16}, torch::kFloat64);
    const Tensor weights = torch::randn(pde->residual(x).fields[0].interior.sizes(), torch::kFloat64);
    const auto linear = [&](const Tensor& y) { return (pde->residual(y).fields[0].interior * weights).sum(); };
    const auto boundary = [&](const Tensor& y) { return pde->residual(y).boundary.pow(2).sum(); };
    EXPECT_LT(gradient_error(linear, x), 1e-6) << form;
    EXPECT_LT(gradient_error([&](const Tensor& y) { return pde->pde_error(y).sum(); }, x), 1e-6) << form;
    EXPECT_LT(gradient_error(boundary, x), 1e-6) << form;
  }
}

TEST(BurgersResidual, Float32AgreesWithFloat64) {
  for (const std::string form : {"compact", "wide", "step"}) {
    const PdePtr pde = burgers(32, form);
    const Tensor x = pde->sample(2, 0, 2) + 0.01 * torch::randn({2, 2, 32, 32}, torch::kFloat64);
    const Tensor narrow = pde->residual(x.to(torch::kFloat32)).fields[0].interior;
    EXPECT_EQ(narrow.scalar_type(), torch::kFloat32);
    EXPECT_LT(relative_error(narrow, pde->residual(x).fields[0].interior), 1e-5) << form;
  }
}

TEST(BurgersResidual, TellsAWrongViscosity) {
  const PdePtr pde = burgers(64, "step");
  const Tensor x = pde->sample(2, 0, 4);
  EXPECT_GT(rel_residual(*with_parameter(*pde, "nu", 0.0101), x), 20 * rel_residual(*pde, x));
}

TEST(BurgersResidual, ErrorsNameTheCulprit) {
  const PdePtr pde = burgers(32, "compact");
  EXPECT_ERROR(pde->residual(torch::zeros({8, 3, 64, 64})), ExitCode::data,
               "[burgers] expected (B,2,32,32), got (8,3,64,64)");
  EXPECT_ERROR(pde->residual(torch::zeros({8, 2, 32, 32}, torch::kBFloat16)), ExitCode::data, "BFloat16");
  EXPECT_ERROR(pde->solve(torch::ones({2, 2, 32, 32})), ExitCode::data, "(2,2,32,32)");
  EXPECT_ERROR(pde->solve(torch::full({1, 1, 32, 32}, NAN)), ExitCode::data, "finite");
}

}  // namespace
}  // namespace piddm
