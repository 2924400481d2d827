// Several equations and solution channels, on a PDE whose every number is known: tests/flux_darcy.h.

#include "tests/flux_darcy.h"

#include <fstream>
#include <numbers>

#include "piddm/pde/physics_loss.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using testing::flux_darcy;
using testing::golden;
using testing::gradient_error;
using testing::relative_error;

double rms_of(const Tensor& x) { return x.square().mean().sqrt().item<double>(); }

/// Cell centres and upper faces along an axis of n cells, [n].
Tensor centres(int64_t n) { return (torch::arange(n, torch::kFloat64) + 0.5) / static_cast<double>(n); }
Tensor faces(int64_t n) { return (torch::arange(n, torch::kFloat64) + 1) / static_cast<double>(n); }

/// p = sin(pi x) sin(2 pi y), a = 2 + sin(2 pi x) cos(pi y)/2 + y, q = -a grad p: what each equation leaves beyond
/// div q - 1 in the cells, RMS.
std::vector<double> truncation_errors(int64_t n) {
  const double pi = std::numbers::pi;
  const auto a = [&](const Tensor& x, const Tensor& y) { return 2 + 0.5 * sin(2 * pi * x) * cos(pi * y) + y; };
  const auto p_x = [&](const Tensor& x, const Tensor& y) { return pi * cos(pi * x) * sin(2 * pi * y); };
  const auto p_y = [&](const Tensor& x, const Tensor& y) { return 2 * pi * sin(pi * x) * cos(2 * pi * y); };
  const Tensor x = centres(n).view({n, 1}), y = centres(n), xf = faces(n).view({n, 1}), yf = faces(n);
  const Tensor p = sin(pi * x) * sin(2 * pi * y);
  const Tensor qx = -a(xf, y) * p_x(xf, y), qy = -a(x, yf) * p_y(x, yf);
  const Tensor a_x = pi * cos(2 * pi * x) * cos(pi * y), a_y = 1 - 0.5 * pi * sin(2 * pi * x) * sin(pi * y);
  const Tensor source = 5 * pi * pi * a(x, y) * p - a_x * p_x(x, y) - a_y * p_y(x, y);
  const auto r = flux_darcy(n)->residual(torch::stack({p, qx, qy, a(x, y)}).unsqueeze(0));
  const int64_t inner = n - 1;  // the first row and column have the one-sided flux of a wall in them
  const auto inside = [&](const Tensor& f) { return f.narrow(2, 1, inner).narrow(3, 1, inner); };
  return {rms_of(r.fields[0].interior), rms_of(r.fields[1].interior),
          rms_of(inside(r.fields[2].interior - (source - 1)))};
}

TEST(FluxDarcy, EveryEquationIsOfSecondOrder) {
  auto coarse = truncation_errors(16);
  for (const int64_t n : {32, 64, 128}) {
    const auto fine = truncation_errors(n);
    for (size_t i = 0; i < fine.size(); ++i) EXPECT_NEAR(std::log2(coarse[i] / fine[i]), 2, 0.1) << i << " at " << n;
    coarse = fine;
  }
}

/// p_x of -Laplace p = 1 on the unit square at x [n,1], y [n]; p and p_y likewise, p is symmetric.
Tensor exact_slope(const Tensor& x, const Tensor& y) {
  const double pi = std::numbers::pi;
  const Tensor k = (torch::arange(600, torch::kFloat64) * 2 + 1).view({-1, 1, 1}) * pi, away = (y - 0.5).abs();
  const Tensor decay = (exp(k * (away - 0.5)) + exp(-k * (away + 0.5))) / (1 + exp(-k));  // cosh(k away)/cosh(k/2)
  return 0.5 - x - 4 * (cos(k * x) * decay / k.square()).sum(0);
}
Tensor exact_pressure(const Tensor& x, const Tensor& y) {
  const double pi = std::numbers::pi;
  const Tensor k = (torch::arange(600, torch::kFloat64) * 2 + 1).view({-1, 1, 1}) * pi, away = (y - 0.5).abs();
  const Tensor decay = (exp(k * (away - 0.5)) + exp(-k * (away + 0.5))) / (1 + exp(-k));
  return x * (1 - x) / 2 - 4 * (sin(k * x) * decay / k.pow(3)).sum(0);
}

TEST(FluxDarcy, PressureAndFluxConvergeToTheExactSolution) {
  std::vector<double> coarse;
  for (const int64_t n : {16, 32, 64, 128}) {
    const Tensor x = centres(n).view({n, 1}), y = centres(n);
    const Tensor u = flux_darcy(n)->solve(torch::full({1, 1, n, n}, 3, torch::kFloat64))[0];
    const Tensor slope = exact_slope(faces(n).view({n, 1}), y);
    const int64_t inner = n - 1;
    const std::vector<double> fine = {rms_of(u[0] - exact_pressure(x, y) / 3),
                                      rms_of((u[1] + slope).narrow(0, 0, inner)),
                                      rms_of((u[2] + slope.t()).narrow(1, 0, inner))};
    for (size_t i = 0; i < coarse.size(); ++i) EXPECT_GT(std::log2(coarse[i] / fine[i]), 1.7) << i << " at " << n;
    coarse = fine;
  }
}

TEST(FluxDarcy, AgreesWithAnIndependentImplementation) {
  constexpr int64_t n = 6;
  std::ifstream in(golden("flux_darcy_6.txt"));
  const auto read = [&](std::vector<int64_t> shape) {
    const Tensor t = torch::empty(shape, torch::kFloat64);
    for (int64_t i = 0; i < t.numel(); ++i) in >> t.data_ptr<double>()[i];
    return t;
  };
  const Tensor x = read({1, 4, n, n});
  const auto pde = flux_darcy(n);
  const auto r = pde->residual(x);
  EXPECT_LT(relative_error(r.fields[0].interior, read({1, 1, n - 1, n})), 1e-13);
  EXPECT_LT(relative_error(r.fields[1].interior, read({1, 1, n, n - 1})), 1e-13);
  EXPECT_LT(relative_error(r.fields[2].interior, read({1, 1, n, n})), 1e-13);
  EXPECT_LT(relative_error(r.boundary, read({1, 2 * n})), 1e-13);
  const Tensor solution = read({1, 3, n, n});
  ASSERT_TRUE(in);
  EXPECT_LT(relative_error(pde->solve(x.narrow(1, 3, 1)), solution), 1e-10);
}

TEST(FluxDarcy, SolutionsSatisfyEveryEquation) {
  const auto pde = flux_darcy(32);
  const auto r = pde->residual(pde->sample(1, 0, 4));
  for (const auto& field : r.fields)
    EXPECT_LT(field.interior.abs().max().item<double>(), 1e-9 * field.reference.abs().max().item<double>());
  EXPECT_LT(r.boundary.abs().max().item<double>(), 1e-12);
}

TEST(FluxDarcy, EveryFieldHasTheGradientOfItsDifferences) {
  const auto pde = flux_darcy(16);
  const Tensor x = pde->sample(1, 0, 2) + 0.1 * torch::rand({2, 4, 16, 16}, torch::kFloat64);
  for (size_t i = 0; i < 3; ++i) {
    const Tensor weights = torch::randn_like(pde->residual(x).fields[i].interior);
    const auto linear = [&](const Tensor& y) { return (pde->residual(y).fields[i].interior * weights).sum(); };
    EXPECT_LT(gradient_error(linear, x), 1e-6) << i;
  }
}

TEST(FluxDarcy, TheErrorIsTheMeanOverTheEquations) {
  const auto pde = flux_darcy(16);
  const Tensor x = pde->sample(1, 0, 3) + torch::rand({3, 4, 16, 16}, torch::kFloat64);
  const auto r = pde->residual(x);
  const double h = 1.0 / 16;
  const auto mean = [](const Tensor& f) { return f.square().mean({1, 2, 3}); };
  const Tensor expected =
      (mean(r.fields[0].interior) + mean(r.fields[1].interior) + mean(h * r.fields[2].interior)) / 3;
  EXPECT_LT(relative_error(pde->pde_error(x), expected), 1e-14);
  const auto loss = physics_loss(*pde, x);
  EXPECT_TRUE(torch::equal(loss.pde_error, pde->pde_error(x)));
  EXPECT_LT(relative_error(loss.equations.at(2), mean(h * r.fields[2].interior)), 1e-14);
  EXPECT_EQ(pde->several_equations(), std::vector<std::string>({"flux_x", "flux_y", "mass"}));
  EXPECT_EQ(pde->several_solutions(), std::vector<std::string>({"p", "qx", "qy"}));
}

TEST(FluxDarcy, ADecodeTellsHowFarTheChannelsMovedEachInItsUnit) {
  const auto pde = flux_darcy(16);
  Tensor x = pde->sample(1, 0, 2);
  x.select(1, 0) *= 1.5;
  x.select(1, 2) *= 0.9;
  const auto decoded = pde->decode(x);
  EXPECT_LT(relative_error(decoded.moved, torch::full({2}, std::sqrt((0.25 + 0.01) / 3), torch::kFloat64)), 1e-9);
  EXPECT_LT(relative_error(decoded.x, pde->sample(1, 0, 2)), 1e-10);
}

// For a = 6 everywhere L is the operator itself.
TEST(FluxDarcy, TheImpliedErrorIsThatOfEverySolutionChannel) {
  const auto pde = flux_darcy(16);
  const Tensor a = torch::full({2, 1, 16, 16}, 6, torch::kFloat64);
  const Tensor truth = torch::cat({pde->solve(a), a}, 1);
  const Tensor wrong =
      pde->constrain(torch::cat({truth.narrow(1, 0, 3) + 0.1 * torch::randn({2, 3, 16, 16}, torch::kFloat64), a}, 1));
  const Tensor error = (wrong - truth).narrow(1, 0, 3), implied = pde->precondition(pde->residual(wrong));
  EXPECT_LT(relative_error(implied, error), 1e-10);
  EXPECT_LT(relative_error(implied_error(*pde, wrong), error.square().mean({2, 3})), 1e-10);
  EXPECT_LT(relative_error(pde->precondition(pde->residual(wrong.to(torch::kFloat32))), error), 1e-3);
}

}  // namespace
}  // namespace piddm
