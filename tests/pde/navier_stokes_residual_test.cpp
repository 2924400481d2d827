#include <cmath>

#include "piddm/pde/navier_stokes.h"
#include "tests/pde/spectral.h"

namespace piddm {
namespace {

using namespace piddm::testing;

PdePtr flow(int64_t grid) { return make_pde({.name = "navier-stokes", .grid = grid}); }

TEST(NavierStokesResidual, VanishesOnTheTaylorGreenVortex) {
  const PdePtr pde = with_parameter(*flow(16), "forcing", 0);
  const Tensor p = periodic_points(16) * kTwoPi, w0 = 0.8 * (p.sin().unsqueeze(1) * p.sin());
  const Tensor x = torch::stack({w0 * std::exp(-2 * kTwoPi * kTwoPi * 1e-3), w0, torch::zeros_like(w0)}).unsqueeze(0);
  EXPECT_LT(pde->residual(x).fields[0].interior.abs().max().item<double>(), 1e-14);
  EXPECT_GT(rel_residual(*with_parameter(*pde, "nu", 1.1e-3), x), 0.01);
}

TEST(NavierStokesResidual, IsTheTrapezoidalRuleOfTheAdvectiveForm) {
  const int64_t n = 24;
  const PdePtr pde = flow(n);
  const Tensor x = pde->sample(2, 0, 1);
  const double phi = x[0][2][0][0].item<double>();
  const Tensor k = full_wavenumbers(n).unsqueeze(1) * kTwoPi, l = half_wavenumbers(n) * kTwoPi;
  const Tensor square = k.square() + l.square(), inverse = square.reciprocal().masked_fill(square == 0, 0);
  const double last = static_cast<double>(last_unaliased_mode(n)) * kTwoPi;
  const Tensor kept = ((k.abs() <= last) & (l <= last)).to(torch::kFloat64);
  const Tensor p = periodic_points(n) * kTwoPi, force = 0.1 * std::sqrt(2.0) * torch::sin(p.unsqueeze(1) + p + phi);
  const auto modes = [](const Tensor& w) { return torch::fft::rfft2(w, {}, {-2, -1}, "forward"); };
  const auto derivative = [&](const Tensor& v, const Tensor& wavenumber) {
    return values_at_2d(v * torch::complex(torch::zeros_like(wavenumber), wavenumber), n, n);
  };
  const auto rate = [&](const Tensor& w) {
    const Tensor v = modes(w) * kept, psi = v * inverse;
    return modes(derivative(psi, k) * derivative(v, l) - derivative(psi, l) * derivative(v, k)) * kept + modes(force);
  };
  const Tensor decay = torch::exp(-1e-3 * square), w1 = x[0][0], w0 = x[0][1];
  const Tensor expected = values_at_2d(modes(w1) - decay * modes(w0) - 0.5 * (decay * rate(w0) + rate(w1)), n, n);
  const Tensor r = pde->residual(x).fields[0].interior;
  EXPECT_EQ(r.sizes(), torch::IntArrayRef({1, 1, n, n}));
  EXPECT_LT(largest_difference(r[0][0], expected), 1e-14);
  EXPECT_LT(largest_difference(pde->residual(x).fields[0].reference[0][0], w1 - w0), 1e-15);
}

TEST(NavierStokesResidual, FallsWithTheCubeOfTheInterval) {
  // With viscosity s nu and forcing s^2 f, s w(s t) is a solution if w(t) is one: data s times as weak stand for the
  // interval s T of the same flow, and r / s falls like s^3.
  const Tensor x = periodic_points(32).view({1, 1, 32, 1}) * kTwoPi, y = x.transpose(2, 3);
  const Tensor strong = 0.3 * (x + 1).sin() + 0.2 * (y - x).cos() + 0.2 * (x + 2 * y).sin();
  double previous = 0;
  for (const double s : {0.8, 0.4, 0.2, 0.1}) {
    const json parameters = {{"nu", 1e-3 * s}, {"forcing", 0.1 * s * s}};
    const PdePtr pde = make_pde({.name = "navier-stokes", .grid = 32, .parameters = parameters});
    const Tensor given = torch::cat({strong * s, torch::full_like(strong, 0.7)}, 1);
    const Tensor r = pde->residual(torch::cat({pde->solve(given), given}, 1)).fields[0].interior / s;
    const double error = r.square().mean().sqrt().item<double>();
    if (previous > 0) {
      EXPECT_NEAR(std::log2(previous / error), 3, 0.25) << s;
    }
    previous = error;
  }
}

TEST(NavierStokesResidual, FloorIsThatOfTheFacts) {
  const PdePtr pde = flow(32);
  const Tensor x = pde->sample(0, 1'000'000, 24);
  const double floor = pde->pde_error(x).mean().item<double>();
  EXPECT_GT(floor, 4.1e-6 / 2);
  EXPECT_LT(floor, 4.1e-6 * 2);
  EXPECT_GT(median_error(*pde, x), 4.1e-6 / 4);
  EXPECT_LT(median_error(*pde, x), 4.1e-6);
  EXPECT_LT(rel_residual(*pde, x), 0.03);
  EXPECT_NEAR(pde->pde_error(x.to(torch::kFloat32)).mean().item<double>() / floor, 1, 1e-3);
  EXPECT_FALSE(pde->residual(x).boundary.defined());
}

TEST(NavierStokesResidual, IsDifferentiableInAllChannels) {
  for (const int64_t n : {16, 17}) {
    const PdePtr pde = flow(n);
    const Tensor x = pde->sample_coefficients(2, 0, 2);
    const Tensor fields =
        torch::cat({x.narrow(1, 0, 1) * 0.9, x}, 1) + 0.05 * torch::randn({2, 3, n, n}, torch::kFloat64);
    const Tensor weights = torch::randn({2, 1, n, n}, torch::kFloat64);
    for (const int64_t channel : {0, 1, 2}) {
      const auto with = [&](const Tensor& field) {
        std::vector<Tensor> parts = fields.split(1, 1);
        parts[channel] = field;
        return torch::cat(parts, 1);
      };
      const Tensor field = fields.narrow(1, channel, 1).contiguous();
      const auto linear = [&](const Tensor& f) { return (pde->residual(with(f)).fields[0].interior * weights).sum(); };
      const auto loss = [&](const Tensor& f) { return pde->pde_error(with(f)).sum(); };
      EXPECT_LT(gradient_error(linear, field), 1e-6) << "channel " << channel << " grid " << n;
      EXPECT_LT(gradient_error(loss, field, 20, channel == 2 ? 1e-3 : 1e-5), 1e-6)
          << "channel " << channel << " grid " << n;
    }
  }
}

TEST(NavierStokesResidual, Float32AgreesWithFloat64) {
  const PdePtr pde = flow(64);
  const Tensor x =
      torch::cat({pde->sample_coefficients(2, 0, 1).narrow(1, 0, 1), pde->sample_coefficients(2, 0, 1)}, 1);
  const Tensor narrow = pde->residual(x.to(torch::kFloat32)).fields[0].interior;
  EXPECT_EQ(narrow.scalar_type(), torch::kFloat32);
  EXPECT_LT(relative_error(narrow, pde->residual(x).fields[0].interior), 1e-5);
}

TEST(NavierStokesResidual, ErrorsNameTheCulprit) {
  const PdePtr pde = flow(32);
  EXPECT_ERROR(pde->residual(torch::zeros({8, 2, 32, 32})), ExitCode::data,
               "[navier-stokes] expected (B,3,32,32), got (8,2,32,32)");
  EXPECT_ERROR(pde->residual(torch::zeros({8, 3, 32, 32}, torch::kBFloat16)), ExitCode::data, "BFloat16");
  EXPECT_ERROR(pde->solve(torch::full({1, 2, 32, 32}, NAN)), ExitCode::data, "finite");
}

}  // namespace
}  // namespace piddm
