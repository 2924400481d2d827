#include "piddm/numerics/separable_solver.h"

#include <cmath>

#include "piddm/numerics/fast_poisson.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using piddm::testing::relative_error;

/// Rows (-1, 2, -1)/h^2; the walls' rows are left to the caller.
Tensor second_differences(int64_t n, double h) {
  const Tensor a = torch::zeros({n, n}, torch::kFloat64);
  a.diagonal().fill_(2);
  a.diagonal(1).fill_(-1);
  a.diagonal(-1).fill_(-1);
  return a / (h * h);
}

/// On cells; the ghost value beyond the wall is `low`, `high` times the value beside it.
Tensor on_cells(int64_t n, double length, double low, double high) {
  const double h = length / static_cast<double>(n);
  const Tensor a = second_differences(n, h);
  a[0][0] -= low / (h * h);
  a[n - 1][n - 1] -= high / (h * h);
  return a;
}

/// On nodes, both ends stored: b u + dn(u) = 0 with the ghost u_1 - 2 h b u_0, whose rows are not symmetric.
Tensor robin_on_nodes(int64_t n, double length, double low, double high) {
  const double h = length / static_cast<double>(n - 1);
  const Tensor a = second_differences(n, h);
  a[0][1] *= 2;
  a[n - 1][n - 2] *= 2;
  a[0][0] += 2 * low / h;
  a[n - 1][n - 1] += 2 * high / h;
  return a;
}

Tensor periodic(int64_t n, double length) {
  const double h = length / static_cast<double>(n);
  const Tensor a = second_differences(n, h);
  a[0][n - 1] -= 1 / (h * h);
  a[n - 1][0] -= 1 / (h * h);
  return a;
}

/// Upwind advection added: tridiagonal, not symmetric.
Tensor with_advection(Tensor a, double speed, double h) {
  a = a.clone();
  a.diagonal().add_(speed / h);
  a.diagonal(-1).sub_(speed / h);
  return a;
}

/// Rows of the walls that see neighbours one-sided, by second-order differences: no scaling makes them symmetric.
Tensor one_sided_walls(int64_t n, double h) {
  const Tensor a = second_differences(n, h);
  const std::vector<double> wall = {1.5, -2, 0.5};
  for (int64_t k = 0; k < 3; ++k) {
    a[0][k] = (wall[k] / h + (k == 0 ? 2.0 : 0.0)) / h;
    a[n - 1][n - 1 - k] = (wall[k] / h + (k == 0 ? 1.0 : 0.0)) / h;
  }
  return a;
}

struct Case {
  std::string name;
  Tensor ax, ay;
};

std::vector<Case> cases() {
  return {
      {"Dirichlet and Neumann cells", on_cells(12, 1, -1, -1), on_cells(9, 2, 1, 1)},
      {"Robin cells", on_cells(8, 1, 0.4, -0.2), on_cells(11, 0.7, 1, 0.3)},
      {"Neumann and Robin nodes", robin_on_nodes(10, 1, 0, 0), robin_on_nodes(13, 2, 3, 0.5)},
      {"periodic", periodic(12, 1), periodic(7, 1.5)},
      {"periodic and nodes", periodic(9, 1), robin_on_nodes(6, 1, 2, 0)},
      {"advection", with_advection(on_cells(12, 1, -1, 1), 5, 1.0 / 12), with_advection(on_cells(8, 1, 1, -1), 3, 0.1)},
      {"one-sided walls", one_sided_walls(11, 0.1), on_cells(7, 1, 1, 1)},
      {"a line", on_cells(20, 1, -1, 1), torch::zeros({1, 1}, torch::kFloat64)},
      {"two points", on_cells(2, 1, -1, -1), on_cells(2, 1, 1, 1)}};
}

Tensor dense_matrix(const Case& c, double c0, double kx, double ky) {
  const Tensor ix = torch::eye(c.ax.size(0), torch::kFloat64), iy = torch::eye(c.ay.size(0), torch::kFloat64);
  return c0 * torch::kron(ix, iy) + kx * torch::kron(c.ax, iy) + ky * torch::kron(ix, c.ay);
}

Tensor random_field(const Case& c, int64_t count, int64_t channels = 1) {
  return torch::randn({count, channels, c.ax.size(0), c.ay.size(0)}, torch::kFloat64);
}

TEST(SeparableSolver, AgreesWithDenseSolves) {
  const Tensor c0 = torch::tensor({0.7, 4.0}, torch::kFloat64), kx = torch::tensor({1.0, 0.3}, torch::kFloat64);
  for (const auto& c : cases()) {
    const SeparableSolver solver(c.ax, c.ay);
    const Tensor f = random_field(c, 2, 3);
    const Tensor u = solver.solve(f, c0, kx, 2.0), adjoint = solver.transposed_solve(f, c0, kx, 2.0);
    for (int64_t i = 0; i < 2; ++i) {
      const Tensor a = dense_matrix(c, c0[i].item<double>(), kx[i].item<double>(), 2);
      const Tensor columns = f[i].flatten(1).t();
      EXPECT_LT(relative_error(u[i].flatten(1).t(), torch::linalg_solve(a, columns)), 1e-10) << c.name;
      EXPECT_LT(relative_error(adjoint[i].flatten(1).t(), torch::linalg_solve(a.t(), columns)), 1e-10) << c.name;
    }
  }
}

TEST(SeparableSolver, NegativeFactorsAndShiftsAreSolvedToo) {
  const Case c{"", on_cells(9, 1, -1, -1), on_cells(10, 1, -1, 1)};
  const Tensor f = random_field(c, 1), u = SeparableSolver(c.ax, c.ay).solve(f, 30.0, -1.0, -1.0);
  EXPECT_LT(relative_error(u.flatten(), torch::linalg_solve(dense_matrix(c, 30, -1, -1), f.flatten())), 1e-10);
}

TEST(SeparableSolver, AgreesWithFastPoisson) {
  const Box box({24, 17}, {1.5, 0.8});
  const Tensor f = torch::randn({2, 1, 24, 17}, torch::kFloat64);
  const SeparableSolver solver(on_cells(24, 1.5, -1, -1), on_cells(17, 0.8, -1, -1));
  EXPECT_LT(relative_error(solver.solve(f, 0.0, 1.0, 1.0), FastPoisson(box).solve(f)), 1e-12);
}

TEST(SeparableSolver, ASingularEquationGetsItsPseudoInverse) {
  for (const Case& c : {Case{"Neumann", on_cells(12, 1, 1, 1), on_cells(160, 2, 1, 1)},
                        Case{"periodic", periodic(12, 1), periodic(9, 1)}}) {
    const SeparableSolver solver(c.ax, c.ay);
    const Tensor f = random_field(c, 1), u = solver.solve(f, 0.0, 1.0, 1.0);
    EXPECT_LT(std::abs(u.mean().item<double>()), 1e-12 * u.abs().max().item<double>()) << c.name;
    const Tensor back = c.ax.matmul(u) + u.matmul(c.ay.t());
    EXPECT_LT(relative_error(back, f - f.mean()), 1e-10) << c.name;
    const Tensor shifted = solver.solve(f, 1e-6, 1.0, 1.0);  // regular again: the mean counts
    EXPECT_NEAR(shifted.mean().item<double>() / f.mean().item<double>(), 1e6, 1) << c.name;
  }
}

TEST(SeparableSolver, EigenvaluesOfTheSecondDifference) {
  const double pi = std::acos(-1.0), h = 1.0 / 16;
  const SeparableSolver solver(on_cells(16, 1, 1, 1), torch::zeros({1, 1}, torch::kFloat64));
  const Tensor k = torch::arange(16, torch::kFloat64);
  EXPECT_LT(relative_error(solver.x_eigenvalues(), (k * (pi / 32)).sin().square() * (4 / (h * h))), 1e-13);
  EXPECT_EQ(solver.x_eigenvalues()[0].item<double>(), 0);
  EXPECT_EQ(solver.y_eigenvalues().item<double>(), 0);
}

TEST(SeparableSolver, IsDifferentiable) {
  const Case c{"", robin_on_nodes(6, 1, 1, 0), on_cells(5, 1, -1, 1)};
  const SeparableSolver solver(c.ax, c.ay);
  const auto loss = [&](const Tensor& f) { return solver.solve(f, 0.5, 1.0, 2.0).pow(3).sum(); };
  EXPECT_LT(testing::gradient_error(loss, random_field(c, 2)), 1e-6);
}

TEST(SeparableSolver, SameBitsForAnyBatch) {
  const Case c{"", on_cells(33, 1, -1, 1), robin_on_nodes(20, 1, 1, 0)};
  const SeparableSolver solver(c.ax, c.ay);
  const Tensor f = random_field(c, 5), c0 = torch::rand({5}, torch::kFloat64);
  const Tensor all = solver.solve(f, c0, 1.0, 1.0);
  for (int64_t i = 0; i < 5; ++i)
    EXPECT_TRUE(torch::equal(solver.solve(f.narrow(0, i, 1), c0.narrow(0, i, 1), 1.0, 1.0), all.narrow(0, i, 1)));
}

TEST(SeparableSolver, SingleFloats) {
  const Case c{"", on_cells(16, 1, -1, 1), on_cells(12, 1, 1, 1)};
  const SeparableSolver exact(c.ax, c.ay);
  const Tensor f = random_field(c, 2),
               u = exact.to(torch::kFloat32, torch::kCPU).solve(f.to(torch::kFloat32), 0.0, 1, 1);
  EXPECT_EQ(u.scalar_type(), torch::kFloat32);
  EXPECT_LT(relative_error(u, exact.solve(f, 0.0, 1, 1)), 1e-5);
}

TEST(SeparableSolver, ComplexEigenvaluesAndMissingEigenvectorsAreErrors) {
  const Tensor turn = torch::tensor({{0.0, 1.0}, {-1.0, 0.0}}, torch::kFloat64),
               one = torch::zeros({1, 1}, torch::kFloat64);
  EXPECT_ERROR(SeparableSolver(turn, one), ExitCode::numerics, "imaginary part 1");
  const Tensor jordan = torch::tensor({{1.0, 1.0}, {0.0, 1.0}}, torch::kFloat64);
  EXPECT_ERROR(SeparableSolver(one, jordan), ExitCode::numerics, "no sound eigenvectors");
  EXPECT_ERROR(SeparableSolver(torch::zeros({2, 3}, torch::kFloat64), one), ExitCode::data, "(2,3)");
}

}  // namespace
}  // namespace piddm
