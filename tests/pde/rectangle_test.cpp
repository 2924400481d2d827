// Rectangles with unequal lengths: solutions of numpy and scipy, order of accuracy on four grids, exact solutions, and
// symmetries that tie a rectangle to the square.

#include "tests/pde/rectangle.h"

#include <cmath>
#include <numbers>

#include "piddm/numerics/fast_poisson.h"
#include "piddm/pde/burgers.h"
#include "piddm/pde/navier_stokes.h"
#include "piddm/pde/stefan.h"
#include "tests/pde/closed.h"

namespace piddm {
namespace {

using testing::golden;
using testing::on_rectangle;
using testing::relative_error;

constexpr double kPi = std::numbers::pi, kLx = 1.5, kLy = 0.8;

Tensor reference(const std::string& name) {
  static const Npz file = read_npz(golden("rectangle.npz"));
  const Tensor x = file.arrays.at(name);
  return x.view({1, 1, x.size(0), x.size(1)});
}

/// Orders between grids H x W whose spacings halve: H-1 and W-1 double where the ends are stored (`nodes`).
void expect_second_order(const std::function<double(const GridSize&)>& error, bool nodes, double tolerance = 0.15) {
  double coarse = 0;
  for (const int64_t factor : {2, 4, 8, 16}) {
    const int64_t h = 24 * factor + nodes, w = 16 * factor + nodes;
    const double fine = error({h, w});
    if (factor > 2) {
      EXPECT_NEAR(std::log2(coarse / fine), 2.0, tolerance) << "to " << h << "x" << w;
    }
    coarse = fine;
  }
}

double rms(const Tensor& x) { return x.square().mean().sqrt().item<double>(); }

TEST(Rectangle, DarcyIsThatOfScipy) {
  const auto pde = on_rectangle("darcy", {16, 20});
  const Tensor a = reference("darcy_a");
  EXPECT_LT(relative_error(pde->solve(a), reference("darcy_u")), 1e-11);
  const Tensor x = torch::cat({reference("darcy_guess"), a}, 1);
  EXPECT_LT(relative_error(pde->residual(x).fields[0].interior, reference("darcy_residual")), 1e-12);
  EXPECT_DOUBLE_EQ(pde->equations()[0].scale, 115 * (kLx / 16) * (kLy / 20));
}

TEST(Rectangle, PoissonAndHelmholtzAreThoseOfScipy) {
  EXPECT_LT(
      relative_error(on_rectangle("poisson", {18, 25})->solve(reference("helmholtz0_a")), reference("helmholtz0_u")),
      1e-11);
  EXPECT_LT(relative_error(on_rectangle("helmholtz", {18, 25}, {{"k", 3}})->solve(reference("helmholtz3_a")),
                           reference("helmholtz3_u")),
            1e-11);
}

TEST(Rectangle, BurgersIsThatOfScipy) {
  const Tensor u = reference("burgers_u");
  const auto pde = on_rectangle("burgers", {32, 20}, {{"nu", 0.02}});
  const Tensor a = u.narrow(3, 0, 1).expand_as(u);
  EXPECT_LT((pde->solve(a) - u).abs().max().item<double>(), 2e-6);
}

TEST(Rectangle, NavierStokesIsThatOfScipy) {
  const Tensor w0 = reference("flow_w0");
  const auto pde = on_rectangle("navier-stokes", {16, 32}, {{"nu", 0.01}, {"forcing", 0.2}});
  const Tensor w = pde->solve(torch::cat({w0, torch::full_like(w0, 0.7)}, 1));
  EXPECT_LT((w - reference("flow_w")).abs().max().item<double>(), 2e-6);
}

/// u = sin(pi x/Lx) sin(2 pi y/Ly), a = 2 + sin(2 pi x/Lx) cos(pi y/Ly)/2, f = -div(a grad u).
TEST(Rectangle, DarcySolverIsOfSecondOrder) {
  expect_second_order(
      [](const GridSize& n) {
        const Tensor x = ((torch::arange(n.height(), torch::kFloat64) + 0.5) * (kPi / n.height())).view({1, 1, -1, 1});
        const Tensor y = ((torch::arange(n.width(), torch::kFloat64) + 0.5) * (kPi / n.width())).view({1, 1, 1, -1});
        const double p = kPi / kLx, q = kPi / kLy;
        const Tensor a = 2 + 0.5 * (2 * x).sin() * y.cos(), u = x.sin() * (2 * y).sin();
        const Tensor a_x = p * (2 * x).cos() * y.cos(), a_y = -0.5 * q * (2 * x).sin() * y.sin();
        const Tensor u_x = p * x.cos() * (2 * y).sin(), u_y = 2 * q * x.sin() * (2 * y).cos();
        const Tensor f = (p * p + 4 * q * q) * a * u - a_x * u_x - a_y * u_y;
        return rms(DarcyOperator(a, {kLx, kLy}).solve(f).x - u);
      },
      false);
}

TEST(Rectangle, TheDarcyKernelAgreesWithTheComposedSolver) {
  for (const GridSize& n : {GridSize(16, 40), {40, 16}, {17, 23}, {33, 64}}) {
    const auto pde = on_rectangle("darcy", n);
    const Tensor a = pde->sample_coefficients(1, 0, 2);
    EXPECT_LT(relative_error(pde->solve(a), DarcyOperator(a, {kLx, kLy}).solve(torch::ones_like(a)).x), 1e-10);
  }
}

/// u = sin(pi x/Lx) y (Ly - y) e^x: not an eigenfunction.
TEST(Rectangle, PoissonAndHelmholtzAreOfSecondOrder) {
  for (const double k : {0.0, 3.0})
    expect_second_order(
        [k](const GridSize& n) {
          const auto pde = on_rectangle("helmholtz", n, {{"k", k}});
          const Tensor x = pde->axes()[0].coordinates(n.height()).view({1, 1, -1, 1});
          const Tensor y = pde->axes()[1].coordinates(n.width()).view({1, 1, 1, -1});
          const double p = kPi / kLx;
          const Tensor s = (p * x).sin(), c = (p * x).cos(), e = x.exp(), b = y * (kLy - y);
          const Tensor u = s * e * b, u_xx = e * ((1 - p * p) * s + 2 * p * c) * b, u_yy = -2 * s * e;
          return rms(pde->solve(u_xx + u_yy + k * k * u) - u);
        },
        true);
}

/// Residuals of exact solutions where they are smooth, in the coordinates of the scored points.
double residual_of_exact(const std::string& name, const GridSize& n, double scalar,
                         const std::function<Tensor(const Tensor&, const Tensor&)>& region) {
  const auto pde = on_rectangle(name, n);
  const Tensor r = pde->residual(testing::exact_sample(*pde, scalar)).fields[0].interior[0][0];
  const auto axes = pde->axes();
  Tensor x = axes[0].coordinates(n.height()).unsqueeze(1), t = axes[1].coordinates(n.width()).slice(0, 1, -1);
  if (axes[0].kind != AxisKind::periodic) x = x.slice(0, 1, -1);
  return rms(r.masked_select(region(x, t).expand_as(r)));
}

TEST(Rectangle, ResidualsInTimeAreOfSecondOrder) {
  const auto everywhere = [](const Tensor& x, const Tensor& t) { return (x > -1).logical_and(t > -1); };
  expect_second_order([&](const GridSize& n) { return residual_of_exact("stokes", n, 5, everywhere); }, true);
  expect_second_order(
      [&](const GridSize& n) {
        return residual_of_exact("heat", {n.height() - 1, n.width()}, 1, everywhere);  // periodic in x
      },
      true);
  const auto wet = [](const Tensor& x, const Tensor& t) { return t - x > 0.3; };
  for (const double m : {1.5, 3.0})
    expect_second_order([&](const GridSize& n) { return residual_of_exact("pme", n, m, wet); }, true, 0.2);
  const double reach = 2 * 0.6 * stefan_root(0.6);
  const auto warm = [&](const Tensor& x, const Tensor& t) { return (x < reach * t.sqrt()).logical_and(t > 0.04); };
  expect_second_order([&](const GridSize& n) { return residual_of_exact("stefan", n, 0.6, warm); }, true, 0.3);
}

TEST(Rectangle, BurgersResidualIsOfSecondOrder) {
  expect_second_order(
      [](const GridSize& n) {
        const auto pde = on_rectangle("burgers", {n.height() - 1, n.width()}, {{"nu", 0.05}});
        const Tensor x = pde->axes()[0].coordinates(n.height() - 1) * (2 * kPi / kLx);
        const Tensor a = (0.3 * x.sin()).view({1, 1, -1, 1}).expand({1, 1, n.height() - 1, n.width()});
        return rms(pde->residual(torch::cat({pde->solve(a), a}, 1)).fields[0].interior);
      },
      true);
}

// If u solves the equation on the unit square, L/T u(x/L, t/T) solves it with nu L^2/T on [0,L) x [0,T].
TEST(Rectangle, BurgersScales) {
  const double length = 1.5, duration = 0.8, nu = 0.02;
  const Burgers unit({.name = "burgers", .grid = {32, 24}, .parameters = {{"nu", nu}}});
  const json stretched = {{"nu", nu * length * length / duration}, {"length_x", length}, {"duration", duration}};
  const Burgers rectangle({.name = "burgers", .grid = {32, 24}, .parameters = stretched});
  const Tensor a = unit.sample_coefficients(3, 0, 2).select(3, 0).squeeze(1);
  EXPECT_LT((rectangle.integrate(a * (length / duration)) - unit.integrate(a) * (length / duration))
                .abs()
                .max()
                .item<double>(),
            2e-6);
}

/// Eigenfunctions of the Laplacian are not advected: they decay.
TEST(Rectangle, VorticesDecay) {
  const double nu = 0.02;
  const auto pde = on_rectangle("navier-stokes", {18, 24}, {{"nu", nu}, {"forcing", 0}});
  const Tensor x = pde->axes()[0].coordinates(18).unsqueeze(1) * (2 * kPi / kLx);
  const Tensor y = pde->axes()[1].coordinates(24) * (2 * kPi / kLy);
  const Tensor w0 = (0.8 * x.sin() * y.sin() + 0.3 * x.cos() * y.sin()).view({1, 1, 18, 24});
  const double rate = nu * 4 * kPi * kPi * (1 / (kLx * kLx) + 1 / (kLy * kLy));
  const Tensor w = pde->solve(torch::cat({w0, torch::zeros_like(w0)}, 1));
  EXPECT_LT((w - w0 * std::exp(-rate)).abs().max().item<double>(), 1e-12);
}

/// Exchanging the axes mirrors the flow: the vorticity changes its sign.
TEST(Rectangle, NavierStokesKnowsNoFirstAxis) {
  const auto flow = [](const GridSize& n, double lx, double ly) {
    return make_pde(
        {.name = "navier-stokes", .grid = n, .parameters = {{"length_x", lx}, {"length_y", ly}, {"forcing", 0}}});
  };
  const auto one = flow({16, 24}, kLx, kLy), other = flow({24, 16}, kLy, kLx);
  const Tensor c = one->sample_coefficients(5, 0, 1);
  const Tensor mirrored = torch::cat({-c.narrow(1, 0, 1), c.narrow(1, 1, 1)}, 1).transpose(2, 3).contiguous();
  EXPECT_LT(relative_error(-other->solve(mirrored).transpose(2, 3), one->solve(c)), 1e-9);
}

/// E[g^2] averaged over the domain: the sum of the eigenvalues of the covariance operator over the area.
TEST(Rectangle, FieldsHaveTheCovarianceOfTheirLaw) {
  const PeriodicLaw law = {.scale = 3, .tau = 7, .gamma = 2.5};
  const auto waves = [](int64_t k, double length) {
    return 4 * kPi * kPi * static_cast<double>(k * k) / (length * length);
  };
  const auto eigenvalue = [&](double square) { return law.scale * law.scale * std::pow(square + 49, -law.gamma); };
  double line = 0, plane = 0, walls = 0;
  for (int64_t k = -10; k <= 10; ++k) {
    if (k != 0) line += eigenvalue(waves(k, kLx)) / kLx;
    for (int64_t l = -7; l <= 7; ++l)
      if (k != 0 || l != 0) plane += eigenvalue(waves(k, kLx) + waves(l, kLy)) / (kLx * kLy);
  }
  EXPECT_NEAR(PeriodicLine(21, law, kLx).pointwise_variance_mean(), line, 1e-12 * line);
  EXPECT_NEAR(PeriodicPlane({GridSize(21, 15), {kLx, kLy}}, law).pointwise_variance_mean(), plane, 1e-12 * plane);
  for (int64_t k = 0; k < 21; ++k)
    for (int64_t l = 0; l < 15; ++l)
      if (k + l > 0) walls += 9 * std::pow((waves(k, kLx) + waves(l, kLy)) / 4 + 9, -2) / (kLx * kLy);
  EXPECT_NEAR(GaussianField({GridSize(21, 15), {kLx, kLy}}).pointwise_variance_mean(), walls, 1e-12 * walls);
}

TEST(Rectangle, FrontsThatLeaveTheDomainAreRefused) {
  EXPECT_ERROR(make_pde({.name = "pme", .grid = 16, .parameters = {{"duration", 1.2}}}), ExitCode::usage,
               "at most length_x = 1");
  EXPECT_ERROR(make_pde({.name = "stefan", .grid = 16, .parameters = {{"length_x", 0.5}}}), ExitCode::usage,
               "the front leaves the domain");
}

}  // namespace
}  // namespace piddm
