#include "piddm/pde/burgers.h"

#include <cmath>

#include "tests/pde/spectral.h"

namespace piddm {
namespace {

using namespace piddm::testing;

constexpr double kNu = 0.01;

/// Initial states of samples 0..count-1, [count,n].
Tensor states(const Burgers& pde, int64_t count) {
  return pde.sample_coefficients(3, 0, count).select(3, 0).squeeze(1);
}

/// u = -2 nu q_x / q, q the solution of the heat equation from exp(-1/(2 nu) int a): exact, no time stepping. a = [B,n]
/// of zero mean, on m points; returns [B,n,n].
Tensor cole_hopf(const Tensor& a, int64_t m) {
  const int64_t n = a.size(1);
  const Tensor k = half_wavenumbers(m) * kTwoPi, ik = torch::complex(torch::zeros_like(k), k);
  const Tensor integral = (interpolant_modes(a, m) / ik).index_fill(1, torch::zeros({1}, torch::kLong), 0);
  const Tensor q0 = torch::exp(torch::fft::irfft(integral, m, -1, "forward") / (-2 * kNu));
  const Tensor start = torch::fft::rfft(q0, {}, -1, "forward").unsqueeze(1);
  const Tensor t = torch::arange(n, torch::kFloat64).unsqueeze(1) / static_cast<double>(n - 1);
  const Tensor modes = start * torch::exp(-kNu * k.square() * t);
  return (-2 * kNu * values_at(modes * ik, m, n) / values_at(modes, m, n)).transpose(1, 2);
}

TEST(Burgers, ChannelsAndParameters) {
  const PdePtr pde = make_pde({.name = "burgers", .grid = 16});
  EXPECT_EQ(pde->channel_names(), (std::vector<std::string>{"u", "a"}));
  EXPECT_EQ(pde->num_solution_channels(), 1);
  EXPECT_EQ(pde->equations()[0].scale, 1);
  EXPECT_EQ(pde->parameters()[0].value, 0.01);
  EXPECT_EQ(pde->parameters()[1].choices, (std::vector<std::string>{"compact", "wide", "step"}));
  const Tensor given = pde->given_boundary();
  EXPECT_EQ(given.sum().item<int64_t>(), 16);
  EXPECT_TRUE(given[0].select(1, 0).all().item<bool>());
  EXPECT_ERROR(with_parameter(*pde, "residual", "compct"), ExitCode::usage, "'compact'");
  EXPECT_ERROR(with_parameter(*pde, "nu", 1e-5), ExitCode::usage, "nu = 1e-05");
}

TEST(Burgers, SolutionIsThatOfColeHopf) {
  for (const int64_t n : {32, 45}) {
    const Burgers pde({.name = "burgers", .grid = n});
    const Tensor a = states(pde, 24);
    EXPECT_LT(largest_difference(pde.integrate(a), cole_hopf(a, 16 * n)), 3e-7) << n;
  }
}

TEST(Burgers, SolutionIsThatOfQuadrature) {
  const Tensor values = golden_numbers("burgers_16.txt");
  ASSERT_EQ(values.size(0), 16 + 256);
  const Burgers pde({.name = "burgers", .grid = 16});
  const Tensor u = pde.integrate(values.narrow(0, 0, 16).unsqueeze(0))[0];
  EXPECT_LT(largest_difference(u, values.narrow(0, 16, 256).view({16, 16})), 1e-8);
}

TEST(Burgers, SolverIsConvergedOnTheStoredPoints) {
  const Burgers pde({.name = "burgers", .grid = 128});
  const Tensor a = states(pde, 12), u = pde.integrate(a);
  EXPECT_LT(largest_difference(u, pde.integrate(a, {.points = 1, .steps = 4})), 3e-7);
  const Tensor finer = pde.integrate(a.narrow(0, 0, 4), {.points = 4, .steps = 1});
  EXPECT_LT(largest_difference(u.narrow(0, 0, 4), finer), 1e-8);
}

TEST(Burgers, SolverHasOrderThreeAtLeastInTime) {
  const Burgers pde({.name = "burgers", .grid = 32});
  const Tensor a = states(pde, 3), exact = pde.integrate(a, {.points = 1, .steps = 12});
  double previous = 0;
  for (const int64_t factor : {1, 2, 4}) {
    const double error = largest_difference(pde.integrate(a, {.points = 1, .steps = factor}), exact);
    if (factor > 1) {
      EXPECT_GT(std::log2(previous / error), 3) << factor;
    }
    previous = error;
  }
  EXPECT_LT(previous, 1e-9);
}

/// Pseudo-spectral, Crank-Nicolson diffusion and explicit Euler advection, as the upstream generators of flow data do.
Tensor first_order_scheme(const Tensor& a, int64_t m, int64_t steps) {
  const double h = 1 / static_cast<double>(steps);
  const BurgersFlux flux(m, torch::kComplexDouble, torch::kCPU);
  const Tensor half = (half_wavenumbers(m) * kTwoPi).square() * (-kNu * h / 2);
  Tensor v = interpolant_modes(a, m);
  for (int64_t i = 0; i < steps; ++i) v = ((1 + half) * v + h * flux(v)) / (1 - half);
  return values_at(v, m, a.size(1));
}

TEST(Burgers, FirstOrderSchemeConvergesToTheSolution) {
  const Burgers pde({.name = "burgers", .grid = 32});
  const Tensor a = states(pde, 4), end = pde.integrate(a).select(2, 31);
  const Tensor coarse = first_order_scheme(a, 256, 1000), fine = first_order_scheme(a, 256, 2000);
  const double ratio = largest_difference(coarse, end) / largest_difference(fine, end);
  EXPECT_NEAR(ratio, 2, 0.1);
  EXPECT_LT(largest_difference(2 * fine - coarse, end), 0.02 * largest_difference(fine, end));
}

TEST(Burgers, SmallViscosityGetsAFinerInnerGrid) {
  const Burgers pde({.name = "burgers", .grid = 16, .parameters = {{"nu", 0.002}}});
  const Tensor a = states(pde, 3), u = pde.integrate(a);
  EXPECT_LT(largest_difference(u, pde.integrate(a, {.points = 2, .steps = 2})), 1e-5);
}

TEST(Burgers, SamplesHaveTheSameBitsForAnySplitAndThreads) {
  expect_same_bits(Burgers({.name = "burgers", .grid = 33}));
}

TEST(Burgers, StatisticsOfTheData) {
  const Burgers pde({.name = "burgers", .grid = 32});
  const Tensor a = states(pde, 4000), variance = a.square().mean(1);
  const double error = variance.std().item<double>() / std::sqrt(4000.0);
  EXPECT_NEAR(variance.mean().item<double>(), 0.2741 * 0.2741, 4 * error + 1e-5);
  EXPECT_LT(error, 0.02 * 0.075);
  EXPECT_LT(a.mean(1).abs().max().item<double>(), 1e-15);
  const Tensor u = pde.sample(3, 0, 120).select(1, 0), energy = u.square().mean({1, 2});
  const double u_error = energy.std().item<double>() / std::sqrt(120.0);
  EXPECT_NEAR(energy.mean().item<double>(), 0.201 * 0.201, 4 * u_error + 0.03 * 0.04);  // of the released data
  EXPECT_LT(u_error, 0.12 * 0.04);
}

TEST(Burgers, SampleIsTheSameFunctionOnEveryGrid) {
  const Tensor coarse = Burgers({.name = "burgers", .grid = 32}).sample(4, 7, 1)[0][0];
  const Tensor fine = Burgers({.name = "burgers", .grid = 63}).sample(4, 7, 1)[0][0];          // t_n = n/31 and n/62
  EXPECT_LT(largest_difference(coarse[0].slice(0, 4, 32), fine[0].slice(0, 8, 63, 2)), 2e-3);  // x = 0
}

TEST(Burgers, DecodeLandsOnTheSolutionForItsOwnCoefficient) {
  const Burgers pde({.name = "burgers", .grid = 32});
  const Tensor truth = pde.sample(4, 0, 3);
  Tensor x = truth.clone();
  x.select(1, 0) += 0.05 * torch::randn({3, 32, 32}, torch::kFloat64);
  x[1][1] += 0.02 * torch::randn({32, 32}, torch::kFloat64);  // not constant over t: its mean counts
  const Decoded decoded = pde.decode(x);
  EXPECT_LT(largest_difference(decoded.x[0], truth[0]), 1e-14);
  EXPECT_LT(largest_difference(decoded.x.narrow(1, 0, 1), pde.solve(decoded.x.narrow(1, 1, 1))), 1e-14);
  EXPECT_LT(largest_difference(decoded.x[1][1].select(1, 5), x[1][1].mean(1)), 1e-15);
  EXPECT_LT(pde.residual(decoded.x).boundary.abs().max().item<double>(), 1e-15);
  EXPECT_GT(decoded.moved[0].item<double>(), 0.05);
  EXPECT_EQ(decoded.clamped.sum().item<int64_t>(), 0);
}

TEST(Burgers, Float32CoefficientGivesNearlyTheSameSolution) {
  const Burgers pde({.name = "burgers", .grid = 32});
  const Tensor x = pde.sample(4, 0, 4);
  EXPECT_LT(largest_difference(pde.solve(x.narrow(1, 1, 1).to(torch::kFloat32)), x.narrow(1, 0, 1)), 5e-7);
}

TEST(Burgers, DecodeCopesWithNoise) {
  const Burgers pde({.name = "burgers", .grid = 16});
  Tensor x = torch::randn({2, 2, 16, 1}, torch::kFloat64).repeat({1, 1, 1, 16});
  x[1][1][3] = 50;
  const Decoded decoded = pde.decode(x);
  EXPECT_TRUE(all_finite(decoded.x));
  EXPECT_EQ(decoded.clamped[0].item<int64_t>(), 0);
  EXPECT_EQ(decoded.clamped[1].item<int64_t>(), 1);
  EXPECT_ERROR(pde.solve(x.narrow(1, 1, 1)), ExitCode::data, "the largest is 50");
}

TEST(Burgers, ConstrainTakesTheMeanAway) {
  const Burgers pde({.name = "burgers", .grid = 16});
  const Tensor x = torch::randn({2, 2, 16, 16}, torch::kFloat64), y = pde.constrain(x);
  EXPECT_LT(y.select(1, 0).mean(1).abs().max().item<double>(), 1e-15);
  EXPECT_TRUE(torch::equal(y.select(1, 1), x.select(1, 1)));
  EXPECT_LT((y - x).select(1, 0).std(1).max().item<double>(), 1e-15);  // one constant for each t
  const Burgers fine({.name = "burgers", .grid = 64});  // true data have zero mean but for modes 64, 128, ...
  const Tensor truth = fine.sample(1, 0, 4);
  EXPECT_LT(largest_difference(fine.constrain(truth), truth), 1e-7);
}

}  // namespace
}  // namespace piddm
