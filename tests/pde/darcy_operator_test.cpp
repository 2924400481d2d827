// The discrete operator and its solver: order of accuracy, symmetry, an independent assembly.

#include <cmath>
#include <fstream>
#include <numbers>

#include "piddm/pde/darcy.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using piddm::testing::golden;
using piddm::testing::relative_error;

/// Root mean square error on the N x N grid for u = sin(pi x) sin(2 pi y), a = 2 + sin(2 pi x) cos(pi y)/2 + y, f =
/// -div(a grad u).
double manufactured_darcy_error(int64_t n) {
  const double pi = std::numbers::pi;
  const Tensor centres = (torch::arange(n, torch::kFloat64) + 0.5) / n;
  const Tensor x = centres.view({1, 1, n, 1}), y = centres.view({1, 1, 1, n});
  const auto sin = [](const Tensor& t) { return torch::sin(t); };
  const auto cos = [](const Tensor& t) { return torch::cos(t); };
  const Tensor a = 2 + 0.5 * sin(2 * pi * x) * cos(pi * y) + y;
  const Tensor a_x = pi * cos(2 * pi * x) * cos(pi * y), a_y = 1 - 0.5 * pi * sin(2 * pi * x) * sin(pi * y);
  const Tensor u = sin(pi * x) * sin(2 * pi * y);
  const Tensor u_x = pi * cos(pi * x) * sin(2 * pi * y), u_y = 2 * pi * sin(pi * x) * cos(2 * pi * y);
  const Tensor f = 5 * pi * pi * a * u - a_x * u_x - a_y * u_y;
  const Tensor solution = DarcyOperator(a).solve(f).x;
  return (solution - u).square().mean().sqrt().item<double>();
}

TEST(DarcyOperator, SecondOrderOnAManufacturedSolution) {
  double coarse = manufactured_darcy_error(16);
  EXPECT_LT(coarse, 1e-2);
  for (const int64_t n : {32, 64, 128}) {
    const double fine = manufactured_darcy_error(n);
    EXPECT_NEAR(std::log2(coarse / fine), 2.0, 0.1) << "from " << n / 2 << " to " << n;
    coarse = fine;
  }
}

TEST(DarcyOperator, MatchesADenseAssembly) {
  constexpr int64_t n = 12;
  std::ifstream in(golden("darcy_12.txt"));
  std::vector<double> values(4 * n * n);
  for (double& value : values) ASSERT_TRUE(in >> value);
  const Tensor cases = torch::tensor(values, torch::kFloat64).view({2, 2, n, n});
  const Tensor a = cases.narrow(1, 0, 1), u = cases.narrow(1, 1, 1), f = torch::ones_like(a);
  const DarcyOperator op(a);
  EXPECT_LT(relative_error(op.apply(u), f), 1e-12);
  const CgResult result = op.solve(f);
  EXPECT_LT(relative_error(result.x[0], u[0]), 1e-11);
  EXPECT_LT(relative_error(result.x[1], u[1]), 1e-10);  // max a / min a is about 100
}

TEST(DarcyOperator, SymmetricPositiveDefinite) {
  constexpr int64_t n = 6;
  const Tensor a = torch::rand({1, 1, n, n}, torch::kFloat64) * 11.9 + 0.1;
  const Tensor units = torch::eye(n * n, torch::kFloat64).view({n * n, 1, n, n});
  const Tensor matrix = DarcyOperator(a.expand({n * n, 1, n, n})).apply(units).view({n * n, n * n});
  EXPECT_LT((matrix - matrix.t()).abs().max().item<double>(), 1e-12 * matrix.abs().max().item<double>());
  EXPECT_GT(std::get<0>(torch::linalg_eigh(matrix, "L"))[0].item<double>(), 0.1);
}

TEST(DarcyOperator, NoFluxInsideForAConstantField) {
  // A constant u has fluxes through the walls only: w = 2 a on one face of an edge cell, on two of a corner cell.
  constexpr int64_t n = 5;
  const Tensor a = torch::rand({1, 1, n, n}, torch::kFloat64) + 1;
  const Tensor expected = torch::zeros_like(a);
  for (const int64_t wall : {int64_t{0}, n - 1}) {
    expected.select(2, wall) += 2 * n * n * a.select(2, wall);
    expected.select(3, wall) += 2 * n * n * a.select(3, wall);
  }
  EXPECT_LT(relative_error(DarcyOperator(a).apply(torch::ones_like(a)), expected), 1e-14);
}

TEST(DarcyOperator, SmallAndLargeGridsConverge) {
  for (const int64_t n : {4, 5, 33, 150}) {
    const Tensor a = torch::where(torch::rand({1, 1, n, n}, torch::kFloat64) < 0.5, 3.0, 12.0).to(torch::kFloat64);
    const CgResult result = DarcyOperator(a).solve(torch::ones_like(a));
    EXPECT_LT(result.relative_residual.item<double>(), 1e-11) << n;
    EXPECT_LE(result.iterations.item<int64_t>(), 40) << n;
  }
}

TEST(DarcyOperator, TheKernelAgreesWithTheComposedSolver) {
  for (const int64_t n : {5, 32, 50}) {
    const Tensor a = torch::where(torch::rand({3, 1, n, n}, torch::kFloat64) < 0.5, 3.0, 12.0).to(torch::kFloat64);
    const Tensor start = 0.01 * torch::rand_like(a);
    const CgResult composed = DarcyOperator(a).solve(torch::ones_like(a), start), kernel = solve_darcy(a, start);
    EXPECT_LT(relative_error(kernel.x, composed.x), 1e-11) << n;
    EXPECT_LE((kernel.iterations - composed.iterations).abs().max().item<int64_t>(), 1) << n;
    const Tensor rest = 1 - DarcyOperator(a).apply(kernel.x);
    EXPECT_LT(rest.square().mean({1, 2, 3}).sqrt().max().item<double>(), 1.1e-12) << n;
  }
}

TEST(DarcyOperator, SolvesInFloat32) {
  const Tensor a = torch::rand({2, 1, 16, 16}) * 9 + 3, f = torch::rand({2, 1, 16, 16});
  const Tensor exact = DarcyOperator(a.to(torch::kFloat64)).solve(f.to(torch::kFloat64)).x;
  EXPECT_LT(relative_error(DarcyOperator(a).solve(f, {}, {.tolerance = 1e-6, .acceptable = 1e-4}).x, exact), 1e-5);
}

}  // namespace
}  // namespace piddm
