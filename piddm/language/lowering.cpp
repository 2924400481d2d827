#include "piddm/language/lowering.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numbers>
#include <unordered_map>

#include "piddm/core/error.h"
#include "piddm/core/fields.h"

namespace piddm {

namespace {

using Kind = Syntax::Kind;

/// A scalar, or the components of a vector.
struct Value {
  std::vector<ExpressionPtr> parts;
  bool vector = false;
};

const char* type_of(const Value& value) { return value.vector ? "a vector" : "a scalar"; }

struct Derivatives {
  std::string name;
  std::vector<Coordinate> along;  ///< the inner one first
};

const std::vector<Derivatives>& derivative_operators() {
  using enum Coordinate;
  static const std::vector<Derivatives> operators = {{"dt", {t}},     {"dtt", {t, t}}, {"dx", {x}},    {"dy", {y}},
                                                     {"dxx", {x, x}}, {"dxy", {y, x}}, {"dyy", {y, y}}};
  return operators;
}

const std::vector<std::string>& function_names() {
  static const std::vector<std::string> names = {"where", "min", "max",  "exp",  "log",  "sqrt", "abs",  "sin",
                                                 "cos",   "tan", "sinh", "cosh", "tanh", "sign", "step", "harmonic"};
  return names;
}

/// What the language calls what others call so.
std::string usual_name(const std::string& name) {
  static const std::map<std::string, std::string> names = {
      {"laplace", "lap"},   {"laplacian", "lap"},  {"Laplace", "lap"}, {"nabla", "grad"},
      {"gradient", "grad"}, {"divergence", "div"}, {"ln", "log"},      {"heaviside", "step"},
      {"if", "where"},      {"fabs", "abs"},       {"normal", "dn"},   {"inner", "dot"}};
  const auto found = names.find(name);
  return found == names.end() ? "" : found->second;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const char* letter(Coordinate axis) { return axis == Coordinate::x ? "x" : axis == Coordinate::y ? "y" : "t"; }

class Lowering {
 public:
  Lowering(const Scope& scope, const SourceText& source) : scope_(scope), source_(source) {}

  Value of(const Syntax& e) {
    auto value = unchecked(e);
    for (const auto& part : value.parts)
      if (nodes(part) > kMaxExpressionNodes)
        source_.fail(e.at, fmt::format("more than {} parts once its operators are written out", kMaxExpressionNodes));
    return value;
  }

  ExpressionPtr scalar(const Syntax& e) {
    auto value = of(e);
    if (value.vector) source_.fail(e.at, "expected a scalar, got a vector");
    return value.parts[0];
  }

 private:
  Value unchecked(const Syntax& e) {
    switch (e.kind) {
      case Kind::number:
        return {{number(e.value)}};
      case Kind::name:
        return {{named(e)}};
      case Kind::negative:
        return each(of(*e.arguments[0]), [&](const ExpressionPtr& part) { return apply("-", {part}, e.at); });
      case Kind::binary:
        return binary(e);
      case Kind::call:
        return call(e);
      default:
        return vector(e);
    }
  }

  /// Of the tree, what is shared counted each time.
  size_t nodes(const ExpressionPtr& e) {
    if (const auto found = nodes_.find(e); found != nodes_.end()) return found->second;
    size_t count = 1;
    for (const auto& argument : e->arguments) count = std::min(count + nodes(argument), 2 * kMaxExpressionNodes);
    return nodes_[e] = count;
  }

  template <class Function>
  static Value each(Value value, const Function& function) {
    for (auto& part : value.parts) part = function(part);
    return value;
  }

  ExpressionPtr apply(const std::string& name, std::vector<ExpressionPtr> arguments, size_t at) const {
    const bool numbers = std::all_of(arguments.begin(), arguments.end(),
                                     [](const auto& e) { return e->kind == ExpressionKind::number; });
    auto e = operation(name, std::move(arguments));
    if (numbers && e->kind != ExpressionKind::number)
      source_.fail(at, fmt::format("the value of '{}' is no finite number here", name));
    return e;
  }

  void require_axis(Coordinate axis, size_t at) const {
    const bool there = axis == Coordinate::t
                           ? scope_.time
                           : std::find(scope_.space.begin(), scope_.space.end(), axis) != scope_.space.end();
    if (!there) source_.fail(at, fmt::format("this PDE has no axis {}", letter(axis)));
  }

  ExpressionPtr named(const Syntax& e) const {
    if (e.name == "pi") return number(std::numbers::pi);
    for (const auto axis : {Coordinate::x, Coordinate::y, Coordinate::t})
      if (e.name == letter(axis)) {
        require_axis(axis, e.at);
        if (axis == Coordinate::t && !scope_.without_time.empty()) source_.fail(e.at, scope_.without_time);
        return coordinate_along(axis);
      }
    if (const auto found = scope_.names.find(e.name); found != scope_.names.end())
      return found->second == ExpressionKind::parameter ? parameter_named(e.name) : field_named(e.name);
    if (is_reserved_name(e.name)) source_.fail(e.at, fmt::format("{0} is a function: write {0}(..)", e.name));
    source_.fail(e.at, unknown_name_message("name", e.name, usable_names()));
  }

  std::vector<std::string> usable_names() const {
    std::vector<std::string> names;
    for (const auto& [name, unused] : scope_.names) names.push_back(name);
    for (const auto axis : scope_.space) names.emplace_back(letter(axis));
    if (scope_.time && scope_.without_time.empty()) names.emplace_back("t");
    names.emplace_back("pi");
    return names;
  }

  Value vector(const Syntax& e) {
    if (e.arguments.size() != scope_.space.size())
      source_.fail(e.at,
                   fmt::format("a vector of this PDE has {}, got {}",
                               scope_.space.size() == 1 ? "one component" : "two components", e.arguments.size()));
    Value value{{}, true};
    for (const auto& argument : e.arguments) value.parts.push_back(scalar(*argument));
    return value;
  }

  Value binary(const Syntax& e) {
    const auto& sign = e.name;
    auto a = of(*e.arguments[0]), b = of(*e.arguments[1]);
    if (sign == "+" || sign == "-") {
      if (a.vector != b.vector)
        source_.fail(e.at,
                     fmt::format("'{}' takes two scalars or two vectors, got {} and {}", sign, type_of(a), type_of(b)));
      for (size_t i = 0; i < a.parts.size(); ++i) a.parts[i] = apply(sign, {a.parts[i], b.parts[i]}, e.at);
      return a;
    }
    if (!a.vector && !b.vector) return {{apply(sign, {a.parts[0], b.parts[0]}, e.at)}};
    if (sign == "*" && a.vector && b.vector) source_.fail(e.at, "a product of two vectors is written dot(v, w)");
    if (sign == "*" && b.vector)
      return each(std::move(b), [&](const auto& part) { return apply("*", {a.parts[0], part}, e.at); });
    if ((sign == "*" || sign == "/") && !b.vector)
      return each(std::move(a), [&](const auto& part) { return apply(sign, {part, b.parts[0]}, e.at); });
    if (sign == "^" && a.vector) source_.fail(e.at, "'^' takes a scalar, got a vector: write dot(v, v)");
    source_.fail(e.at, fmt::format("'{}' takes scalars, got {} and {}", sign, type_of(a), type_of(b)));
  }

  Value call(const Syntax& e) {
    const auto& name = e.name;
    if (contains(function_names(), name)) return function(e);
    const auto& derivatives = derivative_operators();
    const auto found =
        std::find_if(derivatives.begin(), derivatives.end(), [&](const auto& d) { return d.name == name; });
    const bool is_derivative = found != derivatives.end() || name == "lap" || name == "grad" || name == "div";
    if (is_derivative && !scope_.without_derivatives.empty()) source_.fail(e.at, scope_.without_derivatives);
    if (found != derivatives.end()) {
      for (const auto axis : found->along) require_axis(axis, e.at);
      auto of = only_scalar(e);
      for (const auto axis : found->along) of = derivative(of, axis);
      return {{of}};
    }
    if (name == "grad") return gradient(only_scalar(e));
    if (name == "lap") return divergence(gradient(only_scalar(e)), e.at);
    if (name == "div") {
      auto of = only(e);
      if (!of.vector) source_.fail(e.at, "div takes a vector, got a scalar: write div(a*grad(u))");
      return divergence(of, e.at);
    }
    if (name == "dot") return dot(e);
    if (name == "dn") return normal(e);
    refuse_call(e);
  }

  [[noreturn]] void refuse_call(const Syntax& e) const {
    if (scope_.names.contains(e.name) || (is_reserved_name(e.name)))
      source_.fail(e.at, fmt::format("{0} is no function: a product is written {0}*(..)", e.name));
    auto known = function_names();
    for (const auto& d : derivative_operators()) known.push_back(d.name);
    for (const char* const other : {"lap", "grad", "div", "dot"}) known.emplace_back(other);
    if (!scope_.normal.empty()) known.emplace_back("dn");
    const auto usual = usual_name(e.name);
    source_.fail(e.at, usual.empty() ? unknown_name_message("function", e.name, known)
                                     : fmt::format("unknown function '{}'; did you mean '{}'?", e.name, usual));
  }

  void require_arguments(const Syntax& e, size_t count) const {
    if (e.arguments.size() != count)
      source_.fail(e.at, fmt::format("{} takes {} argument{}, got {}", e.name, count, count == 1 ? "" : "s",
                                     e.arguments.size()));
  }

  Value only(const Syntax& e) {
    require_arguments(e, 1);
    return of(*e.arguments[0]);
  }

  ExpressionPtr only_scalar(const Syntax& e) {
    auto value = only(e);
    if (value.vector) source_.fail(e.at, fmt::format("{} takes a scalar, got a vector", e.name));
    return value.parts[0];
  }

  Value gradient(const ExpressionPtr& e) const {
    Value value{{}, true};
    for (const auto axis : scope_.space) value.parts.push_back(derivative(e, axis));
    return value;
  }

  Value divergence(const Value& of, size_t at) const {
    ExpressionPtr sum = number(0);
    for (size_t i = 0; i < of.parts.size(); ++i) sum = apply("+", {sum, derivative(of.parts[i], scope_.space[i])}, at);
    return {{sum}};
  }

  Value dot(const Syntax& e) {
    require_arguments(e, 2);
    const auto a = of(*e.arguments[0]), b = of(*e.arguments[1]);
    if (!a.vector || !b.vector)
      source_.fail(e.at, fmt::format("dot takes two vectors, got {} and {}", type_of(a), type_of(b)));
    ExpressionPtr sum = number(0);
    for (size_t i = 0; i < a.parts.size(); ++i)
      sum = apply("+", {sum, apply("*", {a.parts[i], b.parts[i]}, e.at)}, e.at);
    return {{sum}};
  }

  Value normal(const Syntax& e) const {
    if (scope_.normal.empty()) source_.fail(e.at, "dn stands in wall conditions only");
    require_arguments(e, 1);
    const auto& of = *e.arguments[0];
    if (of.kind != Kind::name || !contains(scope_.normal, of.name))
      source_.fail(of.at,
                   fmt::format("dn takes a field that the PDE is solved for: {}", fmt::join(scope_.normal, ", ")));
    return {{field_named(normal_derivative(of.name))}};
  }

  Value function(const Syntax& e) {
    require_arguments(e, static_cast<size_t>(arguments_of_operation(e.name).second));
    std::vector<ExpressionPtr> arguments;
    for (const auto& argument : e.arguments) {
      const auto value = of(*argument);
      if (value.vector) source_.fail(argument->at, fmt::format("{} takes scalars, got a vector", e.name));
      arguments.push_back(value.parts[0]);
    }
    return {{apply(e.name, std::move(arguments), e.at)}};
  }

  const Scope& scope_;
  const SourceText& source_;
  std::unordered_map<ExpressionPtr, size_t> nodes_;
};

}  // namespace

std::string normal_derivative(const std::string& field) { return "dn(" + field + ")"; }

ExpressionPtr lower(const Syntax& e, const Scope& scope, const SourceText& source) {
  return Lowering(scope, source).scalar(e);
}

bool is_reserved_name(const std::string& name) {
  static const std::vector<std::string> others = {"lap", "grad", "div", "dot", "dn", "x", "y", "t", "pi"};
  return contains(function_names(), name) || contains(others, name) ||
         std::any_of(derivative_operators().begin(), derivative_operators().end(),
                     [&](const auto& d) { return d.name == name; });
}

}  // namespace piddm
