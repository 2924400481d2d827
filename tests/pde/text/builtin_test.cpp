// Six of the library's PDEs written as text: the same residuals and solutions. Darcy, Poisson and Helmholtz have the
// same stencil. Burgers, Heat and Stokes have the same one in space; their built-in residual takes central differences
// in time, which are BDF2's on what is quadratic in t. benchmarks/builtin_texts.h has the texts.

#include "benchmarks/builtin_texts.h"
#include "piddm/pde/text/text_pde.h"
#include "tests/pde/text/texts.h"

namespace piddm {
namespace {

using testing::expect_order;
using testing::largest;
using testing::numbers;
using testing::relative_error;

using Written = bench::BuiltInText;

const Written& written(const std::string& name) {
  for (const auto& text : bench::builtin_texts())
    if (text.name == name) return text;
  throw std::logic_error("no text of " + name);
}

PdePtr by_text(const Written& which, const GridSize& grid, const json& parameters = json::object()) {
  auto options = options_of_text(parse_toml(which.toml, "test.toml"), "test.toml");
  options.grid = grid, options.parameters = parameters;
  return make_pde(options);
}

PdePtr built_in(const Written& which, const GridSize& grid, const json& parameters = json::object()) {
  return make_pde({.name = which.name, .grid = grid, .parameters = parameters});
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

INSTANTIATE_TEST_SUITE_P(All, SteadyBuiltIn,
                         ::testing::Values(written("darcy"), written("poisson"), written("helmholtz")),
                         [](const auto& test) { return test.param.name; });

TEST(TextBuiltIn, ParametersMeanTheSame) {
  const auto text = by_text(written("helmholtz"), 24, {{"k", 3}, {"length_x", 1.5}}),
             library = built_in(written("helmholtz"), 24, {{"k", 3}, {"length_x", 1.5}});
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

INSTANTIATE_TEST_SUITE_P(All, BuiltInTime, ::testing::Values(written("burgers"), written("heat"), written("stokes")),
                         [](const auto& test) { return test.param.name; });

/// Distance of the two solutions at the last time for given coefficients, on factor times the intervals.
double solution_difference(const Written& which, int64_t factor, const std::function<Tensor(const Pde&)>& coefficients,
                           const json& parameters = json::object()) {
  const bool nodes = std::string(which.name) == "stokes";
  const GridSize grid = {24 * factor + nodes, 24 * factor + 1};
  const auto text = by_text(which, grid, parameters), library = built_in(which, grid, parameters);
  const Tensor a = coefficients(*library);
  return largest((text->solve(a) - library->solve(a)).select(3, -1));
}

TEST(TextBuiltIn, SolutionsInTimeConvergeToTheLibrarysWithOrderTwo) {
  const auto sampled = [](const Pde& pde) { return pde.sample_coefficients(3, 0, 1); };
  for (const char* const name : {"heat", "stokes"}) {
    SCOPED_TRACE(name);
    expect_order(2, [&](int64_t factor) { return solution_difference(written(name), factor, sampled); });
  }
}

TEST(TextBuiltIn, BurgersSolutionsConvergeToTheLibrarysWithOrderTwo) {
  const auto wave_at_start = [](const Pde& pde) {
    const int64_t h = pde.grid().height(), w = pde.grid().width();
    const Tensor x = torch::arange(h, torch::kFloat64) * (2 * M_PI / static_cast<double>(h));
    return (0.5 * torch::sin(x) + 0.2 * torch::cos(2 * x)).view({1, 1, h, 1}).expand({1, 1, h, w}).contiguous();
  };
  expect_order(2, [&](int64_t factor) {
    return solution_difference(written("burgers"), factor, wave_at_start, {{"nu", 0.03}});
  });
}

}  // namespace
}  // namespace piddm
