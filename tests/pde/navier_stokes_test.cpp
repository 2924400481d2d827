#include "piddm/pde/navier_stokes.h"

#include <cmath>

#include "tests/pde/spectral.h"

namespace piddm {
namespace {

using namespace piddm::testing;

constexpr double kNu = 1e-3;

NavierStokes flow(int64_t grid, double forcing = 0.1) {
  return NavierStokes({.name = "navier-stokes", .grid = grid, .parameters = {{"forcing", forcing}}});
}

Tensor with_phase(const Tensor& w0, double phi) { return torch::stack({w0, torch::full_like(w0, phi)}).unsqueeze(0); }

TEST(NavierStokes, ChannelsAndParameters) {
  const NavierStokes pde = flow(16);
  EXPECT_EQ(pde.channel_names(), (std::vector<std::string>{"w", "w0", "phi"}));
  EXPECT_EQ(pde.num_solution_channels(), 1);
  EXPECT_TRUE(pde.channels()[2].scalar);
  EXPECT_TRUE(pde.channels()[2].given_in_inverse);
  EXPECT_FALSE(pde.channels()[1].given_in_inverse);
  EXPECT_EQ(pde.parameters()[0].value, 1e-3);
}

TEST(NavierStokes, DecayingTaylorGreenVortexIsExact) {
  for (const int64_t n : {16, 17}) {
    const NavierStokes pde = flow(n, 0);
    const Tensor x = periodic_points(n) * kTwoPi;
    const Tensor w0 = 0.8 * (x.sin().unsqueeze(1) * x.sin()) + 0.3 * (x.cos().unsqueeze(1) * x.sin());
    const Tensor expected = w0 * std::exp(-2 * kTwoPi * kTwoPi * kNu);
    EXPECT_LT(largest_difference(pde.integrate(with_phase(w0, 0.3))[0], expected), 1e-13);
  }
}

TEST(NavierStokes, FlowIsThatOfAnotherFormulation) {
  const Tensor values = golden_numbers("navier_stokes_16.txt");
  ASSERT_EQ(values.size(0), 513);
  const Tensor w0 = values.narrow(0, 1, 256).view({16, 16}), expected = values.narrow(0, 257, 256).view({16, 16});
  const Tensor w = flow(16).integrate(with_phase(w0, values[0].item<double>()))[0];
  EXPECT_LT(largest_difference(w, expected), 5e-7);
}

TEST(NavierStokes, SolverIsConverged) {
  const NavierStokes pde = flow(64);
  const Tensor given = pde.sample_coefficients(3, 0, 4), w = pde.integrate(given);
  EXPECT_LT(largest_difference(w, pde.integrate(given, 1, {.points = 1, .steps = 4})), 5e-7);
  EXPECT_LT(largest_difference(w[0], pde.integrate(given.narrow(0, 0, 1), 1, {.points = 2, .steps = 1})[0]), 1e-8);
}

TEST(NavierStokes, SolverHasOrderThreeAtLeastInTime) {
  const NavierStokes pde = flow(32);
  const Tensor given = pde.sample_coefficients(3, 0, 2), exact = pde.integrate(given, 1, {.points = 1, .steps = 8});
  const double coarse = largest_difference(pde.integrate(given), exact);
  const double fine = largest_difference(pde.integrate(given, 1, {.points = 1, .steps = 2}), exact);
  EXPECT_GT(std::log2(coarse / fine), 3);
  EXPECT_LT(fine, 5e-8);
}

/// Advective form, Crank-Nicolson diffusion and explicit Euler advection with the rule of two thirds, on the grid
/// itself: the scheme of the FNO and DiffusionPDE data.
Tensor first_order_scheme(const Tensor& w0, double phi, int64_t steps) {
  const int64_t n = w0.size(0);
  const double h = 1 / static_cast<double>(steps);
  const Tensor k = full_wavenumbers(n).unsqueeze(1) * kTwoPi, l = half_wavenumbers(n) * kTwoPi;
  const Tensor square = k.square() + l.square(), inverse = square.reciprocal().masked_fill(square == 0, 0);
  const double last = static_cast<double>(last_unaliased_mode(n)) * kTwoPi;
  const Tensor kept = ((k.abs() <= last) & (l <= last)).to(torch::kFloat64), half = square * (kNu * h / 2);
  const auto derivative = [&](const Tensor& modes, const Tensor& wavenumber) {
    const Tensor ik = torch::complex(torch::zeros_like(wavenumber), wavenumber);
    return values_at_2d(modes * ik, n, n);
  };
  const Tensor p = periodic_points(n) * kTwoPi;
  const Tensor force = 0.1 * std::sqrt(2.0) * torch::sin(p.unsqueeze(1) + p + phi);
  Tensor w = torch::fft::rfft2(w0, {}, {-2, -1}, "forward");
  for (int64_t i = 0; i < steps; ++i) {
    const Tensor psi = w * inverse;
    const Tensor advected = derivative(psi, l) * derivative(w, k) - derivative(psi, k) * derivative(w, l);
    const Tensor rate = torch::fft::rfft2(force - advected, {}, {-2, -1}, "forward") * kept;
    w = ((1 - half) * w + h * rate) / (1 + half);
  }
  return values_at_2d(w, n, n);
}

TEST(NavierStokes, FirstOrderSchemeConvergesToTheSolution) {
  const NavierStokes pde = flow(16);
  const Tensor w0 = golden_numbers("navier_stokes_16.txt").narrow(0, 1, 256).view({16, 16});
  const Tensor end = pde.integrate(with_phase(w0, 0.7))[0];
  const Tensor inner = values_at_2d(interpolant_modes_2d(w0, 64), 64, 64);
  const Tensor coarse = first_order_scheme(inner, 0.7, 200).slice(0, 0, 64, 4).slice(1, 0, 64, 4);
  const Tensor fine = first_order_scheme(inner, 0.7, 400).slice(0, 0, 64, 4).slice(1, 0, 64, 4);
  EXPECT_NEAR(largest_difference(coarse, end) / largest_difference(fine, end), 2, 0.05);
  EXPECT_LT(largest_difference(2 * fine - coarse, end), 0.02 * largest_difference(fine, end));
}

/// Means over the square: energy |v|^2/2, enstrophy w^2/2 and their rates of change by the equation.
struct Budget {
  double energy, enstrophy, energy_rate, enstrophy_rate;
};

Budget budget(const Tensor& w, double phi) {
  const int64_t n = w.size(0);
  const Tensor k = full_wavenumbers(n).unsqueeze(1) * kTwoPi, l = half_wavenumbers(n) * kTwoPi;
  const Tensor square = k.square() + l.square(), inverse = square.reciprocal().masked_fill(square == 0, 0);
  const Tensor modes = torch::fft::rfft2(w, {}, {-2, -1}, "forward");
  const Tensor psi = values_at_2d(modes * inverse, n, n), minus_laplace = values_at_2d(modes * square, n, n);
  const Tensor p = periodic_points(n) * kTwoPi, force = 0.1 * std::sqrt(2.0) * torch::sin(p.unsqueeze(1) + p + phi);
  const auto mean = [](const Tensor& x) { return x.mean().item<double>(); };
  return {mean(psi * w) / 2, mean(w * w) / 2, mean(force * psi) - kNu * mean(w * w),
          mean(force * w) - kNu * mean(w * minus_laplace)};
}

TEST(NavierStokes, EnergyAndEnstrophyChangeByForcingAndViscosityOnly) {
  const NavierStokes pde = flow(32);  // twice the modes of the data: squares are integrated exactly
  const Tensor golden_w0 = golden_numbers("navier_stokes_16.txt").narrow(0, 1, 256).view({16, 16});
  const Tensor given = with_phase(values_at_2d(interpolant_modes_2d(golden_w0, 32), 32, 32), 0.7);
  double energy = 0, enstrophy = 0;
  for (const auto& [node, weight] : {std::pair{0.0, 0.5688888888888889},
                                     {-0.5384693101056831, 0.4786286704993665},
                                     {0.5384693101056831, 0.4786286704993665},
                                     {-0.9061798459386640, 0.2369268850561891},
                                     {0.9061798459386640, 0.2369268850561891}}) {  // Gauss-Legendre
    const Budget at = budget(pde.integrate(given, (1 + node) / 2)[0], 0.7);
    energy += weight / 2 * at.energy_rate;
    enstrophy += weight / 2 * at.enstrophy_rate;
  }
  const Budget before = budget(given[0][0], 0.7), after = budget(pde.integrate(given)[0], 0.7);
  EXPECT_NEAR(after.energy - before.energy, energy, 1e-5 * std::abs(energy));
  EXPECT_NEAR(after.enstrophy - before.enstrophy, enstrophy, 1e-4 * std::abs(enstrophy));
  EXPECT_GT(std::abs(enstrophy), 0.05 * before.enstrophy);
}

TEST(NavierStokes, SamplesHaveTheSameBitsForAnySplitAndThreads) { expect_same_bits(flow(16)); }

TEST(NavierStokes, StatisticsOfTheLaw) {
  const NavierStokes pde = flow(32);
  const Tensor given = pde.sample_coefficients(3, 0, 1000), w0 = given.select(1, 0), phi = given.select(1, 1);
  const Tensor variance = w0.square().mean({1, 2});
  const double error = variance.std().item<double>() / std::sqrt(1000.0);
  EXPECT_NEAR(variance.mean().item<double>(), 0.2620 * 0.2620, 4 * error + 1e-4);
  EXPECT_LT(error, 0.04 * 0.0686);
  EXPECT_LT(w0.mean({1, 2}).abs().max().item<double>(), 1e-15);
  const Tensor phase = phi.select(1, 0).select(1, 0);
  EXPECT_TRUE(torch::equal(phi, phase.view({1000, 1, 1}).expand_as(phi)));
  const double quarter = std::numbers::pi / 2;
  EXPECT_GT(phase.min().item<double>(), 0);
  EXPECT_LT(phase.max().item<double>(), quarter);
  EXPECT_NEAR(phase.mean().item<double>(), quarter / 2, 4 * quarter / std::sqrt(12.0 * 1000));
  const Tensor mixed = (phase - phase.mean()) * (w0.select(1, 0).select(1, 0));  // independent of the field
  EXPECT_LT(std::abs(mixed.mean().item<double>()), 4 * mixed.std().item<double>() / std::sqrt(1000.0));
}

TEST(NavierStokes, SampleIsTheSameFunctionOnEveryGrid) {
  const Tensor coarse = flow(16).sample_coefficients(4, 7, 1)[0], fine = flow(48).sample_coefficients(4, 7, 1)[0];
  EXPECT_EQ(coarse[1][0][0].item<double>(), fine[1][0][0].item<double>());
  const auto low = [](const Tensor& w) {
    return torch::view_as_real(
        torch::fft::fft2(w, {}, {-2, -1}, "forward").roll({5, 5}, {0, 1}).slice(0, 0, 11).slice(1, 0, 11));
  };
  EXPECT_LT(relative_error(low(fine[0]), low(coarse[0])), 1e-13);
}

TEST(NavierStokes, DecodeLandsOnTheSolutionForItsOwnCoefficients) {
  const NavierStokes pde = flow(16);
  const Tensor truth = pde.sample(4, 0, 2);
  Tensor x = truth.to(torch::kFloat32).to(torch::kFloat64);
  x[0][0] += 0.05 * torch::randn({16, 16}, torch::kFloat64);
  x[1][2] += 0.1 * (torch::arange(256, torch::kFloat64).view({16, 16}).remainder(2) - 0.5);  // same mean
  const Decoded decoded = pde.decode(x);
  EXPECT_LT(largest_difference(decoded.x, truth), 1e-6);
  EXPECT_LT(largest_difference(decoded.x.narrow(1, 0, 1), pde.solve(decoded.x.narrow(1, 1, 2))), 1e-14);
  EXPECT_GT(decoded.moved[0].item<double>(), 0.05);
  EXPECT_LT(decoded.moved[1].item<double>(), 1e-6);
}

TEST(NavierStokes, DecodeCopesWithNoise) {
  const NavierStokes pde = flow(16);
  Tensor x = torch::randn({1, 3, 16, 16}, torch::kFloat64);
  EXPECT_TRUE(all_finite(pde.decode(x).x));
  x[0][1][2][3] = 25;
  EXPECT_ERROR(pde.solve(x.narrow(1, 1, 2)), ExitCode::data, "the largest is 25");
}

TEST(NavierStokes, ConstrainTakesTheMeanAway) {
  const NavierStokes pde = flow(16);
  const Tensor x = torch::randn({2, 3, 16, 16}, torch::kFloat64), y = pde.constrain(x);
  EXPECT_LT(y.select(1, 0).mean({1, 2}).abs().max().item<double>(), 1e-15);
  EXPECT_TRUE(torch::equal(y.narrow(1, 1, 2), x.narrow(1, 1, 2)));
  const Tensor truth = pde.sample(1, 0, 1);
  EXPECT_LT(largest_difference(pde.constrain(truth), truth), 1e-8);  // modes 16, 32, ... of w(1) count as a mean
}

}  // namespace
}  // namespace piddm
