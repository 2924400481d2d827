// Wall conditions and the initial state of a PDE file.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "piddm/core/error.h"
#include "piddm/language/reading.h"

namespace piddm::reading {

namespace {

struct Wall {
  Coordinate axis;
  bool high;
};

std::string name_of(const Wall& wall) { return fmt::format("{}_{}", letter(wall.axis), wall.high ? "high" : "low"); }

/// Those that a key of `boundary` stands for: x, x_low, x_high, ..
std::vector<Wall> walls_of(const std::string& key) {
  const auto axis = key[0] == 'x' ? Coordinate::x : Coordinate::y;
  if (key.size() == 1) return {{axis, false}, {axis, true}};
  return {{axis, key.ends_with("high")}};
}

std::vector<std::string> solution_names(const PdeText& pde) {
  std::vector<std::string> names;
  for (const auto& field : pde.solutions) names.push_back(field.name);
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_number(const ExpressionPtr& e) { return e->kind == ExpressionKind::number; }

/// value u + slope dn(u) = given.
WallText read_condition(const SourceText& source, const PdeText& pde) {
  const auto equation = parse_equation(source);
  auto scope = scope_of(pde);
  scope.normal = solution_names(pde);
  scope.without_derivatives = "a wall condition holds a field and its dn(..), no other derivatives";
  const auto residual = operation("-", {lower(*equation.left, scope, source), lower(*equation.right, scope, source)});
  std::vector<std::string> unknowns = scope.normal, held;
  for (const auto& name : scope.normal) unknowns.push_back(normal_derivative(name));
  const auto fields = fields_of(*residual);
  for (const auto& name : scope.normal)
    if (contains(fields, name) || contains(fields, normal_derivative(name))) held.push_back(name);
  const auto at = equation.left->at;
  if (held.empty())
    source.fail(at, fmt::format("a wall condition holds a field or its dn(..); this has none of {}",
                                fmt::join(scope.normal, ", ")));
  if (held.size() > 1)
    source.fail(at, fmt::format("a wall condition holds one field; this has {}", fmt::join(held, " and ")));
  auto parts = linear_in(residual, {field_named(held[0]), field_named(normal_derivative(held[0]))}, unknowns);
  if (parts.empty())
    source.fail(
        at, fmt::format("a wall condition is linear in {0} and dn({0}): value*{0} + slope*dn({0}) = given", held[0]));
  const auto& leading = is_number(parts[0]) && parts[0]->value == 0 ? parts[1] : parts[0];
  if (is_number(leading) && leading->value == 0) source.fail(at, fmt::format("{} cancels", held[0]));
  const bool turned = is_number(leading) && leading->value < 0;
  const auto negative = [](const ExpressionPtr& e) { return operation("-", {e}); };
  return {.field = held[0],
          .value = turned ? negative(parts[0]) : parts[0],
          .slope = turned ? negative(parts[1]) : parts[1],
          .given = turned ? parts[2] : negative(parts[2]),
          .text = source.text};
}

void check_every_wall(const std::vector<WallText>& walls, const PdeText& pde, const std::string& where) {
  for (const auto& axis : pde.axes)
    for (const bool high : {false, true})
      for (const auto& field : pde.solutions) {
        if (axis.kind == AxisText::Kind::periodic || axis.kind == AxisText::Kind::time) continue;
        const bool stated = std::any_of(walls.begin(), walls.end(), [&](const auto& wall) {
          return wall.field == field.name && wall.axis == axis.axis && wall.high == high;
        });
        if (!stated)
          throw UsageError(
              "{0}: {1} has no condition on the wall {2}; write {2} = \"{1} = 0\" (its value), \"dn({1}) = "
              "0\" (its slope outwards) or \"dn({1}) + 2*{1} = 1\", or {3} = \"..\" for both walls",
              where, field.name, name_of({axis.axis, high}), letter(axis.axis));
      }
}

void add_wall(std::vector<WallText>& walls, WallText condition, const Wall& wall, const std::string& where) {
  condition.axis = wall.axis, condition.high = wall.high;
  for (const auto& other : walls)
    if (other.field == condition.field && other.axis == wall.axis && other.high == wall.high)
      throw UsageError("{}: {} has two conditions on the wall {}: \"{}\" and \"{}\"", where, condition.field,
                       name_of(wall), other.text, condition.text);
  walls.push_back(std::move(condition));
}

/// "u = .." or "dt(u) = ..".
InitialText read_state(const SourceText& source, const PdeText& pde) {
  const auto equation = parse_equation(source);
  const auto* left = equation.left.get();
  InitialText initial;
  initial.rate = left->kind == Syntax::Kind::call && left->name == "dt" && left->arguments.size() == 1;
  if (initial.rate) left = left->arguments[0].get();
  const auto names = solution_names(pde);
  if (left->kind != Syntax::Kind::name || !contains(names, left->name))
    source.fail(equation.left->at, fmt::format("an initial state is written {0} = .. or dt({0}) = .., of a field that "
                                               "the PDE is solved for: {1}",
                                               names[0], fmt::join(names, ", ")));
  initial.field = left->name;
  auto scope = scope_of(pde);
  scope.without_time = "the initial state is at t = 0: no t here";
  scope.without_derivatives = "an initial state takes no derivatives on its right";
  initial.state = lower(*equation.right, scope, source);
  for (const auto& name : fields_of(*initial.state))
    if (contains(names, name))
      source.fail(equation.right->at,
                  fmt::format("an initial state holds coefficients, parameters and coordinates, not {}", name));
  return initial;
}

/// How many dt stand around the field at most; -1: it is not there.
int time_order(const Expression& e, const std::string& field) {
  if (e.kind == ExpressionKind::field) return e.name == field ? 0 : -1;
  int order = -1;
  for (const auto& argument : e.arguments) order = std::max(order, time_order(*argument, field));
  return order >= 0 && e.kind == ExpressionKind::derivative && e.axis == Coordinate::t ? order + 1 : order;
}

int time_order(const PdeText& pde, const std::string& field) {
  int order = 0;
  for (const auto& equation : pde.equations) order = std::max(order, time_order(*equation.residual(), field));
  return order;
}

void check_time_derivatives(const PdeText& pde, const std::string& origin) {
  for (size_t i = 0; i < pde.solutions.size(); ++i) {
    const auto& field = pde.solutions[i].name;
    const auto where = place(origin, pde.equations[i].name.empty() ? "equation" : "equations." + field);
    if (time_order(*pde.equations[i].residual(), field) < 1)
      throw UsageError("{0}: no dt({1}) or dtt({1}); with an axis t the equation of each field holds one of them",
                       where, field);
    if (time_order(pde, field) > 2) throw UsageError("{}: more than two derivatives of {} by t", where, field);
  }
}

void check_every_state(const std::vector<InitialText>& initial, const PdeText& pde, const std::string& where) {
  const auto stated = [&](const std::string& field, bool rate) {
    return std::any_of(initial.begin(), initial.end(),
                       [&](const auto& state) { return state.field == field && state.rate == rate; });
  };
  for (const auto& solution : pde.solutions) {
    const auto& field = solution.name;
    const bool second = time_order(pde, field) == 2;
    if (!stated(field, false))
      throw UsageError(
          "{0}: {1} has no initial state; write \"{1} = ..\", such as \"{1} = {1}0\" with a coefficient {1}0", where,
          field);
    if (second && !stated(field, true))
      throw UsageError("{0}: dtt({1}) needs the rate at t = 0 too; write initial = [\"{1} = ..\", \"dt({1}) = 0\"]",
                       where, field);
    if (!second && stated(field, true))
      throw UsageError("{0}: dt({1}) at t = 0 belongs to equations with dtt({1})", where, field);
  }
}

}  // namespace

std::vector<WallText> read_walls(const json& boundary, const PdeText& pde, const std::string& origin) {
  const auto where = place(origin, "boundary");
  std::vector<WallText> walls;
  if (!boundary.is_null()) {
    std::vector<std::string> known;
    for (const auto& axis : pde.axes)
      if (axis.axis != Coordinate::t)
        for (const char* const end : {"", "_low", "_high"}) known.push_back(letter(axis.axis) + std::string(end));
    check_keys(boundary, known, where, "wall");
    for (const auto& [key, value] : boundary.items()) {
      const auto at = walls_of(key);
      if (pde.axis(at[0].axis)->kind == AxisText::Kind::periodic)
        throw UsageError("{}: the axis {} is periodic and has no walls; leave out '{}'", where, letter(at[0].axis),
                         key);
      for (const auto& source : texts_at(value, where + "." + key)) {
        const auto condition = read_condition(source, pde);
        for (const auto& wall : at) add_wall(walls, condition, wall, where);
      }
    }
  }
  check_every_wall(walls, pde, where);
  return walls;
}

std::vector<InitialText> read_initial(const json& initial, const PdeText& pde, const std::string& origin) {
  const auto where = place(origin, "initial");
  if (!pde.axis(Coordinate::t)) {
    require<UsageError>(initial.is_null(), "{}: a problem without an axis t has no initial state", where);
    return {};
  }
  check_time_derivatives(pde, origin);
  std::vector<InitialText> states;
  if (!initial.is_null())
    for (const auto& source : texts_at(initial, where)) {
      auto state = read_state(source, pde);
      for (const auto& other : states)
        if (other.field == state.field && other.rate == state.rate)
          throw UsageError("{}: the {} of {} is given twice", where, state.rate ? "rate" : "state", state.field);
      states.push_back(std::move(state));
    }
  check_every_state(states, pde, where);
  return states;
}

}  // namespace piddm::reading
