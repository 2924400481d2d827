#include "piddm/language/expression.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "piddm/core/error.h"
#include "piddm/core/fields.h"

namespace piddm {

namespace {

using Arguments = std::vector<ExpressionPtr>;
using Numbers = std::vector<double>;

struct Operation {
  int least, most;  ///< arguments
  double (*value)(const Numbers&);
};

const std::map<std::string, Operation>& operations() {
  using V = const Numbers&;
  static const std::map<std::string, Operation> table = {
      {"+", {2, 2, [](V v) { return v[0] + v[1]; }}},
      {"-", {1, 2, [](V v) { return v.size() == 1 ? -v[0] : v[0] - v[1]; }}},
      {"*", {2, 2, [](V v) { return v[0] * v[1]; }}},
      {"/", {2, 2, [](V v) { return v[0] / v[1]; }}},
      {"^", {2, 2, [](V v) { return std::pow(v[0], v[1]); }}},
      {"<", {2, 2, [](V v) { return v[0] < v[1] ? 1.0 : 0.0; }}},
      {">", {2, 2, [](V v) { return v[0] > v[1] ? 1.0 : 0.0; }}},
      {"<=", {2, 2, [](V v) { return v[0] <= v[1] ? 1.0 : 0.0; }}},
      {">=", {2, 2, [](V v) { return v[0] >= v[1] ? 1.0 : 0.0; }}},
      {"where", {3, 3, [](V v) { return v[0] != 0 ? v[1] : v[2]; }}},
      {"min", {2, 2, [](V v) { return std::min(v[0], v[1]); }}},
      {"max", {2, 2, [](V v) { return std::max(v[0], v[1]); }}},
      {"exp", {1, 1, [](V v) { return std::exp(v[0]); }}},
      {"log", {1, 1, [](V v) { return std::log(v[0]); }}},
      {"sqrt", {1, 1, [](V v) { return std::sqrt(v[0]); }}},
      {"abs", {1, 1, [](V v) { return std::abs(v[0]); }}},
      {"sin", {1, 1, [](V v) { return std::sin(v[0]); }}},
      {"cos", {1, 1, [](V v) { return std::cos(v[0]); }}},
      {"tan", {1, 1, [](V v) { return std::tan(v[0]); }}},
      {"sinh", {1, 1, [](V v) { return std::sinh(v[0]); }}},
      {"cosh", {1, 1, [](V v) { return std::cosh(v[0]); }}},
      {"tanh", {1, 1, [](V v) { return std::tanh(v[0]); }}},
      {"sign", {1, 1, [](V v) { return v[0] > 0   ? 1.0
                                       : v[0] < 0 ? -1.0
                                                  : 0.0; }}},
      {"step", {1, 1, [](V v) { return v[0] < 0 ? 0.0 : 1.0; }}},
      {"harmonic", {1, 1, [](V v) { return v[0]; }}},
  };
  return table;
}

bool is_number(const ExpressionPtr& e) { return e->kind == ExpressionKind::number; }
bool is_number(const ExpressionPtr& e, double value) { return is_number(e) && e->value == value; }
bool is_negative(const ExpressionPtr& e) {
  return e->kind == ExpressionKind::operation && e->name == "-" && e->arguments.size() == 1;
}

/// The number that an operation on numbers is, or null.
ExpressionPtr folded(const Operation& operation, const Arguments& arguments) {
  Numbers values;
  for (const auto& argument : arguments) {
    if (!is_number(argument)) return nullptr;
    values.push_back(argument->value);
  }
  const double value = operation.value(values);
  return std::isfinite(value) ? number(value + 0.0) : nullptr;  // + 0.0: no negative zero
}

/// A simpler tree of the same value, or null.
ExpressionPtr simplified(const std::string& name, const Arguments& of) {
  if (name == "where" && is_number(of[0])) return of[0]->value != 0 ? of[1] : of[2];
  if (name == "where" && is_number(of[1]) && is_number(of[2], of[1]->value)) return of[1];
  if (name == "-" && of.size() == 1) return is_negative(of[0]) ? of[0]->arguments[0] : nullptr;
  if (of.size() != 2) return nullptr;
  const auto &a = of[0], &b = of[1];
  if (name == "+") return is_number(a, 0) ? b : is_number(b, 0) ? a : nullptr;
  if (name == "-") return is_number(b, 0) ? a : is_number(a, 0) ? operation("-", {b}) : nullptr;
  if (name == "*") {
    if (is_number(a, 0) || is_number(b, 0)) return number(0);
    return is_number(a, 1) ? b : is_number(b, 1) ? a : nullptr;
  }
  if (name == "/") return is_number(b, 1) ? a : is_number(a, 0) && !is_number(b, 0) ? a : nullptr;
  if (name == "^") return is_number(b, 1) ? a : is_number(b, 0) ? number(1) : nullptr;
  return nullptr;
}

void collect(const Expression& e, ExpressionKind kind, std::vector<std::string>& names) {
  if (e.kind == kind && std::find(names.begin(), names.end(), e.name) == names.end()) names.push_back(e.name);
  for (const auto& argument : e.arguments) collect(*argument, kind, names);
}

}  // namespace

ExpressionPtr number(double value) {
  return std::make_shared<Expression>(Expression{.kind = ExpressionKind::number, .value = value});
}

ExpressionPtr parameter_named(const std::string& name) {
  return std::make_shared<Expression>(Expression{.kind = ExpressionKind::parameter, .name = name});
}

ExpressionPtr coordinate_along(Coordinate axis) {
  return std::make_shared<Expression>(Expression{.kind = ExpressionKind::coordinate, .axis = axis});
}

ExpressionPtr field_named(const std::string& name) {
  return std::make_shared<Expression>(Expression{.kind = ExpressionKind::field, .name = name});
}

std::pair<int, int> arguments_of_operation(const std::string& name) {
  const auto found = operations().find(name);
  return found == operations().end() ? std::pair{0, 0} : std::pair{found->second.least, found->second.most};
}

ExpressionPtr operation(const std::string& name, std::vector<ExpressionPtr> arguments) {
  const auto found = operations().find(name);
  if (found == operations().end()) {
    std::vector<std::string> known;
    for (const auto& [each, unused] : operations()) known.push_back(each);
    throw UsageError("{}", unknown_name_message("operation", name, known));
  }
  const auto& [least, most, unused] = found->second;
  const auto count = static_cast<int>(arguments.size());
  if (count < least || count > most)
    throw UsageError("{} takes {} argument{}, got {}", name, most, most == 1 ? "" : "s", count);
  if (auto value = folded(found->second, arguments)) return value;
  if (auto simple = simplified(name, arguments)) return simple;
  return std::make_shared<Expression>(
      Expression{.kind = ExpressionKind::operation, .name = name, .arguments = std::move(arguments)});
}

ExpressionPtr derivative(ExpressionPtr of, Coordinate axis) {
  if (is_number(of) || of->kind == ExpressionKind::parameter) return number(0);
  return std::make_shared<Expression>(
      Expression{.kind = ExpressionKind::derivative, .axis = axis, .arguments = {std::move(of)}});
}

bool equal(const Expression& a, const Expression& b) {
  if (&a == &b) return true;
  if (a.kind != b.kind || a.arguments.size() != b.arguments.size()) return false;
  switch (a.kind) {
    case ExpressionKind::number:
      return a.value == b.value;
    case ExpressionKind::coordinate:
      return a.axis == b.axis;
    case ExpressionKind::derivative:
      return a.axis == b.axis && equal(*a.arguments[0], *b.arguments[0]);
    default:
      return a.name == b.name && std::equal(a.arguments.begin(), a.arguments.end(), b.arguments.begin(),
                                            [](const auto& one, const auto& other) { return equal(*one, *other); });
  }
}

std::vector<std::string> fields_of(const Expression& e) {
  std::vector<std::string> names;
  collect(e, ExpressionKind::field, names);
  return names;
}

std::vector<std::string> parameters_of(const Expression& e) {
  std::vector<std::string> names;
  collect(e, ExpressionKind::parameter, names);
  return names;
}

bool has_derivative(const Expression& e, Coordinate axis) { return derivative_depth(e, axis) > 0; }

int derivative_depth(const Expression& e, Coordinate axis) {
  int depth = 0;
  for (const auto& argument : e.arguments) depth = std::max(depth, derivative_depth(*argument, axis));
  return depth + (e.kind == ExpressionKind::derivative && e.axis == axis ? 1 : 0);
}

}  // namespace piddm
