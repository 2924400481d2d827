// Orders of accuracy that the program finds out itself.

#include "piddm/pde/text/manufactured.h"

#include "tests/pde/text/texts.h"

namespace piddm {
namespace {

using testing::pde_text;

const std::map<std::string, Interval> kRanges = {
    {"u", {-1, 2}}, {"v", {0.5, 1.5}}, {"a", {1, 3}}, {"k", {0.5, 1}}, {"u0", {-1, 1}}};

void expect_second_order(const std::string& toml) {
  const auto convergence = measure_convergence(pde_text(toml), kRanges);
  ASSERT_EQ(convergence.errors.size(), 4);
  for (size_t f = 0; f < convergence.errors[0].size(); ++f) {
    EXPECT_NEAR(convergence.order(f), 2, 0.25) << toml << convergence.finest(f);
    EXPECT_LT(convergence.finest(f), 5e-3);
  }
}

constexpr const char* kPoisson = R"toml(
name = "poisson"
equation = "-div((1 + a*u^2)*grad(u)) + dx(u) = a"
grid = { x = [0, 1.5, 16, "nodes"], y = [0, 1, 16, "cells"] }
boundary = { x_low = "dn(u) + 2*u = 1", x_high = "u = 0", y_low = "u = 1", y_high = "dn(u) + k*u = 0" }
coefficients = { a = "field: gauss(alpha=2, tau=3) -> exp(g)", k = "uniform(0.5, 1)" }
)toml";

TEST(Manufactured, ItsFunctionsSolveTheForcedProblem) {
  const auto text = pde_text(kPoisson);
  const auto problem = manufactured_problem(text, kRanges);
  const TextGrid grid(problem.text, {9, 8});
  const auto left_over = [&](ExpressionPtr e) {
    for (const auto& [name, exact] : problem.exact) e = with_field(e, name, exact);
    return TextEvaluation(grid, {}, {}, torch::kFloat64)(without_known_derivatives(e)).value;
  };
  EXPECT_LT(testing::largest(left_over(problem.text.equations[0].residual())), 1e-12);
  EXPECT_GT(testing::largest(left_over(text.equations[0].residual())), 1) << "no forcing was needed";
}

TEST(Manufactured, WallsOfEveryKindAreOfSecondOrder) { expect_second_order(kPoisson); }

TEST(Manufactured, TwoFieldsInTimeAreOfSecondOrder) {
  expect_second_order(R"toml(
name = "two"
grid = { x = [0, 1, 16, "nodes"], t = [0, 1, 16] }
boundary = { x_low = ["u = 0", "dn(v) = 0"], x_high = ["dn(u) + u = 1", "v = 1"] }
initial = ["u = u0", "v = 1"]
coefficients = { u0 = "field: gauss(alpha=2, tau=3)", k = "uniform(0.5, 1)" }
equations = { u = "dt(u) = div(k*v*grad(u)) - u*v", v = "dt(v) = lap(v) + dx(u*v)" }
)toml");
}

TEST(Manufactured, WavesInThePlaneAreOfSecondOrder) {
  expect_second_order(R"toml(
name = "drum"
equation = "dtt(u) + 0.1*dt(u) = div(a*grad(u)) + 0.1*dxy(u)"
grid = { x = [0, 1, 16, "cells"], y = [0, 2, 16, "periodic"], t = [0, 1, 5] }
boundary = { x_low = "dn(u) = 0", x_high = "u = sin(t)" }
initial = ["u = u0", "dt(u) = 0"]
coefficients = { a = "field: gauss(alpha=2, tau=3) -> exp(g)", u0 = "field: gauss(alpha=2, tau=3)" }
)toml");
}

TEST(Manufactured, SpectralDerivativesEndAtRoundOff) {
  const auto convergence = measure_convergence(pde_text(R"toml(
name = "ring"
equation = "u - lap(u) + dx(a*u) = 1"
grid = { x = [0, 2, 16, "periodic"], y = [0, 1, 16, "periodic"] }
coefficients = { a = "field: periodic(alpha=2, tau=3) -> exp(g)" }
derivatives = "spectral"
)toml"),
                                               kRanges);
  EXPECT_LT(convergence.finest(0), 1e-9);
}

TEST(Manufactured, AWrongTermIsSeen) {
  auto problem = manufactured_problem(pde_text(kPoisson), kRanges);
  auto& right = problem.text.equations[0].right;
  right = operation("+", {right, operation("*", {number(0.1), coordinate_along(Coordinate::x)})});
  Convergence convergence;
  for (const int64_t n : {16, 32, 64, 128}) {
    convergence.intervals.push_back(n);
    convergence.errors.push_back(manufactured_errors(problem, n));
  }
  EXPECT_LT(convergence.order(0), 0.5);
}

TEST(Manufactured, UnstableProblemsAreSolvedForAShorterTime) {
  const std::string text = R"toml(
name = "growth"
equation = "dt(u) = lap(u) + 40*u"
grid = { x = [0, 1, 16, "periodic"], t = [0, 4, 32] }
initial = "u = u0"
coefficients = { u0 = "field: periodic(alpha=2, tau=3)" }
)toml";
  expect_second_order(text);
  const double duration = measure_convergence(pde_text(text), kRanges).duration;
  EXPECT_LT(duration, std::log(10) / 40 * 1.1);
  EXPECT_GT(duration, std::log(10) / 40 * 0.2);
}

TEST(Manufactured, SaysWhatIsNotSmooth) {
  const auto text = [](const std::string& equation, const std::string& wall) {
    return pde_text("name = \"p\"\nequation = \"" + equation + "\"\nboundary = { x = \"" + wall +
                    "\", y = \"u = 0\" }\ngrid = { x = [0, 1, 16, \"cells\"], y = [0, 1, 16, \"cells\"] }\n"
                    "coefficients = { a = \"field: gauss(alpha=2, tau=3)\" }");
  };
  EXPECT_EQ(not_smooth(text("lap(u) = max(a, 0)", "u = 0")), "max");
  EXPECT_EQ(not_smooth(text("lap(u) + where(u > 1, u, 0) = a", "u = 0")), "where");
  EXPECT_EQ(not_smooth(text("lap(u) = a", "dn(u) + abs(a)*u = 0")), "abs");
  EXPECT_EQ(not_smooth(text("lap(u) = a*exp(x)", "u = abs(y)")), "");
}

}  // namespace
}  // namespace piddm
