#include "piddm/numerics/fast_poisson.h"

#include "tests/testing.h"

namespace piddm {
namespace {

using piddm::testing::relative_error;

/// -Laplace u by the five-point stencil, ghost value -u.
Tensor negative_laplacian(const Tensor& u) {
  const int64_t n = u.size(-1);
  Tensor out = 4 * u;
  for (const int64_t dim : {2, 3}) {
    const Tensor padded = torch::cat({-u.narrow(dim, 0, 1), u, -u.narrow(dim, n - 1, 1)}, dim);
    out = out - padded.narrow(dim, 0, n) - padded.narrow(dim, 2, n);
  }
  return out * (n * n);
}

TEST(FastPoisson, InvertsTheFivePointStencil) {
  for (const int64_t n : {4, 5, 16, 33, 64}) {
    const Tensor u = torch::randn({3, 1, n, n}, torch::kFloat64);
    const FastPoisson poisson(n);
    EXPECT_LT(relative_error(poisson.solve(negative_laplacian(u)), u), 1e-12) << n;
    EXPECT_LT(relative_error(poisson.solve(negative_laplacian(u), 2.5), u / 2.5), 1e-12) << n;
  }
}

/// The same on inner nodes, the walls on points.
Tensor negative_laplacian_of_nodes(const Tensor& u) {
  const int64_t n = u.size(-1);
  Tensor out = 4 * u;
  for (const int64_t dim : {2, 3}) {
    const Tensor padded = dim == 2 ? torch::constant_pad_nd(u, {0, 0, 1, 1}) : torch::constant_pad_nd(u, {1, 1});
    out = out - padded.narrow(dim, 0, n) - padded.narrow(dim, 2, n);
  }
  return out * ((n + 1) * (n + 1));
}

TEST(FastPoisson, WallsOnPointsAndAShift) {
  for (const int64_t n : {3, 14, 31, 62})
    for (const double shift : {0.0, 1.0, -40.0, 30.0}) {
      const Tensor u = torch::randn({2, 1, n, n}, torch::kFloat64), f = negative_laplacian_of_nodes(u) - shift * u;
      const FastPoisson poisson(n, torch::kFloat64, torch::kCPU, Walls::on_points, shift);
      EXPECT_LT(relative_error(poisson.solve(f), u), 1e-11) << n << " " << shift;
    }
}

TEST(FastPoisson, Float32) {
  const Tensor f = torch::randn({2, 1, 20, 20});
  const Tensor u = FastPoisson(20, torch::kFloat32).solve(f);
  EXPECT_EQ(u.scalar_type(), torch::kFloat32);
  EXPECT_LT(relative_error(u, FastPoisson(20).solve(f.to(torch::kFloat64))), 1e-5);
}

TEST(FastPoisson, RefusesANegativeCoefficient) {
  EXPECT_ERROR(FastPoisson(8).solve(torch::ones({8, 8}, torch::kFloat64), -1), ExitCode::usage, "a0 = -1");
}

}  // namespace
}  // namespace piddm
