#include "piddm/language/expression.h"

#include <cmath>

#include "tests/language/jet.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using ::testing::ElementsAre;
using testing::evaluate;
using ::testing::IsEmpty;
using testing::Point;

const ExpressionPtr u = field_named("u"), v = field_named("v"), a = field_named("a"), k = parameter_named("k");
const ExpressionPtr x = coordinate_along(Coordinate::x), y = coordinate_along(Coordinate::y),
                    t = coordinate_along(Coordinate::t);

ExpressionPtr operator+(const ExpressionPtr& l, const ExpressionPtr& r) { return operation("+", {l, r}); }
ExpressionPtr operator-(const ExpressionPtr& l, const ExpressionPtr& r) { return operation("-", {l, r}); }
ExpressionPtr operator-(const ExpressionPtr& l) { return operation("-", {l}); }
ExpressionPtr operator*(const ExpressionPtr& l, const ExpressionPtr& r) { return operation("*", {l, r}); }
ExpressionPtr operator/(const ExpressionPtr& l, const ExpressionPtr& r) { return operation("/", {l, r}); }
ExpressionPtr operator^(const ExpressionPtr& l, const ExpressionPtr& r) { return operation("^", {l, r}); }
ExpressionPtr n(double value) { return number(value); }
ExpressionPtr dx(const ExpressionPtr& e) { return derivative(e, Coordinate::x); }
ExpressionPtr dt(const ExpressionPtr& e) { return derivative(e, Coordinate::t); }

TEST(Expression, NumbersAreFoldedWhereTheResultIsFinite) {
  EXPECT_TRUE(equal(*(n(2) + n(3) * n(4)), *n(14)));
  EXPECT_TRUE(equal(*operation("exp", {n(0)}), *n(1)));
  EXPECT_TRUE(equal(*operation("where", {operation("<", {n(1), n(2)}), u, v}), *u));
  EXPECT_EQ((n(1) / n(0))->kind, ExpressionKind::operation);
  EXPECT_EQ(operation("log", {n(-1)})->kind, ExpressionKind::operation);
}

TEST(Expression, NeutralNumbersDisappear) {
  for (const auto& e : {n(0) + u, u + n(0), u - n(0), n(1) * u, u * n(1), u / n(1), u ^ n(1), -(-u)})
    EXPECT_TRUE(equal(*e, *u));
  for (const auto& e : {n(0) * u, u * n(0), n(0) / u}) EXPECT_TRUE(equal(*e, *n(0)));
  EXPECT_TRUE(equal(*(n(0) - u), *-u));
  EXPECT_TRUE(equal(*(u ^ n(0)), *n(1)));
  EXPECT_TRUE(equal(*dx(k), *n(0)));
}

TEST(Expression, AWrongOperationNamesTheNearest) {
  EXPECT_ERROR(operation("sqr", {u}), ExitCode::usage, "did you mean 'sqrt'");
  EXPECT_ERROR(operation("sin", {u, v}), ExitCode::usage, "sin takes 1 argument, got 2");
  EXPECT_ERROR(operation("where", {u, v}), ExitCode::usage, "where takes 3 arguments, got 2");
}

TEST(Expression, TreesAreEqualByContentNotByAddress) {
  const auto e = dx(a * dx(u)) + k * (u ^ n(3));
  EXPECT_TRUE(equal(*e, *(dx(field_named("a") * dx(u)) + parameter_named("k") * (field_named("u") ^ n(3)))));
  EXPECT_FALSE(equal(*e, *(dx(a * dx(u)) + k * (u ^ n(2)))));
  EXPECT_FALSE(equal(*dx(u), *dt(u)));
  EXPECT_FALSE(equal(*field_named("k"), *k));
}

TEST(Expression, NamesComeInTheOrderOfAppearance) {
  const auto e = dx(v * dx(u)) + k * u - a;
  EXPECT_THAT(fields_of(*e), ElementsAre("v", "u", "a"));
  EXPECT_THAT(parameters_of(*e), ElementsAre("k"));
}

TEST(Expression, DerivativesAreCountedWithinEachOther) {
  const auto e = dx(a * dx(u)) + dt(u) + derivative(dx(u), Coordinate::y);
  EXPECT_EQ(derivative_depth(*e, Coordinate::x), 2);
  EXPECT_EQ(derivative_depth(*e, Coordinate::y), 1);
  EXPECT_EQ(derivative_depth(*e, Coordinate::t), 1);
  EXPECT_FALSE(has_derivative(*(u * v), Coordinate::x));
}

/// Every operation, where it is smooth; of `w`, between 0.2 and 0.8.
std::vector<ExpressionPtr> smooth_operations(const ExpressionPtr& w) {
  std::vector<ExpressionPtr> list = {w + k,
                                     k - w * w,
                                     -w,
                                     n(2) / w,
                                     w / (n(3) + w),
                                     w ^ n(3),
                                     w ^ n(-1.5),
                                     n(2) ^ w,
                                     w ^ w,
                                     operation("where", {operation("<", {w, n(5)}), w * w, w}),
                                     operation("where", {operation(">=", {w, n(5)}), w * w, w}),
                                     operation("min", {w, w * w}),
                                     operation("max", {w, w * w})};
  for (const char* name : {"exp", "log", "sqrt", "abs", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sign", "step"})
    list.push_back(operation(name, {w}));
  list.push_back(operation("abs", {-w}));
  list.push_back(operation("harmonic", {w * w}));
  return list;
}

TEST(Calculus, DerivativesByCoordinatesAgreeWithTaylorSeries) {
  const auto w = n(0.5) + n(0.2) * operation("sin", {n(2) * x + t}) * operation("cos", {y});
  for (const auto& e : smooth_operations(w))
    for (const auto axis : {Coordinate::x, Coordinate::y, Coordinate::t}) {
      const auto second = by_coordinate(by_coordinate(e, axis), Coordinate::x);
      for (const Point& at : {Point{0.1, 0.7, 0.4}, Point{-1.1, 0.2, 0.9}}) {
        const auto jet = evaluate(*e, at, {}, {{"k", 1.3}}).along(axis);
        EXPECT_NEAR(evaluate(*by_coordinate(e, axis), at, {}, {{"k", 1.3}}).value(), jet.value(), 1e-13) << e->name;
        EXPECT_NEAR(evaluate(*second, at, {}, {{"k", 1.3}}).value(), jet.along(Coordinate::x).value(), 1e-11)
            << e->name;
      }
    }
}

TEST(Calculus, DerivativesByAFieldAgreeWithDifferences) {
  const auto with = [](const ExpressionPtr& e, double value) {
    return evaluate(*with_field(e, "u", number(value)), {}, {}, {{"k", 1.3}}).value();
  };
  const double at = 0.6, step = 1e-5;
  for (const auto& e : smooth_operations(u)) {
    const double expected = (with(e, at + step) - with(e, at - step)) / (2 * step);
    EXPECT_NEAR(with(by_field(*e, "u"), at), expected, 1e-8) << e->name;
    EXPECT_TRUE(equal(*by_field(*e, "v"), *n(0)));
  }
}

TEST(Calculus, DerivativesOfFieldsAreHeldInDerivativesByAField) {
  EXPECT_TRUE(equal(*by_field(*(u * dx(u)), "u"), *dx(u)));
  EXPECT_TRUE(equal(*by_field(*dx(u * u), "u"), *n(0)));
}

TEST(Calculus, KnownDerivativesAreWorkedOut) {
  const auto flux = dx(operation("exp", {x}) * dx(x ^ n(3)));
  EXPECT_NEAR(evaluate(*by_coordinate(flux, Coordinate::x), {0.5, 0, 0}).value(),
              evaluate(*dx(flux), {0.5, 0, 0}).value(), 1e-13);
  const auto mixed = without_known_derivatives(flux + dx(a * dx(x * t)));
  EXPECT_EQ(derivative_depth(*mixed, Coordinate::x), 1);
  EXPECT_TRUE(equal(*without_known_derivatives(dx(a * dx(x * t))), *dx(a * t)));
  EXPECT_ERROR(by_coordinate(x * u, Coordinate::x), ExitCode::usage, "the field u");
}

TEST(Calculus, SubstitutionReachesDerivatives) {
  EXPECT_TRUE(equal(*with_field(dx(a * dx(u)) + u, "u", x * v), *(dx(a * dx(x * v)) + x * v)));
  EXPECT_TRUE(equal(*with_field(a * dx(u), "u", n(3)), *n(0)));
}

/// c_i and rest of an expression that is linear, put together again at a point.
void expect_linear(const ExpressionPtr& e, const std::vector<double>& expected, double rest) {
  const auto terms = linear_in(e, {u, dx(u)}, {"u"});
  ASSERT_EQ(terms.size(), 3u);
  const testing::JetFields fields = {{"a", [](auto&&...) { return testing::Jet(2); }}};
  for (size_t i = 0; i < 2; ++i)
    EXPECT_DOUBLE_EQ(evaluate(*terms[i], {0.5, 0, 0}, fields, {{"k", 3}}).value(), expected[i]);
  EXPECT_DOUBLE_EQ(evaluate(*terms[2], {0.5, 0, 0}, fields, {{"k", 3}}).value(), rest);
}

TEST(Calculus, LinearPartsAreFound) {
  expect_linear(u, {1, 0}, 0);
  expect_linear(k * u + a * dx(u) - n(1), {3, 2}, -1);
  expect_linear((u - x) / a - n(2) * (dx(u) - u * a), {4.5, -2}, -0.25);
  expect_linear(-(u - dx(u)) * k + x, {-3, 3}, 0.5);
  expect_linear(operation("where", {operation("<", {x, n(1)}), u + k, dx(u)}), {1, 0}, 3);
  expect_linear(a * x + k, {0, 0}, 4);
}

TEST(Calculus, WhatIsNotLinearHasNoLinearParts) {
  for (const auto& e : {u * u, u * dx(u), u ^ n(2), operation("exp", {u}), operation("step", {u}), a / u, dx(a * u),
                        dx(dx(u)), operation("where", {u, a, k}), operation("harmonic", {u}), dt(u)})
    EXPECT_THAT(linear_in(e, {u, dx(u)}, {"u"}), IsEmpty());
  EXPECT_EQ(linear_in(v * u, {u}, {"u"}).size(), 2u);
  EXPECT_THAT(linear_in(v * u, {u}, {"u", "v"}), IsEmpty());
}

}  // namespace
}  // namespace piddm
