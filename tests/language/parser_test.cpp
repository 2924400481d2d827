#include "piddm/language/parser.h"

#include <cmath>

#include "piddm/language/notation.h"
#include "tests/language/jet.h"
#include "tests/language/trees.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using testing::Jet;
using testing::Point;
using testing::read;

constexpr Point kAt = {0.7, -0.4, 0.3};
constexpr double kK = 1.3, kNu = 0.2;

/// u = x^2 y + t, v = x y^2, a = 2 + x y: enough to tell every operator from the others.
double value(const std::string& text) {
  const testing::JetFields fields = {{"u", [](const Jet& x, const Jet& y, const Jet& t) { return x * x * y + t; }},
                                     {"v", [](const Jet& x, const Jet& y, const Jet&) { return x * y * y; }},
                                     {"a", [](const Jet& x, const Jet& y, const Jet&) { return Jet(2) + x * y; }}};
  return evaluate(*read(text), kAt, fields, {{"k", kK}, {"nu", kNu}}).value();
}

const double x = kAt.x, y = kAt.y, t = kAt.t, u = x * x * y + t, v = x * y * y, a = 2 + x * y;

TEST(Parser, ReadsNumbersNamesAndConstants) {
  EXPECT_DOUBLE_EQ(value("1e-3"), 1e-3);
  EXPECT_DOUBLE_EQ(value(".5 + 2."), 2.5);
  EXPECT_DOUBLE_EQ(value("2.5E+2"), 250);
  EXPECT_DOUBLE_EQ(value("pi"), M_PI);
  EXPECT_DOUBLE_EQ(value("u + v + a + k + x + y + t"), u + v + a + kK + x + y + t);
  EXPECT_DOUBLE_EQ(value("\n 1 +\t2\r\n"), 3);
}

TEST(Parser, TakesGreekLettersForTheirNames) {
  EXPECT_TRUE(equal(*read("ν*u"), *read("nu*u")));
  EXPECT_DOUBLE_EQ(value("2*π"), 2 * M_PI);
}

TEST(Parser, BindsAsOnPaper) {
  EXPECT_DOUBLE_EQ(value("1 - 2 - 3"), -4);
  EXPECT_DOUBLE_EQ(value("1 - (2 - 3)"), 2);
  EXPECT_DOUBLE_EQ(value("2 + 3*4"), 14);
  EXPECT_DOUBLE_EQ(value("12/3/2"), 2);
  EXPECT_DOUBLE_EQ(value("12/3*2"), 8);
  EXPECT_DOUBLE_EQ(value("2^3^2"), 512);
  EXPECT_DOUBLE_EQ(value("(2^3)^2"), 64);
  EXPECT_DOUBLE_EQ(value("-2^2"), -4);
  EXPECT_DOUBLE_EQ(value("(-2)^2"), 4);
  EXPECT_DOUBLE_EQ(value("2^-2"), 0.25);
  EXPECT_DOUBLE_EQ(value("2*-3"), -6);
  EXPECT_DOUBLE_EQ(value("--2"), 2);
  EXPECT_DOUBLE_EQ(value("1 + 1 < 3"), 1);
  EXPECT_DOUBLE_EQ(value("2*x^2*k"), 2 * x * x * kK);
}

TEST(Parser, ReadsEveryFunction) {
  EXPECT_DOUBLE_EQ(value("exp(x) + log(k) + sqrt(k) + abs(y)"),
                   std::exp(x) + std::log(kK) + std::sqrt(kK) + std::abs(y));
  EXPECT_DOUBLE_EQ(value("sin(x) + cos(x)*tan(x)"), std::sin(x) + std::cos(x) * std::tan(x));
  EXPECT_DOUBLE_EQ(value("sinh(x) + cosh(x) + tanh(x)"), std::sinh(x) + std::cosh(x) + std::tanh(x));
  EXPECT_DOUBLE_EQ(value("sign(y) + step(y) + step(x) + harmonic(k)"), -1 + 0 + 1 + kK);
  EXPECT_DOUBLE_EQ(value("min(x, y) + 10*max(x, y)"), y + 10 * x);
  EXPECT_DOUBLE_EQ(value("where(x > y, k, nu)"), kK);
  EXPECT_DOUBLE_EQ(value("where(x <= y, k, nu)"), kNu);
  EXPECT_DOUBLE_EQ(value("(x >= y) + (x < y)"), 1);
}

TEST(Parser, WritesOperatorsOut) {
  EXPECT_TRUE(equal(*read("lap(u)"), *read("dx(dx(u)) + dy(dy(u))")));
  EXPECT_TRUE(equal(*read("lap(u)"), *read("dxx(u) + dyy(u)")));
  EXPECT_TRUE(equal(*read("div(grad(u))"), *read("lap(u)")));
  EXPECT_TRUE(equal(*read("div(a*grad(u))"), *read("dx(a*dx(u)) + dy(a*dy(u))")));
  EXPECT_TRUE(equal(*read("dtt(u)"), *read("dt(dt(u))")));
  EXPECT_TRUE(equal(*read("dxy(u)"), *read("dx(dy(u))")));
  EXPECT_TRUE(equal(*read("dot([a, v], grad(u))"), *read("a*dx(u) + v*dy(u)")));
  EXPECT_TRUE(equal(*read("div([a, v])"), *read("dx(a) + dy(v)")));
  EXPECT_TRUE(
      equal(*read("div(grad(u)*a/k - [v, 0] + -[1, u])"), *read("dx(dx(u)*a/k - v + -1) + dy(dy(u)*a/k + -u)")));
}

TEST(Parser, DerivativesAreThoseOfTheFunctions) {
  EXPECT_NEAR(value("dt(u)"), 1, 1e-14);
  EXPECT_NEAR(value("dtt(t^3)"), 6 * t, 1e-14);
  EXPECT_NEAR(value("dx(u)"), 2 * x * y, 1e-14);
  EXPECT_NEAR(value("dy(v)"), 2 * x * y, 1e-14);
  EXPECT_NEAR(value("dxx(u)"), 2 * y, 1e-14);
  EXPECT_NEAR(value("dyy(v)"), 2 * x, 1e-14);
  EXPECT_NEAR(value("dxy(u)"), 2 * x, 1e-14);
  EXPECT_NEAR(value("lap(u*v)"), 6 * x * y * y * y + 6 * x * x * x * y + 2 * x * t, 1e-13);
  EXPECT_NEAR(value("div(a*grad(u))"), (2 * y * a + 2 * x * y * y) + x * x * x, 1e-14);
  EXPECT_NEAR(value("dot(grad(u), grad(v))"), 2 * x * y * y * y + 2 * x * x * x * y, 1e-14);
}

TEST(Parser, OnOneSpaceAxisVectorsHaveOneComponent) {
  auto line = testing::plane();
  line.space = {Coordinate::x};
  EXPECT_TRUE(equal(*read("div(a*grad(u))", line), *read("dx(a*dx(u))")));
  EXPECT_TRUE(equal(*read("dot([a], grad(u))", line), *read("a*dx(u)")));
  EXPECT_TRUE(equal(*read("lap(u)", line), *read("dxx(u)")));
  EXPECT_ERROR(read("dy(u)", line), ExitCode::usage, "line 1, column 1: this PDE has no axis y");
  EXPECT_ERROR(read("[a, v]", line), ExitCode::usage, "a vector of this PDE has one component, got 2");
}

void expect_refused(const std::string& text, const std::string& message) {
  SCOPED_TRACE(text);
  EXPECT_ERROR(read(text), ExitCode::usage, "f.toml: equation, line " + message);
}

TEST(Parser, ErrorsSayWhereAndWhatWasExpected) {
  expect_refused("u + laplace(u)", "1, column 5: unknown function 'laplace'; did you mean 'lap'?");
  expect_refused("u +\n  2*lapl(u)", "2, column 5: unknown function 'lapl'; did you mean 'lap'?");
  expect_refused("ν*w", "1, column 3: unknown name 'w'");
  expect_refused("nuu", "1, column 1: unknown name 'nuu'; did you mean 'nu'?");
  expect_refused("", "1, column 1: expected a number, a name, '(' or '[', got the end");
  expect_refused("u +", "1, column 4: expected a number, a name, '(' or '[', got the end");
  expect_refused("(u + 1", "1, column 7: expected ')' or an operator, got the end");
  expect_refused("u + 1)", "1, column 6: ')' closes nothing");
  expect_refused("sin(u", "1, column 6: expected ',', ')' or an operator, got the end");
  expect_refused("u v", "1, column 3: expected an operator or the end, got 'v'; a product is written with *");
  expect_refused("2u", "1, column 2: expected an operator behind 2; a product is written 2*u");
  expect_refused("u(1 - u)", "1, column 1: u is no function: a product is written u*(..)");
  expect_refused("u**2", "1, column 3: powers are written with ^, not **");
  expect_refused("u = 1", "1, column 3: unexpected '=': this is no equation");
  expect_refused("1 < u < 2", "1, column 7: comparisons do not chain");
  expect_refused("u & v", "1, column 3: unexpected character '&'");
  expect_refused("u ∂ v", "1, column 3: unexpected character '∂'");
  expect_refused("1e999", "1, column 1: the number 1e999 is out of range");
  expect_refused("1.2.3", "1, column 4: 1.2. is no number");
  expect_refused("1/0", "1, column 2: the value of '/' is no finite number here");
  expect_refused("sin", "1, column 1: sin is a function: write sin(..)");
  expect_refused("sin(u, v)", "1, column 1: sin takes 1 argument, got 2");
  expect_refused("where(u, v)", "1, column 1: where takes 3 arguments, got 2");
}

TEST(Parser, TypesAreChecked) {
  expect_refused("div(u)", "1, column 1: div takes a vector, got a scalar: write div(a*grad(u))");
  expect_refused("grad(u)", "1, column 1: expected a scalar, got a vector");
  expect_refused("grad(grad(u))", "1, column 1: grad takes a scalar, got a vector");
  expect_refused("lap([u, v])", "1, column 1: lap takes a scalar, got a vector");
  expect_refused("u + grad(u)", "1, column 3: '+' takes two scalars or two vectors, got a scalar and a vector");
  expect_refused("grad(u)*grad(v)", "1, column 8: a product of two vectors is written dot(v, w)");
  expect_refused("grad(u)^2", "1, column 8: '^' takes a scalar, got a vector: write dot(v, v)");
  expect_refused("u/grad(u)", "1, column 2: '/' takes scalars, got a scalar and a vector");
  expect_refused("dot(u, grad(u))", "1, column 1: dot takes two vectors, got a scalar and a vector");
  expect_refused("sin(grad(u))", "1, column 5: sin takes scalars, got a vector");
  expect_refused("[u, v, a]", "1, column 1: a vector of this PDE has two components, got 3");
  expect_refused("[grad(u), v]", "1, column 2: expected a scalar, got a vector");
  expect_refused("dn(u)", "1, column 1: dn stands in wall conditions only");
}

std::string repeated(const std::string& part, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += part;
  return text;
}

TEST(Parser, LimitsHold) {
  EXPECT_DOUBLE_EQ(value(repeated("(", 60) + "k" + repeated(")", 60)), kK);
  for (const char* const open : {"(", "[", "sin(", "-", "2^", "[-("})
    expect_refused(repeated(open, 900) + "u", "1, column");
  expect_refused(repeated("(", 10000) + "u", "1, column 4001: longer than 4000 characters");
  expect_refused(repeated("(", 900) + "u", "1, column 65: nested deeper than 64 levels");
  EXPECT_NO_THROW(read("u" + repeated("+u", 199)));
  expect_refused("u" + repeated("+u", 200), "1, column 400: more than 200 parts without brackets");
  EXPECT_NO_THROW(read(repeated("lap(", 8) + "u" + repeated(")", 8)));
  expect_refused(repeated("lap(", 40) + "u" + repeated(")", 40), "1, column 113: more than 20000 parts");
  expect_refused(std::string(41, 'u'), "1, column 1: a name of more than 40 letters");
}

TEST(Parser, EquationsHaveTwoSides) {
  const auto equation = parse_equation({"dt(u) = k*u", "f"});
  EXPECT_EQ(text_of(*equation.left), "dt(u)");
  EXPECT_EQ(text_of(*equation.right), "k*u");
  EXPECT_ERROR(parse_equation({"dt(u)", "f"}), ExitCode::usage, "f, line 1, column 6: expected '='");
  EXPECT_ERROR(parse_equation({"u = v = 1", "f"}), ExitCode::usage, "column 7: an equation has one '='");
  EXPECT_ERROR(parse_equation({"u == 1", "f"}), ExitCode::usage, "column 4: an equation has one '='");
  EXPECT_ERROR(parse_equation({"u) = 1", "f"}), ExitCode::usage, "column 2: ')' closes nothing");
}

}  // namespace
}  // namespace piddm
