// Newton's method: convergence, and what is said where there is none.

#include "piddm/pde/text/newton.h"

#include "tests/pde/text/exact.h"

namespace piddm {
namespace {

using testing::largest;
using testing::system_of;

/// -lap(u) = a exp(u): no solution where a is above 6.8.
const char* const kBratu = R"toml(
name = "bratu"
equation = "-lap(u) = a*exp(u)"
grid = { x = [0, 1, 16, "nodes"], y = [0, 1, 16, "nodes"] }
boundary = { x = "u = 0", y = "u = 0" }
coefficients = { a = "data: scalar" }
)toml";

/// (u1 - u0)/dt = u1^2 has no real solution where 4 dt u0 > 1.
const char* const kExplosion = R"toml(
name = "explosion"
equation = "dt(u) = u^2 + 0*lap(u)"
grid = { x = [0, 1, 16, "cells"], t = [0, 1.5, 16] }
boundary = { x = "dn(u) = 0" }
initial = "u = u0"
coefficients = { u0 = "data: scalar" }
)toml";

Tensor scalars(const std::vector<double>& values, std::array<int64_t, 2> points) {
  return torch::tensor(values, torch::kFloat64).view({-1, 1, 1, 1}).expand({-1, 1, points[0], points[1]}).contiguous();
}

TEST(TextNewton, ConvergesToTheLowerSolutionOfBratusProblem) {
  const auto system = system_of(kBratu, {17, 17});
  const TextSolver solver(system);
  SolveReport report;
  const Tensor a = scalars({1, 5, 6.5}, {17, 17}), u = solver.solve(a, {}, &report);
  EXPECT_LT(largest(system->row(u.select(2, 0), {}, a, 0)), 1e-9);
  EXPECT_LT(report.iterations, 16);
  // Bratu on the unit square with a = 1: max u = 0.07810 (lower branch).
  EXPECT_NEAR(u[0].max().item<double>(), 0.0781, 3e-4);
  EXPECT_LT(u[2].max().item<double>(), 1.5);
}

TEST(TextNewton, NamesSampleAndResidualOfASteadyProblemWithoutSolution) {
  const TextSolver solver(system_of(kBratu, {17, 17}));
  EXPECT_ERROR(solver.solve(scalars({1, 2, 9, 3}, {17, 17})), ExitCode::numerics,
               "[bratu] sample 2 has no solution that Newton's method finds: the residual stays at ");
}

TEST(TextNewton, NamesTheStepOfAProblemInTime) {
  const TextSolver solver(system_of(kExplosion, {16, 1}));
  EXPECT_NO_THROW(solver.solve(scalars({0.3, 0.5}, {16, 1})));
  EXPECT_ERROR(solver.solve(scalars({0.3, 0.5, 0.2, 0.1, 4}, {16, 1})), ExitCode::numerics,
               "[explosion] sample 4, step 1 has no solution that Newton's method finds: the residual stays at ");
  EXPECT_ERROR(solver.solve(scalars({0.3, 0.8}, {16, 1})), ExitCode::numerics, "[explosion] sample 1, step 11 has");
}

TEST(TextNewton, SaysThatWallsDoNotFixTheSolution) {
  const auto system = system_of(R"toml(
name = "loose"
equation = "-lap(u) = a"
grid = { x = [0, 1, 16, "cells"], y = [0, 1, 16, "cells"] }
boundary = { x = "dn(u) = 0", y = "dn(u) = 0" }
coefficients = { a = "data: scalar" }
)toml",
                                {16, 16});
  EXPECT_ERROR(TextSolver(system).solve(scalars({1}, {16, 16})), ExitCode::numerics,
               "its linear system is singular: walls and equation do not fix the solution");
}

TEST(TextNewton, RefusesAnEquationThatIsNotFiniteAtItsStart) {
  const auto system = system_of(R"toml(
name = "pole"
equation = "-lap(u) = 1/(u - a)"
grid = { x = [0, 1, 16, "cells"], y = [0, 1, 16, "cells"] }
boundary = { x = "u = 0", y = "u = 0" }
coefficients = { a = "data: scalar" }
)toml",
                                {16, 16});
  EXPECT_ERROR(TextSolver(system).solve(scalars({-5, 0}, {16, 16})), ExitCode::numerics,
               "[pole] sample 1: the equation is not finite at its start");
}

TEST(TextNewton, LinearProblemsTakeOneStepAndOneMoreForRounding) {
  const auto system = system_of(R"toml(
name = "heat"
equation = "dt(u) = lap(u)"
grid = { x = [0, 1, 16, "cells"], t = [0, 0.1, 16] }
boundary = { x = "u = 0" }
initial = "u = sin(a*x)"
coefficients = { a = "data: scalar" }
)toml",
                                {16, 1});
  SolveReport report;
  TextSolver(system).solve(scalars({1, 3}, {16, 1}), {}, &report);
  EXPECT_LE(report.iterations, 3);
  EXPECT_LT(report.relative_residual, 1e-10);
}

TEST(TextNewton, StepsAreHalvedWhereTheyOvershoot) {
  const auto system = system_of(R"toml(
name = "stiff"
equation = "-0.01*lap(u) + tanh(20*(u - a)) = 0"
grid = { x = [0, 1, 16, "cells"], y = [0, 1, 16, "cells"] }
boundary = { x = "u = 0", y = "u = 0" }
coefficients = { a = "data: scalar" }
)toml",
                                {16, 16});
  const Tensor a = scalars({2, -3}, {16, 16});
  const Tensor u = TextSolver(system).solve(a);
  EXPECT_LT(largest(system->row(u.select(2, 0), {}, a, 0)), 1e-9);
  EXPECT_NEAR(u[1].min().item<double>(), -3, 0.02);
}

}  // namespace
}  // namespace piddm
