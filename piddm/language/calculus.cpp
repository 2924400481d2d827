// Derivatives, substitution and linear parts of expressions.

#include <algorithm>

#include "piddm/core/error.h"
#include "piddm/language/expression.h"

namespace piddm {

namespace {

using Arguments = std::vector<ExpressionPtr>;

ExpressionPtr plus(const ExpressionPtr& a, const ExpressionPtr& b) { return operation("+", {a, b}); }
ExpressionPtr minus(const ExpressionPtr& a, const ExpressionPtr& b) { return operation("-", {a, b}); }
ExpressionPtr negative(const ExpressionPtr& a) { return operation("-", {a}); }
ExpressionPtr times(const ExpressionPtr& a, const ExpressionPtr& b) { return operation("*", {a, b}); }
ExpressionPtr over(const ExpressionPtr& a, const ExpressionPtr& b) { return operation("/", {a, b}); }
ExpressionPtr power(const ExpressionPtr& a, const ExpressionPtr& b) { return operation("^", {a, b}); }
ExpressionPtr call(const std::string& name, const ExpressionPtr& a) { return operation(name, {a}); }

bool is_zero(const ExpressionPtr& e) { return e->kind == ExpressionKind::number && e->value == 0; }
bool is_operation(const Expression& e, const char* name, size_t arguments) {
  return e.kind == ExpressionKind::operation && e.name == name && e.arguments.size() == arguments;
}

/// The tree with other arguments.
ExpressionPtr rebuilt(const Expression& e, Arguments arguments) {
  if (e.kind == ExpressionKind::derivative) return derivative(std::move(arguments[0]), e.axis);
  return operation(e.name, std::move(arguments));
}

/// d f(a) / da of an operation with one argument.
ExpressionPtr outer_derivative(const ExpressionPtr& e) {
  const auto& a = e->arguments[0];
  const auto& name = e->name;
  if (name == "-") return number(-1);
  if (name == "harmonic") return number(1);
  if (name == "exp") return e;
  if (name == "log") return over(number(1), a);
  if (name == "sqrt") return over(number(0.5), e);
  if (name == "abs") return call("sign", a);
  if (name == "sin") return call("cos", a);
  if (name == "cos") return negative(call("sin", a));
  if (name == "tan") return plus(number(1), power(e, number(2)));
  if (name == "sinh") return call("cosh", a);
  if (name == "cosh") return call("sinh", a);
  if (name == "tanh") return minus(number(1), power(e, number(2)));
  if (name == "sign" || name == "step") return number(0);
  throw UsageError("{} has no derivative", name);
}

/// By the chain rule, from the derivatives of the arguments.
ExpressionPtr chain(const ExpressionPtr& e, const Arguments& d) {
  if (std::all_of(d.begin(), d.end(), is_zero)) return number(0);
  const auto& of = e->arguments;
  const auto& name = e->name;
  if (of.size() == 1)
    return name == "-" ? negative(d[0]) : name == "harmonic" ? d[0] : times(outer_derivative(e), d[0]);
  if (name == "+") return plus(d[0], d[1]);
  if (name == "-") return minus(d[0], d[1]);
  if (name == "*") return plus(times(d[0], of[1]), times(of[0], d[1]));
  if (name == "/") return minus(over(d[0], of[1]), over(times(of[0], d[1]), power(of[1], number(2))));
  if (name == "^") {
    const auto base = times(times(of[1], power(of[0], minus(of[1], number(1)))), d[0]);
    return is_zero(d[1]) ? base : plus(base, times(times(e, call("log", of[0])), d[1]));
  }
  if (name == "where") return operation("where", {of[0], d[1], d[2]});
  if (name == "min") return operation("where", {operation("<", {of[0], of[1]}), d[0], d[1]});
  if (name == "max") return operation("where", {operation(">", {of[0], of[1]}), d[0], d[1]});
  if (name == "<" || name == ">" || name == "<=" || name == ">=") return number(0);
  throw UsageError("{} has no derivative", name);
}

ExpressionPtr by_field(const ExpressionPtr& e, const std::string& field) {
  switch (e->kind) {
    case ExpressionKind::field:
      return number(e->name == field ? 1 : 0);
    case ExpressionKind::operation: {
      Arguments d;
      for (const auto& argument : e->arguments) d.push_back(by_field(argument, field));
      return chain(e, d);
    }
    default:
      return number(0);
  }
}

/// c_1, .., c_n, rest of e = sum_i c_i d_i + rest, or none.
class LinearParts {
 public:
  LinearParts(const Arguments& parts, const std::vector<std::string>& unknowns) : parts_(parts), unknowns_(unknowns) {}

  Arguments of(const ExpressionPtr& e) const {
    for (size_t i = 0; i < parts_.size(); ++i)
      if (equal(*e, *parts_[i])) {
        auto unit = only_rest(number(0));
        unit[i] = number(1);
        return unit;
      }
    if (is_known(*e)) return only_rest(e);
    if (e->kind != ExpressionKind::operation) return {};
    return of_operation(*e);
  }

 private:
  Arguments only_rest(const ExpressionPtr& rest) const {
    Arguments terms(parts_.size() + 1, number(0));
    terms.back() = rest;
    return terms;
  }

  bool is_known(const Expression& e) const {
    if (e.kind == ExpressionKind::field)
      return std::find(unknowns_.begin(), unknowns_.end(), e.name) == unknowns_.end();
    return std::all_of(e.arguments.begin(), e.arguments.end(), [&](const auto& a) { return is_known(*a); }) &&
           std::none_of(parts_.begin(), parts_.end(), [&](const auto& part) { return equal(e, *part); });
  }

  template <class Combine>
  Arguments each(const ExpressionPtr& a, const Combine& combine) const {
    auto terms = of(a);
    for (auto& term : terms) term = combine(term);
    return terms;
  }

  template <class Combine>
  Arguments both(const ExpressionPtr& a, const ExpressionPtr& b, const Combine& combine) const {
    auto first = of(a);
    const auto second = of(b);
    if (first.empty() || second.empty()) return {};
    for (size_t i = 0; i < first.size(); ++i) first[i] = combine(first[i], second[i]);
    return first;
  }

  Arguments of_operation(const Expression& e) const {
    const auto& of = e.arguments;
    if (is_operation(e, "-", 1)) return each(of[0], negative);
    if (is_operation(e, "+", 2)) return both(of[0], of[1], plus);
    if (is_operation(e, "-", 2)) return both(of[0], of[1], minus);
    if (is_operation(e, "*", 2) && is_known(*of[0]))
      return each(of[1], [&](const ExpressionPtr& term) { return times(of[0], term); });
    if (is_operation(e, "*", 2) && is_known(*of[1]))
      return each(of[0], [&](const ExpressionPtr& term) { return times(term, of[1]); });
    if (is_operation(e, "/", 2) && is_known(*of[1]))
      return each(of[0], [&](const ExpressionPtr& term) { return over(term, of[1]); });
    if (is_operation(e, "where", 3) && is_known(*of[0]))
      return both(of[1], of[2], [&](const ExpressionPtr& a, const ExpressionPtr& b) {
        return operation("where", {of[0], a, b});
      });
    return {};
  }

  const Arguments& parts_;
  const std::vector<std::string>& unknowns_;
};

}  // namespace

ExpressionPtr by_field(const Expression& e, const std::string& field) {
  return by_field(std::make_shared<Expression>(e), field);
}

ExpressionPtr by_coordinate(const ExpressionPtr& e, Coordinate axis) {
  switch (e->kind) {
    case ExpressionKind::field:
      throw UsageError("the field {} has no derivative by rules", e->name);
    case ExpressionKind::coordinate:
      return number(e->axis == axis ? 1 : 0);
    case ExpressionKind::derivative:
      return by_coordinate(by_coordinate(e->arguments[0], e->axis), axis);
    case ExpressionKind::operation: {
      const auto plain = without_known_derivatives(e);
      if (plain->kind != ExpressionKind::operation) return by_coordinate(plain, axis);
      Arguments d;
      for (const auto& argument : plain->arguments) d.push_back(by_coordinate(argument, axis));
      return chain(plain, d);
    }
    default:
      return number(0);
  }
}

ExpressionPtr without_known_derivatives(const ExpressionPtr& e) {
  if (e->arguments.empty()) return e;
  Arguments arguments;
  for (const auto& argument : e->arguments) arguments.push_back(without_known_derivatives(argument));
  if (e->kind == ExpressionKind::derivative && fields_of(*arguments[0]).empty())
    return by_coordinate(arguments[0], e->axis);
  return arguments == e->arguments ? e : rebuilt(*e, std::move(arguments));
}

ExpressionPtr with_field(const ExpressionPtr& e, const std::string& field, const ExpressionPtr& by) {
  if (e->kind == ExpressionKind::field) return e->name == field ? by : e;
  if (e->arguments.empty()) return e;
  Arguments arguments;
  for (const auto& argument : e->arguments) arguments.push_back(with_field(argument, field, by));
  return arguments == e->arguments ? e : rebuilt(*e, std::move(arguments));
}

std::vector<ExpressionPtr> linear_in(const ExpressionPtr& e, const std::vector<ExpressionPtr>& parts,
                                     const std::vector<std::string>& unknowns) {
  return LinearParts(parts, unknowns).of(e);
}

}  // namespace piddm
