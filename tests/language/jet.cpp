#include "tests/language/jet.h"

#include <cmath>
#include <stdexcept>

namespace piddm::testing {

namespace {

using Taylor = std::array<double, Jet::kOrder + 1>;

template <class Visit>
void for_orders(const Visit& visit) {
  for (int i = 0; i <= Jet::kOrder; ++i)
    for (int j = 0; i + j <= Jet::kOrder; ++j)
      for (int k = 0; i + j + k <= Jet::kOrder; ++k) visit(i, j, k);
}

/// a(a-1)..(a-n+1)/n! v^(a-n).
Taylor power_series(double exponent, double value) {
  Taylor c{};
  double binomial = 1;
  for (int n = 0; n <= Jet::kOrder; ++n) {
    c[n] = binomial == 0 ? 0 : binomial * std::pow(value, exponent - n);
    binomial *= (exponent - n) / (n + 1);
  }
  return c;
}

/// Of a function whose derivatives are f, g, sign * f, sign * g, ..
Taylor alternating(double f, double g, double sign) { return {f, g, sign * f / 2, sign * g / 6, sign * sign * f / 24}; }

Jet exp_of(const Jet& a) {
  const double e = std::exp(a.value());
  return a.composed({e, e, e / 2, e / 6, e / 24});
}

Jet log_of(const Jet& a) {
  const double v = a.value();
  return a.composed({std::log(v), 1 / v, -1 / (2 * v * v), 1 / (3 * v * v * v), -1 / (4 * v * v * v * v)});
}

Jet reciprocal(const Jet& a) { return a.composed(power_series(-1, a.value())); }

Jet power_of(const Jet& base, const Expression& exponent, const Jet& by) {
  if (exponent.kind == ExpressionKind::number) return base.composed(power_series(exponent.value, base.value()));
  return exp_of(log_of(base) * by);
}

Jet of_one(const std::string& name, const Jet& a) {
  const double v = a.value();
  if (name == "-") return Jet(0) - a;
  if (name == "harmonic") return a;
  if (name == "exp") return exp_of(a);
  if (name == "log") return log_of(a);
  if (name == "sqrt") return a.composed(power_series(0.5, v));
  if (name == "abs") return v < 0 ? Jet(0) - a : a;
  if (name == "sign") return Jet(v > 0 ? 1 : v < 0 ? -1 : 0);
  if (name == "step") return Jet(v < 0 ? 0 : 1);
  const Jet sine = a.composed(alternating(std::sin(v), std::cos(v), -1));
  const Jet cosine = a.composed(alternating(std::cos(v), -std::sin(v), -1));
  if (name == "sin") return sine;
  if (name == "cos") return cosine;
  if (name == "tan") return sine * reciprocal(cosine);
  const Jet sinh = a.composed(alternating(std::sinh(v), std::cosh(v), 1));
  const Jet cosh = a.composed(alternating(std::cosh(v), std::sinh(v), 1));
  if (name == "sinh") return sinh;
  if (name == "cosh") return cosh;
  if (name == "tanh") return sinh * reciprocal(cosh);
  throw std::logic_error("jet of " + name);
}

}  // namespace

Jet Jet::variable(Coordinate axis, double value) {
  Jet jet(value);
  (axis == Coordinate::x   ? jet.coefficients_[1][0][0]
   : axis == Coordinate::y ? jet.coefficients_[0][1][0]
                           : jet.coefficients_[0][0][1]) = 1;
  return jet;
}

Jet Jet::along(Coordinate axis) const {
  Jet d;
  const int di = axis == Coordinate::x, dj = axis == Coordinate::y, dk = axis == Coordinate::t;
  for_orders([&](int i, int j, int k) {
    if (i + j + k < kOrder)
      d.coefficients_[i][j][k] = (di * i + dj * j + dk * k + 1) * coefficients_[i + di][j + dj][k + dk];
  });
  return d;
}

Jet Jet::composed(const Taylor& taylor) const {
  Jet rest = *this, sum(taylor[kOrder]);
  rest.coefficients_[0][0][0] = 0;
  for (int n = kOrder - 1; n >= 0; --n) sum = sum * rest + Jet(taylor[static_cast<size_t>(n)]);
  return sum;
}

Jet operator+(const Jet& a, const Jet& b) {
  Jet c;
  for_orders(
      [&](int i, int j, int k) { c.coefficients_[i][j][k] = a.coefficients_[i][j][k] + b.coefficients_[i][j][k]; });
  return c;
}

Jet operator-(const Jet& a, const Jet& b) { return a + Jet(-1) * b; }

Jet operator*(const Jet& a, const Jet& b) {
  Jet c;
  for_orders([&](int i, int j, int k) {
    for (int p = 0; p <= i; ++p)
      for (int q = 0; q <= j; ++q)
        for (int r = 0; r <= k; ++r)
          c.coefficients_[i][j][k] += a.coefficients_[p][q][r] * b.coefficients_[i - p][j - q][k - r];
  });
  return c;
}

namespace {

struct Setting {
  const Jet &x, &y, &t;
  const JetFields& fields;
  const std::map<std::string, double>& parameters;
};

Jet evaluate_in(const Expression& e, const Setting& in) {
  if (e.kind == ExpressionKind::number) return e.value;
  if (e.kind == ExpressionKind::parameter) return in.parameters.at(e.name);
  if (e.kind == ExpressionKind::field) return in.fields.at(e.name)(in.x, in.y, in.t);
  if (e.kind == ExpressionKind::coordinate)
    return e.axis == Coordinate::x ? in.x : e.axis == Coordinate::y ? in.y : in.t;
  const Jet a = evaluate_in(*e.arguments[0], in);
  if (e.kind == ExpressionKind::derivative) return a.along(e.axis);
  if (e.arguments.size() == 1) return of_one(e.name, a);
  const Jet b = evaluate_in(*e.arguments[1], in);
  if (e.name == "+") return a + b;
  if (e.name == "-") return a - b;
  if (e.name == "*") return a * b;
  if (e.name == "/") return a * reciprocal(b);
  if (e.name == "^") return power_of(a, *e.arguments[1], b);
  if (e.name == "<") return a.value() < b.value();
  if (e.name == ">") return a.value() > b.value();
  if (e.name == "<=") return a.value() <= b.value();
  if (e.name == ">=") return a.value() >= b.value();
  if (e.name == "min") return a.value() < b.value() ? a : b;
  if (e.name == "max") return a.value() > b.value() ? a : b;
  if (e.name == "where") return a.value() != 0 ? b : evaluate_in(*e.arguments[2], in);
  throw std::logic_error("jet of " + e.name);
}

}  // namespace

Jet evaluate(const Expression& e, const Point& at, const JetFields& fields,
             const std::map<std::string, double>& parameters) {
  const auto x = Jet::variable(Coordinate::x, at.x), y = Jet::variable(Coordinate::y, at.y),
             t = Jet::variable(Coordinate::t, at.t);
  return evaluate_in(e, {x, y, t, fields, parameters});
}

std::function<Jet(const Jet& x, const Jet& y, const Jet& t)> as_function(
    const ExpressionPtr& e, const std::map<std::string, double>& parameters) {
  return [=](const Jet& x, const Jet& y, const Jet& t) {
    static const JetFields none;
    return evaluate_in(*e, {x, y, t, none, parameters});
  };
}

}  // namespace piddm::testing
