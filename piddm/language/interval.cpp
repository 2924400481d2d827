#include "piddm/language/interval.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

namespace piddm {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Interval kAnything = {-kInfinity, kInfinity};

/// 0 * infinity: the infinite end is never reached.
double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

Interval hull(std::initializer_list<double> values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  if (std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); })) return kAnything;
  return {*low, *high};
}

Interval sum(const Interval& a, const Interval& b) { return {a.low + b.low, a.high + b.high}; }
Interval negative(const Interval& a) { return {-a.high, -a.low}; }

Interval product(const Interval& a, const Interval& b) {
  return hull({times(a.low, b.low), times(a.low, b.high), times(a.high, b.low), times(a.high, b.high)});
}

Interval quotient(const Interval& a, const Interval& b) {
  if (b.low <= 0 && b.high >= 0) {
    if (b.low == 0 && b.high > 0) return product(a, {1 / b.high, kInfinity});
    return kAnything;
  }
  return product(a, {1 / b.high, 1 / b.low});
}

Interval power(const Interval& a, const Interval& b) {
  if (b.low == b.high && b.low == std::floor(b.low) && b.low > 0) {
    const double n = b.low, low = std::pow(a.low, n), high = std::pow(a.high, n);
    if (std::fmod(n, 2) != 0) return {low, high};
    return {a.low <= 0 && a.high >= 0 ? 0 : std::min(low, high), std::max(low, high)};
  }
  if (a.low < 0) return kAnything;
  return hull({std::pow(a.low, b.low), std::pow(a.low, b.high), std::pow(a.high, b.low), std::pow(a.high, b.high)});
}

template <class Function>
Interval increasing(const Interval& a, const Function& function) {
  return {function(a.low), function(a.high)};
}

Interval absolute(const Interval& a) {
  const double low = std::abs(a.low), high = std::abs(a.high);
  return {a.low <= 0 && a.high >= 0 ? 0 : std::min(low, high), std::max(low, high)};
}

Interval of_one(const std::string& name, const Interval& a) {
  if (name == "-") return negative(a);
  if (name == "harmonic") return a;
  if (name == "exp") return increasing(a, [](double v) { return std::exp(v); });
  if (name == "log") return a.low < 0 ? kAnything : increasing(a, [](double v) { return std::log(v); });
  if (name == "sqrt")
    return increasing({std::max(a.low, 0.0), std::max(a.high, 0.0)}, [](double v) { return std::sqrt(v); });
  if (name == "abs") return absolute(a);
  if (name == "sin" || name == "cos") return {-1, 1};
  if (name == "sinh") return increasing(a, [](double v) { return std::sinh(v); });
  if (name == "cosh") return increasing(absolute(a), [](double v) { return std::cosh(v); });
  if (name == "tanh") return increasing(a, [](double v) { return std::tanh(v); });
  if (name == "sign") return increasing(a, [](double v) { return v > 0 ? 1.0 : v < 0 ? -1.0 : 0.0; });
  if (name == "step") return increasing(a, [](double v) { return v < 0 ? 0.0 : 1.0; });
  return kAnything;
}

Interval of_two(const std::string& name, const Interval& a, const Interval& b) {
  if (name == "+") return sum(a, b);
  if (name == "-") return sum(a, negative(b));
  if (name == "*") return product(a, b);
  if (name == "/") return quotient(a, b);
  if (name == "^") return power(a, b);
  if (name == "min") return {std::min(a.low, b.low), std::min(a.high, b.high)};
  if (name == "max") return {std::max(a.low, b.low), std::max(a.high, b.high)};
  return {0, 1};  // comparisons
}

template <class Map, class Key>
Interval found(const Map& map, const Key& key) {
  const auto at = map.find(key);
  return at == map.end() ? kAnything : at->second;
}

}  // namespace

Interval range_of(const Expression& e, const Ranges& ranges) {
  switch (e.kind) {
    case ExpressionKind::number:
      return {e.value, e.value};
    case ExpressionKind::coordinate:
      return found(ranges.axes, e.axis);
    case ExpressionKind::parameter:
    case ExpressionKind::field:
      return found(ranges.names, e.name);
    case ExpressionKind::derivative:
      return kAnything;
    default:
      break;
  }
  const auto a = range_of(*e.arguments[0], ranges);
  if (e.arguments.size() == 1) return of_one(e.name, a);
  const auto b = range_of(*e.arguments[1], ranges);
  if (e.arguments.size() == 2) return of_two(e.name, a, b);
  const auto c = range_of(*e.arguments[2], ranges);
  return {std::min(b.low, c.low), std::max(b.high, c.high)};
}

}  // namespace piddm
