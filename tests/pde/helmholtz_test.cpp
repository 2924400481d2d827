// What Helmholtz does not share with Poisson; the rest is in poisson_test.cpp.

#include "piddm/pde/helmholtz.h"

#include <cmath>
#include <numbers>

#include "tests/testing.h"

namespace piddm {
namespace {

using piddm::testing::relative_error;

constexpr double kPi = std::numbers::pi;

PdePtr poisson(int64_t grid) { return make_pde({.name = "poisson", .grid = grid}); }
PdePtr helmholtz(int64_t grid, double k) {
  return make_pde({.name = "helmholtz", .grid = grid, .parameters = {{"k", k}}});
}

Tensor inner_nodes(const Tensor& x) { return x.narrow(2, 1, x.size(2) - 2).narrow(3, 1, x.size(3) - 2); }

TEST(Helmholtz, WithoutWavesIsPoisson) {
  const Tensor a = poisson(32)->sample_coefficients(1, 0, 3);
  EXPECT_TRUE(torch::equal(poisson(32)->solve(a), helmholtz(32, 0)->solve(a)));
}

TEST(Helmholtz, RefusesResonance) {
  const double h = 1.0 / 31, lambda = std::pow(2 / h * std::sin(kPi * h / 2), 2);
  const double resonant = std::sqrt(2 * lambda);
  EXPECT_ERROR(helmholtz(32, resonant), ExitCode::usage, "no unique solution on a grid of 32");
  EXPECT_ERROR(helmholtz(32, resonant * (1 + 1e-6)), ExitCode::usage, "eigenvalue");
  EXPECT_NO_THROW(helmholtz(32, resonant * (1 + 1e-4)));
  EXPECT_NO_THROW(helmholtz(33, resonant));
  EXPECT_ERROR(helmholtz(32, -1), ExitCode::usage, "k = -1");
}

TEST(Helmholtz, LoadVanishesOnTheRing) {
  const Tensor a = helmholtz(32, 1)->sample_coefficients(2, 5, 2), g = poisson(32)->sample_coefficients(2, 5, 2);
  EXPECT_TRUE(torch::equal(inner_nodes(a), inner_nodes(g)));
  EXPECT_GT(g.select(2, 0).abs().sum().item<double>(), 1);
  EXPECT_EQ(a.masked_select(helmholtz(32, 1)->given_boundary()).abs().sum().item<double>(), 0);
}

TEST(Helmholtz, ParameterChangesTheResidual) {
  const PdePtr one = helmholtz(32, 1), two = with_parameter(*one, "k", 2);
  const Tensor x = one->sample(1, 0, 2), u = inner_nodes(x.narrow(1, 0, 1));
  EXPECT_LT(relative_error(two->residual(x).fields[0].interior - one->residual(x).fields[0].interior, 3 * u), 1e-10);
  EXPECT_ERROR(with_parameter(*one, "kay", 2), ExitCode::usage, "unknown parameter");
}

TEST(Helmholtz, AmplifiesWhatIsNearResonance) {
  const Tensor x = torch::sin(kPi * torch::arange(64, torch::kFloat64) / 63.0);
  const Tensor a = -(x.unsqueeze(1) * x).view({1, 1, 64, 64});
  double before = 0;
  for (const double k : {0.0, 2.0, 4.0, 4.4}) {  // the lowest eigenvalue is near k = 4.44
    const double peak = helmholtz(64, k)->solve(a).max().item<double>();
    EXPECT_NEAR(peak, 1 / (2 * kPi * kPi - k * k), 0.01 * peak + 1e-3 * peak * peak * 2 * kPi * kPi);
    EXPECT_GT(peak, before);
    before = peak;
  }
}

}  // namespace
}  // namespace piddm
