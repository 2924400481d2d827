// Six of the library's PDEs written as text: the same residuals and solutions. Darcy, Poisson and Helmholtz have the
// same stencil. Burgers, Heat and Stokes have the same one in space; their built-in residual takes central differences in
// time, which are BDF2's on what is quadratic in t.

#include "piddm/pde/text/text_pde.h"
#include "tests/pde/text/texts.h"

namespace piddm {
namespace {

using testing::expect_order;
using testing::largest;
using testing::numbers;
using testing::relative_error;

struct Written {
  const char* name;
  const char* toml;
  double sign;  ///< of the text's residual to the library's
};

const Written kDarcy = {"darcy", R"toml(
name = "darcy-text"
equation = "-div(a*grad(u)) = 1"
grid = { x = [0, 1, 32, "cells"], y = [0, 1, 32, "cells"] }
boundary = { x = "u = 0", y = "u = 0" }
coefficients = { a = "field: gauss(alpha=2, tau=3, scale=1) -> where(g >= 0, 12, 3)" }
)toml",
                        -1};

const Written kPoisson = {"poisson", R"toml(
name = "poisson-text"
equation = "lap(u) = a"
grid = { x = [0, 1, 32, "nodes"], y = [0, 1, 32, "nodes"] }
boundary = { x = "u = 0", y = "u = 0" }
coefficients = { a = "field: gauss(alpha=2, tau=3)" }
)toml",
                          1};

const Written kHelmholtz = {"helmholtz", R"toml(
name = "helmholtz-text"
equation = "lap(u) + k^2*u = a"
grid = { x = [0, 1, 32, "nodes"], y = [0, 1, 32, "nodes"] }
boundary = { x = "u = 0", y = "u = 0" }
parameters = { k = 1 }
coefficients = { a = "field: gauss(alpha=2, tau=3)" }
)toml",
                            1};

const Written kBurgers = {"burgers", R"toml(
name = "burgers-text"
equation = "dt(u) + u*dx(u) = nu*lap(u)"
grid = { x = [0, 1, 32, "periodic"], t = [0, 1, 32] }
initial = "u = a"
parameters = { nu = 0.01 }
coefficients = { a = "field: periodic(alpha=2.5, tau=7, scale=1)" }
)toml",
                          1};

const Written kHeat = {"heat", R"toml(
name = "heat-text"
equation = "dt(u) = alpha*lap(u)"
grid = { x = [0, 6.283185307179586, 32, "periodic"], t = [0, 1, 32] }
initial = "u = sin(x + phi)"
parameters = { alpha = 3 }
coefficients = { phi = "uniform(0, pi)" }
)toml",
                       1};

const Written kStokes = {"stokes", R"toml(
name = "stokes-text"
equation = "dt(u) = omega/(2*k^2)*lap(u)"
grid = { x = [0, 1, 32, "nodes"], t = [0, 1, 32] }
boundary = { x_low = "u = A*cos(omega*t)", x_high = "u = A*exp(-k)*cos(k - omega*t)" }
initial = "u = A*exp(-k*x)*cos(k*x)"
parameters = { A = 2, k = 5 }
coefficients = { omega = "uniform(2, 8)" }
)toml",
                         1};

PdePtr by_text(const Written& written, const GridSize& grid, const json& parameters = json::object()) {
  auto options = options_of_text(parse_toml(written.toml, "test.toml"), "test.toml");
  options.grid = grid, options.parameters = parameters;
  return make_pde(options);
}

PdePtr built_in(const Written& written, const GridSize& grid, const json& parameters = json::object()) {
  return make_pde({.name = written.name, .grid = grid, .parameters = parameters});
}

// --- steady ---

class SteadyBuiltIn : public ::testing::TestWithParam<Written> {};

TEST_P(SteadyBuiltIn, ResidualsAreEqualToRoundOff) {
  for (const GridSize& grid : {GridSize{24}, GridSize{20, 28}}) {
    const auto text = by_text(GetParam(), grid), library = built_in(GetParam(), grid);
    const Tensor coefficients = library->sample_coefficients(3, 0, 3);
    const Tensor x = torch::cat({numbers({3, 1, grid.height(), grid.width()}), coefficients}, 1);
    const auto expected = library->residual(x), got = text->residual(x);
    EXPECT_LT(relative_error(GetParam().sign * got.fields[0].interior, expected.fields[0].interior), 1e-13);
    EXPECT_LT(relative_error(got.fields[0].reference.abs(), expected.fields[0].reference.abs()), 1e-13);
    ASSERT_EQ(got.boundary.defined(), expected.boundary.defined());
    if (got.boundary.defined()) {
      EXPECT_DOUBLE_EQ(got.boundary.square().sum().item<double>(), expected.boundary.square().sum().item<double>());
    }
  }
}

TEST_P(SteadyBuiltIn, SolutionsAndDecodesAreEqual) {
  for (const GridSize& grid : {GridSize{24}, GridSize{20, 28}}) {
    const auto text = by_text(GetParam(), grid), library = built_in(GetParam(), grid);
    const Tensor coefficients = library->sample_coefficients(3, 0, 3), u = library->solve(coefficients);
    EXPECT_LT(relative_error(text->solve(coefficients), u), 1e-9);
    const Tensor x = torch::cat({u + 0.1 * largest(u) * numbers(u.sizes().vec()), coefficients}, 1);
    EXPECT_LT(relative_error(text->decode(x).x, library->decode(x).x), 1e-9);
  }
}

INSTANTIATE_TEST_SUITE_P(All, SteadyBuiltIn, ::testing::Values(kDarcy, kPoisson, kHelmholtz),
                         [](const auto& test) { return test.param.name; });

TEST(TextBuiltIn, ParametersMeanTheSame) {
  const auto text = by_text(kHelmholtz, 24, {{"k", 3}, {"length_x", 1.5}}),
             library = built_in(kHelmholtz, 24, {{"k", 3}, {"length_x", 1.5}});
  const Tensor a = library->sample_coefficients(3, 0, 2);
  EXPECT_LT(relative_error(text->solve(a), library->solve(a)), 1e-9);
}

// --- in time ---

/// u = f + t g + t^2 h with f, g, h of any shape along x, and the PDE's coefficients: [B,2,H,W].
Tensor quadratic_in_time(const Pde& pde) {
  const int64_t h = pde.grid().height(), w = pde.grid().width();
  const Tensor t = torch::linspace(0, 1, w, torch::kFloat64).view({1, 1, 1, w});
  const auto shape = [&](double seed) { return numbers({3, 1, h, 1}, seed); };
  return torch::cat({shape(0) + t * shape(1) + t * t * shape(2), pde.sample_coefficients(3, 0, 3)}, 1);
}

class BuiltInTime : public ::testing::TestWithParam<Written> {};

TEST_P(BuiltInTime, ResidualsAreEqualToRoundOffWhereTimeDifferencesAreExact) {
  const GridSize grid = {24, 20};
  const auto text = by_text(GetParam(), grid), library = built_in(GetParam(), grid);
  const Tensor x = quadratic_in_time(*library);
  const auto expected = library->residual(x).fields[0], got = text->residual(x).fields[0];
  // The text scores t_1 .. t_19, the library t_1 .. t_18; t_1 is a step of implicit Euler in the text.
  const auto both = [&](const Tensor& rows) { return rows.narrow(3, 1, 17); };
  ASSERT_EQ(got.interior.size(3), 19);
  ASSERT_EQ(expected.interior.size(3), 18);
  EXPECT_LT(relative_error(both(got.interior), both(expected.interior)), 1e-12);
  EXPECT_LT(relative_error(both(got.reference), both(expected.reference)), 1e-12);
}

/// Waves along x and t.
Tensor wave(const Pde& pde) {
  const auto axes = pde.axes();
  const int64_t h = pde.grid().height(), w = pde.grid().width();
  const int64_t intervals = axes[0].kind == AxisKind::periodic ? h : h - 1;
  const Tensor x = torch::arange(h, torch::kFloat64).view({h, 1}) * (2 * M_PI / static_cast<double>(intervals));
  const Tensor t = torch::linspace(0, 3, w, torch::kFloat64);
  return (torch::sin(x - t) + 0.5 * torch::cos(x) * torch::exp(-t)).view({1, 1, h, w});
}

TEST_P(BuiltInTime, ResidualsOfSmoothFieldsDifferByTheOrderOfTheirTimeDifferences) {
  expect_order(2, [&](int64_t factor) {
    const GridSize grid = {24, 20 * factor + 1};
    const auto text = by_text(GetParam(), grid), library = built_in(GetParam(), grid);
    const Tensor x = torch::cat({wave(*text), library->sample_coefficients(3, 0, 1)}, 1);
    const Tensor difference = text->residual(x).fields[0].interior.narrow(3, 1, 20 * factor - 2) -
                              library->residual(x).fields[0].interior.narrow(3, 1, 20 * factor - 2);
    return testing::rms(difference);
  });
}

TEST_P(BuiltInTime, BoundaryErrorsAreEqual) {
  const GridSize grid = {24, 20};
  const auto text = by_text(GetParam(), grid), library = built_in(GetParam(), grid);
  const Tensor a = library->sample_coefficients(3, 0, 2), exact = torch::cat({library->solve(a), a}, 1);
  EXPECT_LT(largest(text->residual(exact).boundary), 1e-12);
  Tensor shifted = exact.clone();
  shifted.select(1, 0).select(2, 0) += 0.5;  // at t = 0
  EXPECT_NEAR(largest(text->residual(shifted).boundary), 0.5, 1e-12);
  EXPECT_NEAR(largest(library->residual(shifted).boundary), 0.5, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(All, BuiltInTime, ::testing::Values(kBurgers, kHeat, kStokes),
                         [](const auto& test) { return test.param.name; });

/// Distance of the two solutions at the last time for given coefficients, on factor times the intervals.
double solution_difference(const Written& written, int64_t factor,
                           const std::function<Tensor(const Pde&)>& coefficients,
                           const json& parameters = json::object()) {
  const bool nodes = &written == &kStokes;
  const GridSize grid = {24 * factor + nodes, 24 * factor + 1};
  const auto text = by_text(written, grid, parameters), library = built_in(written, grid, parameters);
  const Tensor a = coefficients(*library);
  return largest((text->solve(a) - library->solve(a)).select(3, -1));
}

TEST(TextBuiltIn, SolutionsInTimeConvergeToTheLibrarysWithOrderTwo) {
  const auto sampled = [](const Pde& pde) { return pde.sample_coefficients(3, 0, 1); };
  for (const auto* written : {&kHeat, &kStokes}) {
    SCOPED_TRACE(written->name);
    expect_order(2, [&](int64_t factor) { return solution_difference(*written, factor, sampled); });
  }
}

TEST(TextBuiltIn, BurgersSolutionsConvergeToTheLibrarysWithOrderTwo) {
  const auto wave_at_start = [](const Pde& pde) {
    const int64_t h = pde.grid().height(), w = pde.grid().width();
    const Tensor x = torch::arange(h, torch::kFloat64) * (2 * M_PI / static_cast<double>(h));
    return (0.5 * torch::sin(x) + 0.2 * torch::cos(2 * x)).view({1, 1, h, 1}).expand({1, 1, h, w}).contiguous();
  };
  expect_order(2, [&](int64_t factor) { return solution_difference(kBurgers, factor, wave_at_start, {{"nu", 0.03}}); });
}

}  // namespace
}  // namespace piddm
