// Systems: exact Jacobians, tables of entries, rings, references, what is refused.

#include "piddm/pde/text/system.h"

#include "tests/pde/text/exact.h"

namespace piddm {
namespace {

using testing::coefficients_like;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::largest;
using testing::numbers;
using testing::pde_text;
using testing::state_like;
using testing::system_of;

struct Case {
  const char* name;
  const char* toml;
  std::array<int64_t, 2> points;
};

const std::vector<Case> kCases = {
    {"FluxOnCells",
     R"toml(
name = "a"
equation = "-div(harmonic(a)*grad(u)) + exp(0.1*u) = x"
grid = { x = [0, 1, 16, "cells"], y = [0, 2, 16, "cells"] }
boundary = { x = "a*dn(u) + 2*u = 0", y_low = "u = x", y_high = "dn(u) = 0" }
coefficients = { a = "data: field" }
)toml",
     {9, 7}},
    {"NonlinearOnNodes",
     R"toml(
name = "b"
equation = "-div((1 + u^2)*grad(u)) + dx(u)*dy(u) = a"
grid = { x = [0, 1, 16, "nodes"], y = [0, 2, 16, "nodes"] }
boundary = { x = "u = 1", y_low = "dn(u) + u = 2", y_high = "dn(u) = 0" }
coefficients = { a = "data: field" }
)toml",
     {7, 8}},
    {"PeriodicFourthOrder",
     R"toml(
name = "c"
equation = "lap(a*lap(u)) + dx(u^3) - dxy(u) = tanh(u)"
grid = { x = [0, 1, 16, "periodic"], y = [0, 2, 16, "periodic"] }
coefficients = { a = "data: field" }
)toml",
     {8, 7}},
    {"ThreeFields",
     R"toml(
name = "d"
grid = { x = [0, 1, 16, "nodes"], y = [0, 2, 16, "cells"] }
boundary.x_low = ["u = 1", "dn(v) = 0", "p = 0"]
boundary.x_high = ["dn(u) + u = 2", "v = 0", "dn(p) = 0"]
boundary.y = ["u = 0", "v = 0", "dn(p) = 0"]
[equations]
u = "-lap(u) + dx(p) + u*dx(u) = 1"
v = "-lap(v) + dy(p) + dx(v*u) = 0"
p = "dx(u) + dy(v) - 0.1*lap(p) = 0"
)toml",
     {8, 7}},
    {"LineBdf2",
     R"toml(
name = "e"
equation = "dt(u) + u*dx(u) = D*dx(a*dx(u)) + r*u*(1 - u)"
grid = { x = [0, 1, 16, "cells"], t = [0, 1, 16] }
boundary = { x_low = "u = t", x_high = "dn(u) = 0" }
initial = "u = a"
coefficients = { a = "data: field", D = "data: scalar", r = "data: scalar" }
)toml",
     {11, 1}},
    {"LineNewmark",
     R"toml(
name = "f"
equation = "dtt(u) + 0.2*dt(u^3) = div(a^2*grad(u))"
grid = { x = [0, 1, 16, "nodes"], t = [0, 1, 16] }
boundary = { x_low = "u = 0", x_high = "dn(u) + u = t" }
initial = ["u = a", "dt(u) = sin(a)"]
coefficients = { a = "data: field" }
)toml",
     {11, 1}},
    {"TwoFieldsInPlaneAndTime",
     R"toml(
name = "g"
equations = { u = "dt(u) = lap(u) - u*v", v = "dt(v) + dt(u) = lap(v) + u*v" }
grid = { x = [0, 1, 16, "periodic"], y = [0, 2, 16, "nodes"], t = [0, 1, 5] }
boundary = { y = ["dn(u) = 0", "v = 1"] }
initial = ["u = a", "v = 1"]
coefficients = { a = "data: field" }
)toml",
     {6, 7}},
    {"SpectralLine",
     R"toml(
name = "h"
equation = "dt(u) + 6*u*dx(u) + dxx(dx(u)) = 0*a"
derivatives = "spectral"
grid = { x = [0, 1, 16, "periodic"], t = [0, 1, 16] }
initial = "u = a"
coefficients = { a = "data: field" }
)toml",
     {10, 1}},
    {"SpectralBesideNodes",
     R"toml(
name = "i"
equation = "-div(a*grad(u)) + u^3 = 0"
derivatives = "spectral"
grid = { x = [0, 1, 16, "periodic"], y = [0, 1, 16, "nodes"] }
boundary = { y = "u = 0" }
coefficients = { a = "data: field" }
)toml",
     {8, 6}},
};

/// A state, the levels before it and everything else that a row needs.
struct Setting {
  explicit Setting(const Case& which) : system(system_of(which.toml, which.points)) {
    const auto [x, y] = system->points();
    unknown = 1 + 0.3 * numbers({2, system->fields(), x, y});
    v = numbers({2, system->fields(), x, y}, 3);
    a = coefficients_like(*system, 2);
    if (system->order() > 0) before = 1 + 0.3 * numbers({2, system->fields(), 2, x, y}, 1);
    inner = v.masked_fill(system->ring(), 0);
  }

  Tensor row(const Tensor& at) const { return system->row(at, before, a, level()); }
  int64_t level() const { return before.defined() ? 3 : 0; }

  std::shared_ptr<const TextSystem> system;
  Tensor unknown, v, a, before, inner;  ///< inner: v without the ring
};

class Jacobian : public ::testing::TestWithParam<Case> {};

TEST_P(Jacobian, TimesAVectorIsThatOfCentralDifferences) {
  const Setting s(GetParam());
  constexpr double kStep = 1e-5;
  const Tensor numeric = (s.row(s.unknown + kStep * s.inner) - s.row(s.unknown - kStep * s.inner)) / (2 * kStep);
  const Tensor product = s.system->jacobian_product(s.unknown, s.before, s.a, s.level(), s.v);
  EXPECT_LT(largest((product - numeric).masked_fill(s.system->ring(), 0)), 1e-6 * largest(product));
  EXPECT_EQ(largest((product - s.v).masked_fill(s.system->ring().logical_not(), 0)), 0);
}

TEST_P(Jacobian, TransposedIsThatOfAutograd) {
  const Setting s(GetParam());
  const Tensor x = s.unknown.clone().requires_grad_(true);
  const Tensor w = numbers(s.unknown.sizes().vec(), 5).masked_fill(s.system->ring(), 0);
  const Tensor expected = torch::autograd::grad({(s.row(x) * w).sum()}, {x})[0].masked_fill(s.system->ring(), 0);
  const Tensor product = s.system->jacobian_product(s.unknown, s.before, s.a, s.level(), s.inner);
  EXPECT_NEAR((product * w).sum().item<double>(), (expected * s.inner).sum().item<double>(), 1e-11 * largest(product));
  if (!s.system->has_table()) return;
  const Tensor entries = s.system->jacobian(s.unknown, s.before, s.a, s.level());
  const Tensor transposed = stencil_transposed(s.system->pattern(), entries, w);
  EXPECT_LT(largest(transposed.masked_fill(s.system->ring(), 0) - expected), 1e-12 * largest(expected));
}

TEST_P(Jacobian, TableOfEntriesGivesTheSameProducts) {
  const Setting s(GetParam());
  const bool in_the_plane = s.system->points()[1] > 1;
  ASSERT_EQ(s.system->has_table(), !(s.system->spectral() && in_the_plane));
  if (!s.system->has_table()) return;
  const Tensor entries = s.system->jacobian(s.unknown, s.before, s.a, s.level());
  const Tensor product = s.system->jacobian_product(s.unknown, s.before, s.a, s.level(), s.v);
  EXPECT_LT(largest(stencil_product(s.system->pattern(), entries, s.v) - product), 1e-12 * largest(product));
}

TEST_P(Jacobian, RowsAreThoseOfTheResidual) {
  const Setting s(GetParam());
  const auto& system = *s.system;
  if (system.order() == 0) {
    const auto whole = torch::cat(system.rows(s.unknown.unsqueeze(2), s.a).residual, 1);
    EXPECT_LT(largest((whole.masked_fill(system.ring(), 0) - s.row(s.unknown))), 1e-11 * largest(whole));
    return;
  }
  Tensor u = state_like(system, 2, 5);
  u.select(2, 0).copy_(system.initial(s.a).select(2, 0));
  const auto residuals = system.rows(u, s.a).residual;
  for (int64_t level = 1; level < 5; ++level) {
    const int64_t known = std::min<int64_t>(level, 2);
    const Tensor row = system.row(u.select(2, level), u.narrow(2, level - known, known), s.a, level);
    for (int64_t f = 0; f < system.fields(); ++f) {
      const Tensor expected = residuals[static_cast<size_t>(f)].select(1, level - 1).masked_fill(system.ring()[f], 0);
      EXPECT_LT(largest(row.select(1, f) - expected), 1e-11 * largest(expected)) << "level " << level;
    }
  }
}

TEST_P(Jacobian, ResidualsAreDifferentiableInSolutionsAndCoefficients) {
  const Setting s(GetParam());
  const auto& system = *s.system;
  const int64_t levels = system.order() == 0 ? 1 : 4;
  const Tensor u = 1 + 0.3 * state_like(system, 1, levels), a = s.a.narrow(0, 0, 1);
  const auto loss = [&](const Tensor& solution, const Tensor& coefficients) {
    Tensor sum = torch::zeros({}, torch::kFloat64);
    int seed = 0;
    for (const auto& r : system.rows(solution, coefficients).residual)
      sum = sum + (r * numbers(r.sizes().vec(), ++seed)).sum();
    return sum;
  };
  EXPECT_LT(testing::gradient_error([&](const Tensor& x) { return loss(x, a); }, u), 1e-6);
  if (a.size(1) == 0 || system.text().name == "g" || system.text().name == "h") return;
  const Tensor field = a.narrow(1, a.size(1) - 1, 1);  // in alphabetical order, lower case last
  EXPECT_LT(testing::gradient_error(
                [&](const Tensor& x) {
                  return loss(u, torch::cat({a.narrow(1, 0, a.size(1) - 1), x}, 1));
                },
                field),
            1e-6);
}

TEST_P(Jacobian, SinglePrecisionIsTheSameToItsRounding) {
  const Setting s(GetParam());
  const Tensor u = state_like(*s.system, 1, s.system->order() == 0 ? 1 : 4), a = s.a.narrow(0, 0, 1);
  const auto fine = s.system->rows(u, a).residual,
             rough = s.system->rows(u.to(torch::kFloat32), a.to(torch::kFloat32)).residual;
  for (size_t e = 0; e < fine.size(); ++e) {
    EXPECT_EQ(rough[e].scalar_type(), torch::kFloat32);
    EXPECT_LT(testing::relative_error(rough[e].to(torch::kFloat64), fine[e]), 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Jacobian, ::testing::ValuesIn(kCases), [](const auto& test) { return test.param.name; });

TEST(TextSystem, SpectralDerivativesInThePlaneHaveNoTable) {
  const Setting s({"",
                   R"toml(
name = "p"
equation = "dt(u) = lap(u) - u*dx(u) + a*dxy(u)"
derivatives = "spectral"
grid = { x = [0, 1, 16, "periodic"], y = [0, 2, 16, "periodic"], t = [0, 1, 4] }
initial = "u = 0"
coefficients = { a = "data: field" }
)toml",
                   {8, 6}});
  EXPECT_FALSE(s.system->has_table());
  const Tensor product = s.system->jacobian_product(s.unknown, s.before, s.a, 3, s.v);
  constexpr double kStep = 1e-5;
  const Tensor numeric = (s.row(s.unknown + kStep * s.v) - s.row(s.unknown - kStep * s.v)) / (2 * kStep);
  EXPECT_LT(largest(product - numeric), 1e-6 * largest(product));
}

// --- what a text says of its system ---

std::shared_ptr<const TextSystem> steady(const std::string& equation, const std::string& more = "",
                                         const std::string& kind = "nodes") {
  return system_of("name = 's'\nequation = '" + equation + "'\ngrid = { x = [0, 1, 16, '" + kind +
                       "'], y = [0, 1, 16, '" + kind + "'] }\ncoefficients = { a = 'data: field' }\n" +
                       (more.empty() && kind != "periodic"
                            ? "boundary = { x = 'u = a', y_low = 'u = x + 1', y_high = 'dn(u) = 0' }\n"
                            : more),
                   {16, 16});
}

TEST(TextSystem, LinearEquationsAreToldFromOthers) {
  for (const char* const linear :
       {"-div(a*grad(u)) + 3*u/a = x", "where(a > 1, lap(u), u) = 1", "-(u - dx(a*u)) = a^2"})
    EXPECT_TRUE(steady(linear)->linear()) << linear;
  for (const char* const other : {"lap(u) = u^2 + a", "lap(a*u*u) = 1", "lap(u) + a = sin(u)",
                                  "where(u > 1, lap(u), a) = 1", "div(harmonic(u)*grad(a)) = 1", "a/u = lap(u)"})
    EXPECT_FALSE(steady(other)->linear()) << other;
}

TEST(TextSystem, TheReferenceIsTheTermInTimeOrTheSourceOrTheFirst) {
  const auto reference = [](const TextSystem& system, const Tensor& u, const Tensor& a) {
    return system.rows(u, a).reference[0];
  };
  {
    const auto system = steady("-div(a*grad(u)) + u = 2*a - 1");
    const Tensor u = state_like(*system, 1, 1), a = coefficients_like(*system, 1);
    EXPECT_LT(largest(reference(*system, u, a) - (1 - 2 * a)), 1e-14);
  }
  {
    const auto system = steady("a*u - lap(u) = 0");
    const Tensor u = state_like(*system, 1, 1), a = coefficients_like(*system, 1);
    EXPECT_LT(largest(reference(*system, u, a) - a * u.select(1, 0)), 1e-14);
  }
  {
    const auto system = system_of(kCases[4].toml, kCases[4].points);
    const Tensor u = state_like(*system, 1, 3), a = coefficients_like(*system, 1);
    EXPECT_LT(largest(reference(*system, u, a).select(1, 0) - (u[0][0][1] - u[0][0][0]) / system->step()), 1e-12);
  }
}

TEST(TextSystem, OnNodesGivenValuesAreARingWithoutEquations) {
  const auto system = steady("-lap(u) = 1 + 0*a");
  const Tensor ring = system->ring()[0];
  EXPECT_TRUE(ring.select(0, 0).all().item<bool>() && ring.select(0, 15).all().item<bool>());
  EXPECT_TRUE(ring.select(1, 0).all().item<bool>());
  EXPECT_EQ(ring.sum().item<int64_t>(), 16 * 3 - 2);
  const Tensor a = coefficients_like(*system, 2);
  const Tensor values = system->ring_values(a, 0);
  EXPECT_LT(largest(values.select(1, 0).select(1, 0).narrow(1, 1, 15) - a.select(1, 0).select(1, 0).narrow(1, 1, 15)),
            1e-15);
  EXPECT_DOUBLE_EQ(values[0][0][3][0].item<double>(), 1 + 3.0 / 15);
  EXPECT_EQ(system->scored(0, 0), std::make_pair(int64_t{1}, int64_t{14}));
  EXPECT_EQ(system->scored(0, 1), std::make_pair(int64_t{1}, int64_t{15}));
  const auto cells = steady("-lap(u) = 1 + 0*a", "", "cells");
  EXPECT_FALSE(cells->ring().any().item<bool>());
  EXPECT_EQ(cells->scored(0, 0), std::make_pair(int64_t{0}, int64_t{16}));
}

TEST(TextSystem, SecondDifferencesAreThoseOfTheStencil) {
  for (const char* const kind : {"cells", "nodes"}) {
    const auto system =
        system_of(std::string("name = 's'\nequation = '-lap(u) = 1'\ngrid = { x = [0, 1, 16, '") + kind +
                      "'], y = [0, 1, 16, '" + kind + "'] }\nboundary = { x = 'dn(u) + 3*u = 0', y = 'dn(u) = 0' }\n",
                  {9, 7});
    const Tensor u = numbers({1, 1, 1, 9, 7});
    const Tensor lap = 1 + system->rows(u, testing::no_coefficients(*system)).residual[0][0][0];
    const Tensor dx = system->second_difference(0, 0), dy = system->second_difference(0, 1);
    EXPECT_LT(largest(lap + dx.matmul(u[0][0][0]) + u[0][0][0].matmul(dy.t())), 1e-10 * largest(lap)) << kind;
  }
}

TEST(TextSystem, InitialStatesAndRatesFollowTheText) {
  const auto system = system_of(kCases[5].toml, kCases[5].points);
  const Tensor a = coefficients_like(*system, 2);
  EXPECT_LT(largest(system->initial(a).select(2, 0) - a), 1e-15);
  EXPECT_LT(largest(system->initial_rate(a).select(2, 0) - torch::sin(a)), 1e-15);
  EXPECT_EQ(system->order(), 2);
  EXPECT_EQ(system->levels(), 16);
  EXPECT_DOUBLE_EQ(system->step(), 1.0 / 15);
}

TEST(TextSystem, WhatCannotBeDiscretisedIsRefused) {
  EXPECT_ERROR(steady("dx(dxx(u)) = a"), ExitCode::usage,
               "s: derivatives above the second order need a periodic axis; write the equation with a second field");
  EXPECT_NO_THROW(steady("dx(dxx(u)) = a", "", "periodic"));
  const auto in_time = [](const std::string& u, const std::string& v) {
    return system_of("name = 's'\nequations = { u = '" + u + "', v = '" + v +
                         "' }\ngrid = { x = [0, 1, 16, 'periodic'], t = [0, 1, 16] }\n"
                         "initial = ['u = 0', 'v = 0', 'dt(v) = 0']\n",
                     {16, 1});
  };
  EXPECT_ERROR(in_time("dt(u) = v", "dtt(v) = u"), ExitCode::usage,
               "s: all equations need the same order in time, that of u has 1; write dtt(u) = .. as dt(u) = v");
}

TEST(TextSystem, TermsAddUpToTheWhole) {
  const auto u = field_named("u"), v = field_named("v");
  const auto minus = [](const ExpressionPtr& a, const ExpressionPtr& b) { return operation("-", {a, b}); };
  const auto terms = terms_of(minus(u, minus(operation("-", {v}), number(2))));
  ASSERT_EQ(terms.size(), 3u);
  EXPECT_TRUE(equal(*terms[0], *u));
  EXPECT_TRUE(equal(*terms[1], *v));
  EXPECT_TRUE(equal(*terms[2], *number(2)));
}

}  // namespace
}  // namespace piddm
