#include "piddm/language/interval.h"

#include <cmath>
#include <limits>

#include "piddm/language/notation.h"
#include "tests/language/jet.h"
#include "tests/language/trees.h"
#include "tests/testing.h"

namespace piddm {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Samples of a random expression stay within its range.
TEST(Interval, HoldsEveryValue) {
  std::mt19937 random(3);
  const Ranges ranges = {
      .names = {{"k", {-2, 0.5}}, {"nu", {0, 3}}, {"u", {-1, 1}}, {"v", {-kInfinity, kInfinity}}, {"a", {0.5, 4}}},
      .axes = {{Coordinate::x, {0, 2}}, {Coordinate::y, {0, 1}}, {Coordinate::t, {0, 1}}}};
  const auto between = [&](double low, double high) { return std::uniform_real_distribution<>(low, high)(random); };
  int judged = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto e = testing::random_expression(random, 1 + i % 3);
    if (has_derivative(*e, Coordinate::x) || has_derivative(*e, Coordinate::y) || has_derivative(*e, Coordinate::t))
      continue;
    const auto range = range_of(*e, ranges);
    const double one = between(-1, 1), wide = between(-50, 50), positive = between(0.5, 4);
    const testing::JetFields fields = {{"u", [=](auto&&...) { return testing::Jet(one); }},
                                       {"v", [=](auto&&...) { return testing::Jet(wide); }},
                                       {"a", [=](auto&&...) { return testing::Jet(positive); }}};
    const double value = evaluate(*e, {between(0, 2), between(0, 1), between(0, 1)}, fields,
                                  {{"k", between(-2, 0.5)}, {"nu", between(0, 3)}})
                             .value();
    if (!std::isfinite(value) || range.low == kInfinity || range.high == -kInfinity) continue;  // exp(2.5e7)
    ++judged;
    const double slack = 1e-9 * std::max(1.0, std::abs(value));
    EXPECT_LE(range.low - slack, value) << text_of(*syntax_of(*e));
    EXPECT_GE(range.high + slack, value) << text_of(*syntax_of(*e));
  }
  EXPECT_GT(judged, 10000);
}

TEST(Interval, IsTightForOneOccurrence) {
  const Ranges ranges = {.names = {{"u", {-1, 2}}, {"k", {2, 4}}}, .axes = {}};
  const auto expect = [&](const char* text, double low, double high) {
    const auto range = range_of(*testing::read(text), ranges);
    EXPECT_DOUBLE_EQ(range.low, low) << text;
    EXPECT_DOUBLE_EQ(range.high, high) << text;
  };
  expect("u^2", 0, 4);
  expect("u^3", -1, 8);
  expect("abs(u)", 0, 2);
  expect("exp(u)", std::exp(-1), std::exp(2));
  expect("1/k", 0.25, 0.5);
  expect("1/u", -kInfinity, kInfinity);
  expect("sqrt(u)", 0, std::sqrt(2));
  expect("where(u > 0, 12, 3)", 3, 12);
  expect("min(u, k) + max(u, k)", 1, 6);
  expect("u < k", 0, 1);
  expect("tan(u)", -kInfinity, kInfinity);
  expect("dx(u)", -kInfinity, kInfinity);
  expect("cosh(u)", 1, std::cosh(2));
  expect("-k*u", -8, 4);
}

}  // namespace
}  // namespace piddm
