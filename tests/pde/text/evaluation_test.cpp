// Stencils against their formulas, written by hand, and against exact derivatives.

#include "piddm/pde/text/evaluation.h"

#include <numbers>

#include "tests/pde/text/exact.h"

namespace piddm {
namespace {

using testing::expect_order;
using testing::in_coordinates;
using testing::largest;
using testing::numbers;
using testing::pde_text;

constexpr int64_t kX = 16, kY = 17;
constexpr double kHx = 1.5 / 16, kHy = 1.0 / 16;

/// Cells along x, nodes along y; u and the coefficients a, b.
PdeText text_with(const std::string& boundary, const std::string& x = "16, 'cells'",
                  const std::string& y = "17, 'nodes'", const std::string& more = "") {
  return pde_text("name = 'e'\nequation = 'lap(u) = a + b'\ngrid = { x = [0, 1.5, " + x + "], y = [0, 1, " + y +
                  "] }\nboundary = { " + boundary + " }\ncoefficients = { a = 'data: field', b = 'data: scalar' }\n" +
                  more);
}

const std::string kValues = "x = 'u = 2', y = 'u = 3'", kSlopes = "x = 'dn(u) = 2', y = 'dn(u) = 3'",
                  kRobin = "x_low = 'b*dn(u) + 2*u = 5', x_high = 'dn(u) + a*u = y', y = 'b*dn(u) + 2*u = 5'";

class Fields {
 public:
  explicit Fields(const PdeText& text) : grid_(text, {text.axes[0].points, text.axes[1].points}) {
    const std::vector<int64_t> size = {2, 1, text.axes[0].points, text.axes[1].points};
    u = numbers(size);
    a = numbers(size, 1) + 2;
    b = numbers({2, 1, 1, 1}, 2) + 2;
  }

  /// [2,X,Y]
  Tensor operator()(const std::string& expression) const {
    TextEvaluation evaluate(grid_, {{"u", {u}}, {"a", {a}}, {"b", {b}}}, {}, u.options());
    return evaluate(read(expression)).value.expand({2, 1, u.size(2), u.size(3)}).select(1, 0);
  }

  Tensor at(const std::string& expression, const Place& place) const {
    TextEvaluation evaluate(grid_, {{"u", {u}}, {"a", {a}}, {"b", {b}}}, {}, u.options());
    return evaluate.at(read(expression), place).value;
  }

  const TextGrid& grid() const { return grid_; }
  Tensor u, a, b;

 private:
  static ExpressionPtr read(const std::string& text) {
    Scope scope = {.space = {Coordinate::x, Coordinate::y}};
    for (const char* const name : {"u", "a", "b"}) scope.names[name] = ExpressionKind::field;
    const SourceText source{text, "e"};
    return lower(*parse_expression(source), scope, source);
  }

  TextGrid grid_;
};

Tensor rows(const Tensor& x, int64_t first, int64_t count) { return x.narrow(-2, first, count); }
Tensor columns(const Tensor& x, int64_t first, int64_t count) { return x.narrow(-1, first, count); }

/// With the ghost values below and above the cells along x: [..,X+2,Y].
Tensor with_ghosts(const Tensor& u, const Tensor& low, const Tensor& high) { return torch::cat({low, u, high}, -2); }

TEST(TextStencils, OfCellsHaveGhostValuesOfTheStatedCondition) {
  const auto expected = [](const Fields& f, const Tensor& low, const Tensor& high) {
    const Tensor u = f.u.select(1, 0), g = with_ghosts(u, low, high);
    return (rows(g, 2, kX) - 2 * u + rows(g, 0, kX)) / (kHx * kHx);
  };
  const Fields value(text_with(kValues)), slope(text_with(kSlopes)), robin(text_with(kRobin));
  const Tensor u = value.u.select(1, 0), first = rows(u, 0, 1), last = rows(u, kX - 1, 1);
  EXPECT_LT(largest(value("dxx(u)") - expected(value, 4 - first, 4 - last)), 1e-10);
  EXPECT_LT(largest(slope("dxx(u)") - expected(slope, first + 2 * kHx, last + 2 * kHx)), 1e-10);
  // b (g - u)/h + 2 (g + u)/2 = 5
  const Tensor b = robin.b.select(1, 0);
  const Tensor low = (5 - (1 - b / kHx) * first) / (b / kHx + 1);
  // (g - u)/h + a_wall (g + u)/2 = y, a_wall extrapolated by at most a factor of 2
  const Tensor a = robin.a.select(1, 0), near = rows(a, kX - 1, 1), far = 1.5 * near - 0.5 * rows(a, kX - 2, 1);
  const Tensor a_wall = torch::min(torch::max(far, near / 2), near * 2);
  const Tensor y = torch::arange(kY, torch::kFloat64).view({1, 1, kY}) * kHy;
  const Tensor high = (y - (a_wall / 2 - 1 / kHx) * last) / (1 / kHx + a_wall / 2);
  EXPECT_LT(largest(robin("dxx(u)") - expected(robin, low, high)), 1e-9);
}

TEST(TextStencils, OfNodesTakeHalfACellAtWallsWithASlope) {
  const Fields robin(text_with(kRobin));
  const Tensor u = robin.u.select(1, 0), a = robin.a.select(1, 0), b = robin.b.select(1, 0);
  const Tensor faces =
      (columns(a, 1, kY - 1) + columns(a, 0, kY - 1)) / 2 * (columns(u, 1, kY - 1) - columns(u, 0, kY - 1)) / kHy;
  const auto outward = [&](int64_t i) { return (5 - 2 * columns(u, i, 1)) / b; };
  const Tensor low = (columns(faces, 0, 1) + columns(a, 0, 1) * outward(0)) / (kHy / 2);
  const Tensor high = (columns(a, kY - 1, 1) * outward(kY - 1) - columns(faces, kY - 2, 1)) / (kHy / 2);
  const Tensor middle = (columns(faces, 1, kY - 2) - columns(faces, 0, kY - 2)) / kHy;
  EXPECT_LT(largest(robin("dy(a*dy(u))") - torch::cat({low, middle, high}, -1)), 1e-9);
  const Tensor slopes =
      torch::cat({-outward(0), (columns(u, 2, kY - 2) - columns(u, 0, kY - 2)) / (2 * kHy), outward(kY - 1)}, -1);
  EXPECT_LT(largest(robin("dy(u)") - slopes), 1e-10);
}

TEST(TextStencils, FluxesHaveMeansOrHarmonicMeansOnFaces) {
  const Fields f(text_with(kValues));
  const Tensor u = f.u.select(1, 0), a = f.a.select(1, 0);
  const Tensor left = rows(a, 0, kX - 1), right = rows(a, 1, kX - 1),
               step = (rows(u, 1, kX - 1) - rows(u, 0, kX - 1)) / kHx;
  const auto expected = [&](const Tensor& mean) {
    const Tensor low = rows(a, 0, 1) * (rows(u, 0, 1) - 2) / (kHx / 2);  // given values: a of the nearest cell
    const Tensor high = rows(a, kX - 1, 1) * (2 - rows(u, kX - 1, 1)) / (kHx / 2);
    const Tensor flux = torch::cat({low, mean * step, high}, -2);
    return (rows(flux, 1, kX) - rows(flux, 0, kX)) / kHx;
  };
  EXPECT_LT(largest(f("dx(a*dx(u))") - expected((left + right) / 2)), 1e-9);
  EXPECT_LT(largest(f("dx(harmonic(a)*dx(u))") - expected(2 * left * right / (left + right))), 1e-9);
  EXPECT_LT(largest(f("dx(a^2*dx(u))").narrow(1, 1, kX - 2) -  // what is a face's is made of means
                    ((((right + left) / 2).square() * step).diff(1, -2) / kHx)),
            1e-9);
}

TEST(TextStencils, FirstDerivativesAreDifferencesOfMeansOfTheWhole) {
  const Fields f(text_with(kValues));
  const Tensor u = f.u.select(1, 0), e = u * u * f.a.select(1, 0);
  const Tensor middle = (rows(e, 2, kX - 2) - rows(e, 0, kX - 2)) / (2 * kHx);
  const Tensor out = f("dx(u^2*a)");
  EXPECT_LT(largest(rows(out, 1, kX - 2) - middle), 1e-10);
  const Tensor wall = 4 * rows(f.a.select(1, 0), 0, 1), face = (rows(e, 0, 1) + rows(e, 1, 1)) / 2;
  EXPECT_LT(largest(rows(out, 0, 1) - (face - wall) / kHx), 1e-10);
}

TEST(TextStencils, PeriodicAxesCloseInARing) {
  const Fields f(text_with("", "16, 'periodic'", "16, 'periodic'"));
  const Tensor u = f.u.select(1, 0), a = f.a.select(1, 0);
  const Tensor flux = (a + a.roll(-1, -2)) / 2 * (u.roll(-1, -2) - u) / kHx;
  EXPECT_LT(largest(f("dx(a*dx(u))") - (flux - flux.roll(1, -2)) / kHx), 1e-10);
  EXPECT_LT(largest(f("dy(u)") - (u.roll(-1, -1) - u.roll(1, -1)) / (2 * kHy)), 1e-11);
  const Tensor corner = (u.roll(-1, -1) - u.roll(1, -1)) / (2 * kHy);
  EXPECT_LT(largest(f("dxy(u)") - (corner.roll(-1, -2) - corner.roll(1, -2)) / (2 * kHx)), 1e-10);
}

TEST(TextStencils, ConstantsHaveNoDerivatives) {
  for (const auto& text : {text_with(kValues), text_with("", "16, 'periodic'", "16, 'periodic'")}) {
    const Fields f(text);
    for (const char* const e : {"dx(b)", "dyy(b)", "dx(b*b)", "lap(2*b)", "dxy(b)"}) EXPECT_EQ(largest(f(e)), 0) << e;
    EXPECT_EQ(largest(f("dy(x)")), 0);
  }
}

TEST(TextStencils, CoordinatesAreThoseOfTheirSites) {
  const Fields f(text_with(kValues));
  const auto& x = f.grid().axes()[0];
  const auto& y = f.grid().axes()[1];
  EXPECT_DOUBLE_EQ(x.coordinates(Site::points)[0].item<double>(), kHx / 2);
  EXPECT_DOUBLE_EQ(x.coordinates(Site::faces)[0].item<double>(), 0);
  EXPECT_EQ(x.coordinates(Site::faces).size(0), kX + 1);
  EXPECT_DOUBLE_EQ(y.coordinates(Site::points)[kY - 1].item<double>(), 1);
  EXPECT_DOUBLE_EQ(y.coordinates(Site::faces)[0].item<double>(), kHy / 2);
  EXPECT_EQ(y.coordinates(Site::faces).size(0), kY - 1);
  EXPECT_DOUBLE_EQ(f.at("x", Place{.x = Site::high}).item<double>(), 1.5);
  EXPECT_DOUBLE_EQ(f.at("x*y", Place{.x = Site::high_slope, .y = Site::low}).sum().item<double>(), 0);
  EXPECT_DOUBLE_EQ(f.at("x^2 + y", Place{.x = Site::high_slope}).flatten()[0].item<double>(), 3);
}

TEST(TextStencils, FunctionsOnWallsFollowTheChainRule) {
  const Fields f(text_with(kRobin));
  const Tensor u = columns(f.u, 0, 1), dn = (5 - 2 * u) / f.b;
  const Tensor slope = f.at("sin(u)*exp(2*u) + b/u", Place{.y = Site::low_slope});
  const Tensor expected = (torch::cos(u) + 2 * torch::sin(u)) * torch::exp(2 * u) * dn - f.b / (u * u) * dn;
  EXPECT_LT(largest(slope / expected - 1), 1e-12);
}

// --- against exact derivatives ---

/// Error of an expression of u = exact (periodic or away from walls) on a grid of factor * 16.
double stencil_error(const std::string& expression, int64_t factor, bool spectral) {
  auto text = text_with("", "16, 'periodic'", "16, 'periodic'", spectral ? "derivatives = 'spectral'" : "");
  const TextGrid grid(text, {16 * factor, 16 * factor});
  const auto u = in_coordinates("exp(0.5*sin(2*pi*x/1.5))*cos(2*pi*y)"),
             a = in_coordinates("2 + sin(2*pi*(x/1.5 + y))");
  Scope scope = {.space = {Coordinate::x, Coordinate::y}};
  scope.names = {{"u", ExpressionKind::field}, {"a", ExpressionKind::field}};
  const SourceText source{expression, "e"};
  const auto e = lower(*parse_expression(source), scope, source);
  const auto exact = without_known_derivatives(with_field(with_field(e, "u", u), "a", a));
  const auto points = [&](const ExpressionPtr& of) { return testing::values_of(of, grid).unsqueeze(0).unsqueeze(0); };
  TextEvaluation evaluate(grid, {{"u", {points(u)}}, {"a", {points(a)}}}, {}, torch::kFloat64);
  return largest(evaluate(e).value - points(exact));
}

const std::vector<std::string> kSmooth = {"dx(u)",
                                          "dyy(u)",
                                          "dxy(u)",
                                          "div(a*grad(u))",
                                          "dx(a*u^2)",
                                          "dxx(dyy(u))",
                                          "dx(dxx(u))",
                                          "div(harmonic(a)*grad(u))",
                                          "dx(u)*dy(a) + lap(exp(u))",
                                          "div(u*a*grad(sin(u)))",
                                          "div(sqrt(1 + dot(grad(u), grad(u)))*grad(u))"};

TEST(TextStencils, AreOfOrderTwoWhereNoWallIsNear) {
  for (const auto& expression : kSmooth) {
    SCOPED_TRACE(expression);
    expect_order(2, [&](int64_t factor) { return stencil_error(expression, 2 * factor, false); });
  }
}

TEST(TextStencils, SpectralDerivativesAreExact) {
  for (const auto& expression : kSmooth) {
    if (expression.find("sqrt") != std::string::npos || expression.find("exp") != std::string::npos) continue;
    EXPECT_LT(stencil_error(expression, 4, true), 1e-6) << expression;
  }
}

TEST(TextStencils, SpectralDerivativesOfEveryModeAreExact) {
  auto text = text_with("", "16, 'periodic'", "16, 'periodic'", "derivatives = 'spectral'");
  const TextGrid grid(text, {16, 21});
  for (size_t axis = 0; axis < 2; ++axis) {
    const auto& along = grid.axes()[axis];
    const Tensor x = along.coordinates(Site::points);
    for (int64_t k = 0; 2 * k < along.points; ++k) {
      const double w = 2 * std::numbers::pi * static_cast<double>(k) / along.length;
      const Tensor wave = torch::cos(w * x + 0.3);
      EXPECT_LT(largest(along.spectral_1.matmul(wave) + w * torch::sin(w * x + 0.3)), 1e-11 * (1 + w * w));
      EXPECT_LT(largest(along.spectral_2.matmul(wave) + w * w * wave), 1e-11 * (1 + w * w));
    }
  }
}

// --- time ---

/// Rows of an expression of u, five levels apart by 0.1.
Tensor rows_in_time(const std::string& expression, int order, int64_t first, const Tensor& u, bool last = false) {
  const auto text = pde_text(
      "name = 't'\nequation = 'dt(u) = lap(u)'\ngrid = { x = [0, 1, 16, 'cells'], t = [0, 1.5, 16] }\n"
      "boundary = { x = 'dn(u) = 0' }\ninitial = 'u = 0'\n");
  const TextGrid grid(text, {16, 1});
  Scope scope = {.names = {{"u", ExpressionKind::field}}, .space = {Coordinate::x}, .time = true};
  const SourceText source{expression, "e"};
  TextEvaluation evaluate(grid, {{"u", {u}}}, {.order = order, .step = 0.1, .first = first, .last = last}, u.options());
  return evaluate(lower(*parse_expression(source), scope, source)).value;
}

TEST(TextTime, RowsOfOrderOneAreBdf2AfterAnImplicitEulerStep) {
  const Tensor u = numbers({1, 5, 16, 1});
  const auto level = [&](int64_t l) { return u.narrow(1, l, 1); };
  const Tensor r = rows_in_time("dt(u)", 1, 0, u);
  ASSERT_EQ(r.size(1), 4);
  EXPECT_LT(largest(r.narrow(1, 0, 1) - (level(1) - level(0)) / 0.1), 1e-12);
  for (int64_t n = 2; n < 5; ++n)
    EXPECT_LT(largest(r.narrow(1, n - 1, 1) - (3 * level(n) - 4 * level(n - 1) + level(n - 2)) / 0.2), 1e-12);
  EXPECT_LT(largest(rows_in_time("u^2", 1, 0, u) - u.narrow(1, 1, 4).square()), 1e-14);
  EXPECT_LT(largest(rows_in_time("t + 0*u", 1, 3, u).flatten() - torch::tensor({0.4, 0.5, 0.6, 0.7}, torch::kFloat64)),
            1e-14);
  EXPECT_LT(largest(rows_in_time("dt(u) + u", 1, 2, u.narrow(1, 2, 3), true) - (r + u.narrow(1, 1, 4)).narrow(1, 3, 1)),
            1e-12);
}

TEST(TextTime, RowsOfOrderTwoAreNewmarks) {
  const Tensor u = numbers({1, 5, 16, 1});
  const auto level = [&](int64_t l) { return u.narrow(1, l, 3); };
  EXPECT_LT(largest(rows_in_time("dtt(u)", 2, -1, u) - (level(2) - 2 * level(1) + level(0)) / 0.01), 1e-11);
  EXPECT_LT(largest(rows_in_time("dt(u)", 2, -1, u) - (level(2) - level(0)) / 0.2), 1e-12);
  EXPECT_LT(largest(rows_in_time("3*u", 2, -1, u) - 0.75 * (level(2) + 2 * level(1) + level(0))), 1e-13);
  EXPECT_LT(largest(rows_in_time("t + 0*u", 2, -1, u).flatten() - torch::tensor({0.0, 0.1, 0.2}, torch::kFloat64)),
            1e-14);
}

}  // namespace
}  // namespace piddm
