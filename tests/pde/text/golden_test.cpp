// Solutions of PDEs by text against programs in numpy and scipy that write their schemes out by hand
// (tests/golden/make_pde_text.py).

#include "piddm/files/npy.h"
#include "tests/pde/text/texts.h"

namespace piddm {
namespace {

using testing::golden;
using testing::largest;
using testing::relative_error;

Tensor stored(const std::string& problem, const std::string& name) {
  static const Npz file = read_npz(golden("pde_text.npz"));
  return file.arrays.at(problem + "." + name);
}

/// A problem with the stored coefficients, on their grid.
struct Stored {
  std::string name;
  std::shared_ptr<const TextSystem> system;
  Tensor coefficients;

  Stored(std::string problem, const std::string& toml, std::array<int64_t, 2> points, int64_t refinement = 1)
      : name(std::move(problem)) {
    auto text = testing::pde_text(toml);
    for (auto& axis : text.axes)
      if (axis.axis == Coordinate::t) axis.points = (axis.points - 1) * refinement + 1;
    system = std::make_shared<TextSystem>(text, points);
    std::vector<Tensor> fields;
    for (const auto& coefficient : text.coefficients) {
      const Tensor values = stored(name, coefficient.field.name);
      const auto shape = values.dim() == 1 ? std::vector<int64_t>{-1, 1} : values.sizes().vec();
      fields.push_back(values.view(shape).expand({points[0], points[1]}));
    }
    coefficients = torch::stack(fields).unsqueeze(0).contiguous();
  }

  /// [L,X,Y] of a field.
  Tensor solution(int64_t field = 0) const { return TextSolver(system).solve(coefficients)[0][field]; }

  Tensor expected(const std::string& field = "u") const {
    const Tensor u = stored(name, field);
    return u.view({-1, system->points()[0], system->points()[1]});
  }
};

constexpr double kSame = 1e-10;

std::string fisher(int64_t points = 25) {
  return "name = 'fisher'\nequation = 'dt(u) = D*lap(u) + r*u*(1 - u)'\ngrid = { x = [0, 2, 24, 'cells'], t = [0, 1, " +
         std::to_string(points) +
         "] }\nboundary = { x = 'dn(u) = 0' }\ninitial = 'u = u0'\n"
         "coefficients = { u0 = 'data: field', D = 'data: scalar', r = 'data: scalar' }\n";
}

TEST(GoldenText, FisherIsTheSameSchemeInNumpy) {
  const Stored problem("fisher", fisher(), {24, 1});
  EXPECT_LT(relative_error(problem.solution(), problem.expected()), kSame);
}

TEST(GoldenText, FisherConvergesToContinuousTimeWithOrderTwo) {
  testing::expect_order(2, [](int64_t factor) {
    const Stored problem("fisher", fisher(), {24, 1}, factor);
    return largest(problem.solution().select(0, -1) - problem.expected("in_time")[0]);
  });
}

TEST(GoldenText, NonlinearPoissonOnNodes) {
  const Stored problem("nonlinear_poisson", R"toml(
name = "nonlinear-poisson"
equation = "-div((1 + u^2)*grad(u)) = a"
grid = { x = [0, 1, 17, "nodes"], y = [0, 1, 17, "nodes"] }
boundary = { x = "u = 0", y = "u = 0" }
coefficients = { a = "data: field" }
)toml",
                       {17, 17});
  EXPECT_LT(relative_error(problem.solution(), problem.expected()), kSame);
}

TEST(GoldenText, WavesOfVariableSpeed) {
  const Stored problem("wave", R"toml(
name = "wave"
equation = "dtt(u) = div(c^2*grad(u))"
grid = { x = [0, 1, 25, "nodes"], t = [0, 1, 21] }
boundary = { x_low = "u = 0", x_high = "dn(u) = 0" }
initial = ["u = u0", "dt(u) = 0"]
coefficients = { c = "data: field", u0 = "data: field" }
)toml",
                       {25, 1});
  EXPECT_LT(relative_error(problem.solution(), problem.expected()), kSame);
}

TEST(GoldenText, DarcyFlowThroughLeakingWalls) {
  const Stored problem("darcy_robin", R"toml(
name = "darcy-robin"
equation = "-div(harmonic(a)*grad(u)) = 1"
grid = { x = [0, 1, 16, "cells"], y = [0, 1, 16, "cells"] }
boundary = { x = "a*dn(u) + 20*u = 0", y = "a*dn(u) + 20*u = 0" }
coefficients = { a = "data: field" }
)toml",
                       {12, 12});
  EXPECT_LT(relative_error(problem.solution(), problem.expected()), kSame);
}

TEST(GoldenText, GrayScott) {
  const Stored problem("gray_scott", R"toml(
name = "gray-scott"
grid = { x = [0, 1, 32, "periodic"], t = [0, 40, 17] }
initial = ["u = 1 - 2*v0", "v = v0"]
parameters = { Du = 1.6e-4, Dv = 8e-5, k = 0.06 }
coefficients = { v0 = "data: field", F = "data: scalar" }
[equations]
u = "dt(u) = Du*lap(u) - u*v^2 + F*(1 - u)"
v = "dt(v) = Dv*lap(v) + u*v^2 - (F + k)*v"
)toml",
                       {32, 1});
  EXPECT_LT(relative_error(problem.solution(0), problem.expected("u")), kSame);
  EXPECT_LT(relative_error(problem.solution(1), problem.expected("v")), kSame);
}

TEST(GoldenText, AllenCahnInThePlane) {
  const Stored problem("allen_cahn", R"toml(
name = "allen-cahn"
equation = "dt(u) = eps^2*lap(u) + u - u^3"
grid = { x = [0, 1, 16, "periodic"], y = [0, 1, 16, "periodic"], t = [0, 2, 5] }
initial = "u = u0"
parameters = { eps = 0.05 }
coefficients = { u0 = "data: field" }
)toml",
                       {16, 16});
  EXPECT_LT(relative_error(problem.solution(), problem.expected()), kSame);
}

TEST(GoldenText, AdvectionAndDiffusionInACavity) {
  const Stored problem("advection_diffusion", R"toml(
name = "advection-diffusion"
equation = "dot([dy(psi), -dx(psi)], grad(u)) = D*lap(u)"
grid = { x = [0, 1, 16, "cells"], y = [0, 1, 16, "cells"] }
boundary = { x_low = "u = 1", x_high = "dn(u) + 2*u = 0", y = "dn(u) = 0" }
coefficients = { psi = "data: field", D = "data: scalar" }
)toml",
                       {16, 16});
  EXPECT_LT(relative_error(problem.solution(), problem.expected()), kSame);
}

}  // namespace
}  // namespace piddm
