// Orders of accuracy against exact solutions; the linear solvers against each other; bits.

#include "piddm/pde/text/solver.h"

#include <ATen/Parallel.h>

#include "piddm/pde/text/linear_solves.h"
#include "tests/pde/text/exact.h"

namespace piddm {
namespace {

using testing::coefficients_like;
using testing::ExactProblem;
using testing::expect_order;
using testing::largest;
using testing::no_coefficients;
using testing::relative_error;
using testing::system_of;

/// One field in x and y.
std::string plane(const std::string& equation, const std::string& x, const std::string& y,
                  const std::string& boundary) {
  return "name = 'plane'\nequation = '" + equation + "'\ngrid = { x = [0, 1.5, " + x + "], y = [0, 1, " + y +
         "] }\nboundary = { " + boundary + " }\n";
}

const std::string kWave = "sin(2*x + 0.3)*exp(0.7*y) + x*y^2";

struct Order {
  const char* name;
  ExactProblem problem;
};

std::string wall_pair(const std::string& x, const std::string& y) { return "x = '" + x + "', y = '" + y + "'"; }

const std::vector<Order>& steady_problems() {
  const std::string value = "u = 0", slope = "dn(u) = 0", robin = "dn(u) + 2*u = 0", cells = "16, 'cells'",
                    nodes = "17, 'nodes'", ring = "16, 'periodic'";
  const std::string ring_wave = "sin(2*pi*x/1.5 + 0.4)*exp(0.7*y)", torus = "exp(0.5*sin(2*pi*x/1.5))*cos(2*pi*y)";
  const std::string flux = "-div((1 + x^2 + y)*grad(u)) + u = 0";
  static const std::vector<Order> list = {
      {"ValuesOnCells", {plane("-lap(u) = 0", cells, cells, wall_pair(value, value)), {{"u", kWave}}}},
      {"ValuesOnNodes", {plane("-lap(u) = 0", nodes, nodes, wall_pair(value, value)), {{"u", kWave}}}},
      {"SlopesOnCells", {plane("-lap(u) + u = 0", cells, cells, wall_pair(slope, slope)), {{"u", kWave}}}},
      {"SlopesOnNodes", {plane("-lap(u) + u = 0", nodes, nodes, wall_pair(slope, slope)), {{"u", kWave}}}},
      {"RobinOnCells", {plane("-lap(u) = 0", cells, cells, wall_pair(robin, robin)), {{"u", kWave}}}},
      {"RobinOnNodes", {plane("-lap(u) = 0", nodes, nodes, wall_pair(robin, robin)), {{"u", kWave}}}},
      {"CellsBesideNodes", {plane("-lap(u) = 0", cells, nodes, wall_pair(robin, value)), {{"u", kWave}}}},
      {"RobinWithAFactor",
       {plane("-lap(u) = 0", cells, nodes, wall_pair("(1 + y)*dn(u) + (2 + y^2)*u = 0", slope)), {{"u", kWave}}}},
      {"PeriodicAlongX", {plane("-lap(u) = 0", ring, cells, "y = 'u = 0'"), {{"u", ring_wave}}}},
      {"PeriodicBoth", {plane("-lap(u) + u = 0", ring, ring, ""), {{"u", torus}}}},
      {"FluxOnCells", {plane(flux, cells, cells, wall_pair(value, robin)), {{"u", kWave}}}},
      {"FluxOnNodes", {plane(flux, nodes, nodes, wall_pair(robin, slope)), {{"u", kWave}}}},
      {"HarmonicFlux",
       {plane("-div(harmonic(1 + x + y^2)*grad(u)) = 0", cells, cells, wall_pair(value, robin)), {{"u", kWave}}}},
      {"FirstDerivativesOnCells",
       {plane("dot([1 + y, -x], grad(u)) - lap(u) = 0", cells, cells, wall_pair(value, robin)), {{"u", kWave}}}},
      {"FirstDerivativesOnNodes",
       {plane("dot([1 + y, -x], grad(u)) - lap(u) = 0", nodes, nodes, wall_pair(robin, value)), {{"u", kWave}}}},
      {"MixedDerivativeOnCells",
       {plane("-lap(u) + 0.5*dxy(u) = 0", cells, cells, wall_pair(value, value)), {{"u", kWave}}}},
      {"MixedDerivativeOnNodes",
       {plane("-lap(u) + 0.5*dxy(u) = 0", nodes, nodes, wall_pair(value, value)), {{"u", kWave}}}},
      {"MixedDerivativePeriodic", {plane("-lap(u) - 0.5*dxy(u) + u = 0", ring, ring, ""), {{"u", torus}}}},
      {"NonlinearFluxOnCells",
       {plane("-div((1 + u^2)*grad(u)) + u^3 = 0", cells, cells, wall_pair(value, robin)), {{"u", kWave}}}},
      {"NonlinearFluxOnNodes",
       {plane("-div((1 + u^2)*grad(u)) + u^3 = 0", nodes, nodes, wall_pair(value, robin)), {{"u", kWave}}}},
      {"LaplacianOfAFunction",
       {plane("-lap(u + 0.2*u^3) = 0", cells, nodes, wall_pair(value, robin)),
        {{"u",
          "1 + 0.3*"
          "sin(2*x + y)"}}}},
      {"BurgersTerm", {plane("dx(0.5*u^2) - lap(u) = 0", cells, cells, wall_pair(value, slope)), {{"u", kWave}}}},
  };
  return list;
}

class SteadyOrder : public ::testing::TestWithParam<Order> {};

TEST_P(SteadyOrder, IsTwo) {
  expect_order(2, [&](int64_t factor) { return testing::solution_error(GetParam().problem, factor, 1); });
}

INSTANTIATE_TEST_SUITE_P(All, SteadyOrder, ::testing::ValuesIn(steady_problems()),
                         [](const auto& test) { return test.param.name; });

/// In x and t.
std::string line(const std::string& equation, const std::string& x, const std::string& boundary,
                 const std::string& initial) {
  return "name = 'line'\nequation = '" + equation + "'\ngrid = { x = [0, 1.5, " + x +
         "], t = [0, 1, 17] }\nboundary = { " + boundary + " }\ninitial = [" + initial + "]\n";
}

const std::string kOneState = "'u = 0'", kTwoStates = "'u = 0', 'dt(u) = 0'";

/// Linear along x: all error is one of time.
const std::vector<Order>& problems_in_time() {
  const std::string in_time = "cos(3*t)*(1 + x)";
  static const std::vector<Order> list = {
      {"Bdf2", {line("dt(u) = lap(u) - u", "16, 'cells'", "x = 'dn(u) = 0'", kOneState), {{"u", in_time}}}},
      {"Bdf2Nonlinear", {line("dt(u) = lap(u) - u^3", "17, 'nodes'", "x = 'u = 0'", kOneState), {{"u", in_time}}}},
      {"Bdf2OfAFunction",
       {line("dt(u + u^3) = lap(u)", "16, 'cells'", "x = 'dn(u) + u = 0'", kOneState), {{"u", in_time}}}},
      {"Newmark",
       {line("dtt(u) = lap(u) - 4*u", "17, 'nodes'", "x_low = 'u = 0', x_high = 'dn(u) = 0'", kTwoStates),
        {{"u", in_time}}}},
      {"NewmarkDamped",
       {line("dtt(u) + 0.5*dt(u) = lap(u)", "16, 'cells'", "x = 'dn(u) + u = 0'", kTwoStates), {{"u", in_time}}}},
      {"NewmarkNonlinear",
       {line("dtt(u) = lap(u) - sin(u)", "16, 'cells'", "x = 'u = 0'", kTwoStates), {{"u", in_time}}}},
  };
  return list;
}

class TimeOrder : public ::testing::TestWithParam<Order> {};

TEST_P(TimeOrder, IsTwo) {
  expect_order(2, [&](int64_t factor) { return testing::solution_error(GetParam().problem, 1, factor); });
}

INSTANTIATE_TEST_SUITE_P(All, TimeOrder, ::testing::ValuesIn(problems_in_time()),
                         [](const auto& test) { return test.param.name; });

TEST(TextSolverOrder, SpaceAndTimeTogetherAreOfOrderTwo) {
  const ExactProblem problem = {
      line("dt(u) = 0.5*lap(u) + u*dx(u)", "16, 'cells'", "x_low = 'u = 0', x_high = 'dn(u) + u = 0'", kOneState),
      {{"u", "1 + 0.5*sin(2*x - t)"}}};
  expect_order(2, [&](int64_t factor) { return testing::solution_error(problem, factor, factor); });
}

TEST(TextSolverOrder, FourthDerivativesOnARingAreOfOrderTwo) {
  const ExactProblem problem = {line("dt(u) + 0.01*dxx(dxx(u)) = lap(u)", "16, 'periodic'", "", kOneState),
                                {{"u", "exp(0.5*sin(2*pi*x/1.5 - t))"}}};
  expect_order(2, [&](int64_t factor) { return testing::solution_error(problem, factor, factor); });
}

TEST(TextSolverOrder, TwoFieldsInThePlaneAndTimeAreOfOrderTwo) {
  const ExactProblem problem = {
      R"toml(
name = "two"
equations = { u = "dt(u) = lap(u) - u*v", v = "dt(v) = 0.3*lap(v) + dx(u*v)" }
grid = { x = [0, 1.5, 16, "periodic"], y = [0, 1, 17, "nodes"], t = [0, 0.5, 3] }
boundary = { y_low = ["u = 0", "dn(v) = 0"], y_high = ["dn(u) + u = 0", "v = 0"] }
initial = ["u = 0", "v = 0"]
)toml",
      {{"u", "1 + 0.5*sin(2*pi*x/1.5 - t)*cos(y)"}, {"v", "1 + 0.3*cos(2*pi*x/1.5)*exp(y - t)"}}};
  expect_order(2, [&](int64_t factor) { return testing::solution_error(problem, factor, factor); });
}

TEST(TextSolverOrder, SpectralDerivativesEndAtRoundOff) {
  const std::string line_text =
      line("dt(u) = 0.1*lap(u) - u*dx(u)", "48, 'periodic'", "", kOneState) + "derivatives = 'spectral'\n";
  EXPECT_LT(testing::solution_error({line_text, {{"u", "t*exp(sin(2*pi*x/1.5))"}}}, 1, 1), 1e-10);
  const std::string plane_text =
      plane("-lap(u) + u + dxy(u) = 0", "32, 'periodic'", "32, 'periodic'", "") + "derivatives = 'spectral'\n";
  EXPECT_LT(testing::solution_error({plane_text, {{"u", "exp(sin(2*pi*x/1.5))*cos(2*pi*y)"}}}, 1, 1), 1e-10);
  const std::string mixed =
      plane("-div((2 + sin(2*pi*x/1.5))*grad(u)) + u = 0", "32, 'periodic'", "17, 'nodes'", "y = 'u = 0'") +
      "derivatives = 'spectral'\n";
  EXPECT_LT(testing::solution_error({mixed, {{"u", "exp(sin(2*pi*x/1.5))*(1 + y)"}}}, 1, 1), 1e-10);
}

// --- linear solvers ---

/// The solution of a linear steady problem by one sparse factorisation.
Tensor by_sparse_lu(const TextSolver& solver, const Tensor& coefficients) {
  const auto& system = solver.system();
  const auto [x, y] = system.points();
  std::vector<Tensor> all;
  for (int64_t i = 0; i < coefficients.size(0); ++i) {
    const Tensor a = coefficients.narrow(0, i, 1);
    Tensor u = torch::zeros({1, system.fields(), x, y}, torch::kFloat64);
    u = torch::where(system.ring(), system.ring_values(a, 0), u);
    auto factors = solver.sparse_factors();
    factors->factorise(solver.sparse_values(system.jacobian(u, {}, a, 0)[0]));
    all.push_back(u - factors->solve(system.row(u, {}, a, 0).flatten()).view_as(u));
  }
  return torch::cat(all).unsqueeze(2);
}

TEST(TextSolverLinear, ConjugateGradientsGmresAndSparseLuAgree) {
  for (const char* const rest : {"= 1", "+ 3*dx(u) = 1", "+ 0.5*dxy(u) + u = x"})
    for (const char* const kind : {"cells", "nodes"}) {
      const auto system =
          system_of(std::string("name = 'l'\nequation = '-div(a*grad(u)) ") + rest + "'\ngrid = { x = [0, 1, 24, '" +
                        kind + "'], y = [0, 1, 20, '" + kind +
                        "'] }\nboundary = { x = 'u = y', y_low = 'dn(u) + u = 0', y_high = 'dn(u) = 0' }\n"
                        "coefficients = { a = 'data: field' }\n",
                    {24, 20});
      const TextSolver solver(system);
      ASSERT_FALSE(solver.direct());
      const Tensor a = coefficients_like(*system, 2);
      EXPECT_LT(relative_error(solver.solve(a), by_sparse_lu(solver, a)), 1e-10) << rest << " " << kind;
    }
}

TEST(TextSolverLinear, LinesAreSolvedDirectly) {
  const auto system = system_of(line("dt(u) = lap(u)", "16, 'cells'", "x = 'u = 1'", kOneState), {16, 1});
  EXPECT_TRUE(TextSolver(system).direct());
}

// --- what a result depends on ---

struct Case {
  const char* name;
  const char* toml;
  std::array<int64_t, 2> points;
};

const std::vector<Case> kCases = {
    {"Conjugate",
     R"toml(
name = "c"
equation = "-div(harmonic(a)*grad(u)) = 1"
grid = { x = [0, 1, 16, "cells"], y = [0, 1, 16, "cells"] }
boundary = { x = "a*dn(u) + 20*u = 0", y = "u = 0" }
coefficients = { a = "data: field" }
)toml",
     {16, 16}},
    {"Nonlinear",
     R"toml(
name = "n"
equation = "-div((1 + u^2)*grad(u)) + tanh(u) = 10*a"
grid = { x = [0, 1, 17, "nodes"], y = [0, 1, 16, "cells"] }
boundary = { x = "u = 0", y = "dn(u) = 0" }
coefficients = { a = "data: field" }
)toml",
     {17, 16}},
    {"Line",
     R"toml(
name = "t"
equation = "dt(u) = D*lap(u) + r*u*(1 - u)"
grid = { x = [0, 2, 24, "cells"], t = [0, 1, 17] }
boundary = { x = "dn(u) = 0" }
initial = "u = u0"
coefficients = { u0 = "data: field", D = "data: scalar", r = "data: scalar" }
)toml",
     {24, 1}},
    {"PlaneInTime",
     R"toml(
name = "p"
equations = { u = "dt(u) = 0.1*lap(u) - u*v", v = "dt(v) = 0.1*lap(v) + u*v - v" }
grid = { x = [0, 1, 16, "periodic"], y = [0, 1, 16, "periodic"], t = [0, 1, 4] }
initial = ["u = a", "v = 1/a"]
coefficients = { a = "data: field" }
)toml",
     {16, 16}},
    {"Spectral",
     R"toml(
name = "s"
equation = "dt(u) = 0.02*lap(u) - u*dx(u) + dy(u)"
derivatives = "spectral"
grid = { x = [0, 1, 16, "periodic"], y = [0, 1, 16, "periodic"], t = [0, 0.2, 4] }
initial = "u = sin(a)"
coefficients = { a = "data: field" }
)toml",
     {16, 16}},
};

class Bits : public ::testing::TestWithParam<Case> {};

TEST_P(Bits, DoNotDependOnBatchesAndThreads) {
  const auto system = system_of(GetParam().toml, GetParam().points);
  const TextSolver solver(system);
  constexpr int64_t kBatch = 19;  // more than one block
  const int64_t batch = solver.direct() ? kBatch : 3;
  const Tensor a = coefficients_like(*system, batch);
  const int threads = at::get_num_threads();
  at::set_num_threads(2);
  const Tensor together = solver.solve(a);
  at::set_num_threads(1);
  EXPECT_TRUE(torch::equal(solver.solve(a), together)) << "one thread";
  for (const int64_t i : {int64_t{0}, batch - 1})
    EXPECT_TRUE(torch::equal(solver.solve(a.narrow(0, i, 1)), together.narrow(0, i, 1))) << "sample " << i;
  EXPECT_TRUE(torch::equal(solver.solve(a.narrow(0, 1, batch - 1)), together.narrow(0, 1, batch - 1)));
  at::set_num_threads(threads);
}

TEST_P(Bits, ResidualsOfSolutionsAreRoundOff) {
  const auto system = system_of(GetParam().toml, GetParam().points);
  const Tensor a = coefficients_like(*system, 2);
  SolveReport report;
  const Tensor u = TextSolver(system).solve(a, {}, &report);
  const auto [residuals, references] = system->rows(u, a);
  for (size_t e = 0; e < residuals.size(); ++e) {
    Tensor r = residuals[e];
    for (size_t axis = 0; axis < 2; ++axis) {
      const auto [first, count] = system->scored(static_cast<int64_t>(e), axis);
      r = r.narrow(static_cast<int64_t>(axis) + 2, first, count);
    }
    EXPECT_LT(testing::rms(r), 1e-9 * testing::rms(references[e]));
  }
  EXPECT_GT(report.iterations, 0);
  EXPECT_LT(report.relative_residual, 1e-8);
}

INSTANTIATE_TEST_SUITE_P(All, Bits, ::testing::ValuesIn(kCases), [](const auto& test) { return test.param.name; });

TEST(TextSolverStart, AGuessChangesNothingButTheEffort) {
  const auto system = system_of(kCases[1].toml, kCases[1].points);
  const TextSolver solver(system);
  const Tensor a = coefficients_like(*system, 1);
  SolveReport cold, warm;
  const Tensor u = solver.solve(a, {}, &cold);
  const Tensor again = solver.solve(a, u, &warm);
  EXPECT_LT(relative_error(again, u), 1e-10);
  EXPECT_LT(warm.iterations, cold.iterations);
}

}  // namespace
}  // namespace piddm
