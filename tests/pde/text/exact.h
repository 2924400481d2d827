#pragma once
// Problems with a solution known beforehand: what the equations, walls and initial state leave of given expressions is
// worked out by rules and written behind their '='.

#include <map>

#include "piddm/language/lowering.h"
#include "piddm/language/parser.h"
#include "tests/pde/text/texts.h"

namespace piddm::testing {

using ExactFields = std::map<std::string, ExpressionPtr>;

inline ExpressionPtr in_coordinates(const std::string& text) {
  const Scope scope = {.space = {Coordinate::x, Coordinate::y}, .time = true};
  const SourceText source{text, "exact"};
  return lower(*parse_expression(source), scope, source);
}

inline ExpressionPtr at_time(const ExpressionPtr& e, double t) {
  if (e->kind == ExpressionKind::coordinate) return e->axis == Coordinate::t ? number(t) : e;
  if (e->arguments.empty()) return e;
  std::vector<ExpressionPtr> arguments;
  for (const auto& argument : e->arguments) arguments.push_back(at_time(argument, t));
  return operation(e->name, arguments);
}

inline ExpressionPtr sum_of(const ExpressionPtr& a, const ExpressionPtr& b) { return operation("+", {a, b}); }
inline ExpressionPtr product_of(const ExpressionPtr& a, const ExpressionPtr& b) { return operation("*", {a, b}); }

/// The text with `exact` as its solution.
inline PdeText with_exact(PdeText text, const ExactFields& exact) {
  for (auto& equation : text.equations) {
    auto left_over = equation.residual();
    for (const auto& [name, e] : exact) left_over = with_field(left_over, name, e);
    equation.right = sum_of(equation.right, without_known_derivatives(left_over));
  }
  for (auto& wall : text.walls) {
    const auto& e = exact.at(wall.field);
    const auto outward = product_of(number(wall.high ? 1 : -1), by_coordinate(e, wall.axis));
    wall.given = sum_of(product_of(wall.value, e), product_of(wall.slope, outward));
  }
  for (auto& state : text.initial) {
    const auto& e = exact.at(state.field);
    state.state = at_time(state.rate ? by_coordinate(e, Coordinate::t) : e, 0);
  }
  return text;
}

/// An expression in coordinates at the points, [X,Y].
inline Tensor values_of(const ExpressionPtr& e, const TextGrid& grid, double t = 0) {
  TextEvaluation evaluate(grid, {}, {}, torch::kFloat64);
  return evaluate(at_time(e, t)).value.expand({grid.axes()[0].points, grid.axes()[1].points});
}

struct ExactProblem {
  std::string toml;
  std::map<std::string, std::string> exact;
};

inline ExactFields expressions_of(const std::map<std::string, std::string>& texts) {
  ExactFields fields;
  for (const auto& [name, text] : texts) fields[name] = in_coordinates(text);
  return fields;
}

/// Intervals of the grid in the text times `factor` in space, `in_time` in time.
inline std::shared_ptr<const TextSystem> refined(PdeText text, int64_t factor, int64_t in_time) {
  std::array<int64_t, 2> points = {1, 1};
  for (auto& axis : text.axes) {
    const bool ends = axis.kind == AxisText::Kind::nodes || axis.kind == AxisText::Kind::time;
    const int64_t times = axis.kind == AxisText::Kind::time ? in_time : factor;
    axis.points = (axis.points - ends) * times + ends;
    if (axis.axis != Coordinate::t) points[axis.axis == Coordinate::x ? 0 : 1] = axis.points;
  }
  return std::make_shared<TextSystem>(text, points);
}

inline Tensor no_coefficients(const TextSystem& system, int64_t batch = 1) {
  return torch::zeros({batch, 0, system.points()[0], system.points()[1]}, torch::kFloat64);
}

/// Largest error of all fields at all points at the last level.
inline double solution_error(const ExactProblem& problem, int64_t factor, int64_t in_time) {
  const auto exact = expressions_of(problem.exact);
  const auto system = refined(with_exact(pde_text(problem.toml), exact), factor, in_time);
  const Tensor u = TextSolver(system).solve(no_coefficients(*system));
  const double end = static_cast<double>(system->levels() - 1) * system->step();
  double worst = 0;
  for (int64_t f = 0; f < system->fields(); ++f) {
    const auto& e = exact.at(system->text().solutions[static_cast<size_t>(f)].name);
    worst = std::max(worst, largest(u[0][f].select(0, -1) - values_of(e, system->grid(), end)));
  }
  return worst;
}

}  // namespace piddm::testing
