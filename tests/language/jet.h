#pragma once
// Values and all derivatives of expressions up to order 4 in x, y and t, by truncated Taylor series: independent of the
// rules of language/calculus.cpp.

#include <array>
#include <functional>
#include <map>
#include <string>

#include "piddm/language/expression.h"

namespace piddm::testing {

/// sum c_ijk (x - x0)^i (y - y0)^j (t - t0)^k, i + j + k <= 4.
class Jet {
 public:
  static constexpr int kOrder = 4;

  Jet(double value = 0) { coefficients_[0][0][0] = value; }
  static Jet variable(Coordinate axis, double value);

  double value() const { return coefficients_[0][0][0]; }
  Jet along(Coordinate axis) const;

  /// f of it, from the Taylor coefficients f^(n)/n! at its value.
  Jet composed(const std::array<double, kOrder + 1>& taylor) const;

  friend Jet operator+(const Jet& a, const Jet& b);
  friend Jet operator-(const Jet& a, const Jet& b);
  friend Jet operator*(const Jet& a, const Jet& b);

 private:
  double coefficients_[kOrder + 1][kOrder + 1][kOrder + 1] = {};
};

struct Point {
  double x = 0, y = 0, t = 0;
};

/// Fields as functions of the coordinates.
using JetFields = std::map<std::string, std::function<Jet(const Jet& x, const Jet& y, const Jet& t)>>;

Jet evaluate(const Expression& e, const Point& at, const JetFields& fields = {},
             const std::map<std::string, double>& parameters = {});

/// The expression as such a function; it may hold coordinates and parameters.
std::function<Jet(const Jet& x, const Jet& y, const Jet& t)> as_function(
    const ExpressionPtr& e, const std::map<std::string, double>& parameters = {});

}  // namespace piddm::testing
