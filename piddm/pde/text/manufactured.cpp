#include "piddm/pde/text/manufactured.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "piddm/core/error.h"

namespace piddm {
namespace {

constexpr double kWaves = 0.6;         // periods along an axis with walls
constexpr double kTimeWaves = 0.25;    // and of time
constexpr double kMostGrowth = 10;     // of small errors over the time that is solved for
constexpr double kDisturbance = 1e-6;  // of a wave, for measuring it
constexpr double kShortening = 0.25;   // of a duration over which they grow more
constexpr int kMostShortenings = 8;
constexpr int64_t kCoarsest = 16;

// Grids over the coarsest one: of one axis or one steady field; of more; with four derivatives in x, y and t.
constexpr std::array kSteps = {1.0, 2.0, 4.0, 8.0};
constexpr std::array kSmallSteps = {1.0, 1.5, 2.25, 3.5};
constexpr std::array kSmallestSteps = {1.0, 1.25, 1.5, 2.0};

ExpressionPtr plus(const ExpressionPtr& a, const ExpressionPtr& b) { return operation("+", {a, b}); }
ExpressionPtr times(const ExpressionPtr& a, const ExpressionPtr& b) { return operation("*", {a, b}); }

/// cos(w x + phase), a whole period on periodic axes.
ExpressionPtr wave(const AxisText& axis, double phase) {
  const double waves = axis.kind == AxisText::Kind::periodic ? 1
                       : axis.kind == AxisText::Kind::time   ? kTimeWaves
                                                             : kWaves;
  const double w = 2 * std::numbers::pi * waves / axis.length;
  return operation("cos", {plus(times(number(w), coordinate_along(axis.axis)), number(phase))});
}

/// Half of the range wide: middle + size * product of waves. `seed` shifts them.
std::pair<ExpressionPtr, double> smooth_function(const PdeText& text, const Interval& usual, bool in_time,
                                                 double seed) {
  const double middle = 0.5 * (usual.low + usual.high), half = 0.25 * (usual.high - usual.low);
  const double size = half > 1e-3 * std::abs(middle) ? half : middle != 0 ? 0.1 * std::abs(middle) : 1;
  ExpressionPtr product = number(size);
  for (const auto& axis : text.axes)
    if (in_time || axis.axis != Coordinate::t)
      product = times(product, wave(axis, 0.4 + 1.1 * seed + 0.7 * static_cast<double>(axis.axis)));
  return {plus(number(middle), product), size};
}

ExpressionPtr with_fields(ExpressionPtr e, const std::map<std::string, ExpressionPtr>& exact) {
  for (const auto& [name, by] : exact) e = with_field(e, name, by);
  return without_known_derivatives(e);
}

/// Of functions known everywhere.
void force(PdeText& text, const std::map<std::string, ExpressionPtr>& exact) {
  for (auto& equation : text.equations) equation.right = plus(equation.right, with_fields(equation.residual(), exact));
  for (auto& wall : text.walls) {
    const auto& u = exact.at(wall.field);
    const auto along = by_coordinate(u, wall.axis);
    const auto outward = wall.high ? along : operation("-", {along});
    wall.given = plus(times(with_fields(wall.value, exact), u), times(with_fields(wall.slope, exact), outward));
  }
  for (auto& initial : text.initial) {
    const auto& u = exact.at(initial.field);
    initial.state = initial.rate ? by_coordinate(u, Coordinate::t) : u;
  }
}

/// The number of points of an axis with so many intervals.
int64_t points_of(const AxisText& axis, int64_t intervals) {
  const bool ends = axis.kind == AxisText::Kind::nodes || axis.kind == AxisText::Kind::time;
  return intervals + (ends ? 1 : 0);
}

AxisText* time_of(PdeText& text) {
  for (auto& axis : text.axes)
    if (axis.kind == AxisText::Kind::time) return &axis;
  return nullptr;
}

/// Half as many steps in time as intervals where y costs time too.
std::shared_ptr<const TextSystem> system_on(PdeText text, int64_t intervals) {
  const auto* y = text.axis(Coordinate::y);
  if (auto* time = time_of(text)) time->points = points_of(*time, y ? intervals / 2 : intervals);
  return std::make_shared<TextSystem>(
      text, std::array<int64_t, 2>{points_of(*text.axis(Coordinate::x), intervals), y ? points_of(*y, intervals) : 1});
}

/// [L,X,Y] at the points and all times.
Tensor values_of(const ExpressionPtr& e, const TextSystem& system) {
  const auto options = torch::TensorOptions(torch::kFloat64);
  const auto& any = system.text().solutions.front().name;
  std::map<std::string, Dual> levels = {{any, {torch::zeros({system.levels(), 1, 1}, options)}}};
  TextEvaluation evaluate(system.grid(), levels, {.order = system.order(), .step = system.step()}, options);
  const auto [x, y] = system.points();
  const Tensor values = evaluate.at(e, {.x = Site::points, .y = Site::points, .levels = true}).value;
  return values.expand({system.levels(), x, y}).contiguous();
}

/// [1,C_a,X,Y]
Tensor coefficients_of(const ManufacturedProblem& problem, const TextSystem& system) {
  const auto [x, y] = system.points();
  std::vector<Tensor> values = {torch::zeros({0, x, y}, torch::kFloat64)};
  for (const auto& coefficient : system.text().coefficients)
    values.push_back(values_of(problem.exact.at(coefficient.field.name), system).narrow(0, 0, 1));
  return torch::cat(values).unsqueeze(0);
}

/// [1,F,L,X,Y]
Tensor solutions_of(const ManufacturedProblem& problem, const TextSystem& system) {
  std::vector<Tensor> values;
  for (const auto& solution : system.text().solutions)
    values.push_back(values_of(problem.exact.at(solution.name), system));
  return torch::stack(values).unsqueeze(0);
}

double rms(const Tensor& x) { return x.square().mean().sqrt().item<double>(); }

/// How much a small change of the initial state grows at most, over the duration of the problem.
double growth(const ManufacturedProblem& problem) {
  auto disturbed = problem;
  for (auto& initial : disturbed.text.initial) {
    if (initial.rate) continue;
    const auto& x = *problem.text.axis(Coordinate::x);
    const double size = kDisturbance * problem.size.at(initial.field);
    initial.state = plus(initial.state, times(number(size), plus(number(1), wave(x, 2))));
  }
  const auto solved = [](const ManufacturedProblem& of) {
    const auto system = system_on(of.text, kCoarsest);
    return TextSolver(system).solve(coefficients_of(of, *system));
  };
  const Tensor change = solved(disturbed) - solved(problem);
  double most = 0;
  for (int64_t f = 0; f < change.size(1); ++f)
    for (int64_t level = 1; level < change.size(2); ++level)
      most = std::max(most, rms(change.select(1, f).select(1, level)) / rms(change.select(1, f).select(1, 0)));
  return std::isfinite(most) ? most : std::numeric_limits<double>::infinity();
}

bool has_high_derivatives(const PdeText& text) {
  return std::any_of(text.equations.begin(), text.equations.end(), [](const EquationText& equation) {
    const auto residual = equation.residual();
    return derivative_depth(*residual, Coordinate::x) > 2 || derivative_depth(*residual, Coordinate::y) > 2;
  });
}

const std::array<double, 4>& steps_for(const PdeText& text) {
  if (!text.axis(Coordinate::y)) return kSteps;
  const bool time = text.axis(Coordinate::t) != nullptr;
  if (time && has_high_derivatives(text)) return kSmallestSteps;
  return time || text.solutions.size() > 1 ? kSmallSteps : kSteps;
}

/// No growth where the coarse grid has no solution: the time is too long for it.
bool tame(const ManufacturedProblem& problem) {
  try {
    return growth(problem) <= kMostGrowth;
  } catch (const NumericsError&) {
    return false;
  }
}

}  // namespace

ManufacturedProblem manufactured_problem(const PdeText& text, const std::map<std::string, Interval>& usual) {
  ManufacturedProblem problem{text, {}, {}};
  double seed = 0;
  for (const auto& solution : text.solutions)
    std::tie(problem.exact[solution.name], problem.size[solution.name]) =
        smooth_function(text, usual.at(solution.name), true, seed++);
  for (const auto& coefficient : text.coefficients) {
    const auto& name = coefficient.field.name;
    const auto range = usual.at(name);
    problem.exact[name] = coefficient.scalar ? number(0.5 * (range.low + range.high))
                                             : smooth_function(text, range, false, seed++ + 0.5).first;
  }
  force(problem.text, problem.exact);
  return problem;
}

std::vector<double> manufactured_errors(const ManufacturedProblem& problem, int64_t intervals) {
  const auto system = system_on(problem.text, intervals);
  const Tensor exact = solutions_of(problem, *system);
  const Tensor u = TextSolver(system).solve(coefficients_of(problem, *system), system->order() == 0 ? exact : Tensor());
  std::vector<double> errors;
  for (int64_t f = 0; f < system->fields(); ++f) {
    const auto& name = system->text().solutions[static_cast<size_t>(f)].name;
    errors.push_back(rms((u - exact).select(1, f)) / problem.size.at(name));
  }
  return errors;
}

double Convergence::order(size_t solution) const {
  const size_t n = intervals.size();
  const double ratio = static_cast<double>(intervals[n - 1]) / static_cast<double>(intervals[n - 2]);
  return std::log(errors[n - 2][solution] / errors[n - 1][solution]) / std::log(ratio);
}

Convergence measure_convergence(const PdeText& text, const std::map<std::string, Interval>& usual) {
  auto shortened = text;
  auto problem = manufactured_problem(shortened, usual);
  Convergence result;
  if (auto* time = time_of(shortened)) {
    for (int tries = 0; tries < kMostShortenings && !tame(problem); ++tries) {
      time->length *= kShortening;
      problem = manufactured_problem(shortened, usual);
    }
    result.duration = time->length;
  }
  for (const double step : steps_for(text)) result.intervals.push_back(std::lround(kCoarsest * step));
  result.errors.resize(result.intervals.size());
  // Side by side: threads within one sample would wait for each other more than they work.
  at::parallel_for(0, static_cast<int64_t>(result.intervals.size()), 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      result.errors[i] = manufactured_errors(problem, result.intervals[i]);
  });
  return result;
}

namespace {

std::string not_smooth(const Expression& e) {
  static const std::vector<std::string> names = {"where", "abs", "min", "max", "sign", "step", "<", ">", "<=", ">="};
  if (e.kind == ExpressionKind::operation && std::find(names.begin(), names.end(), e.name) != names.end())
    return e.name;
  for (const auto& argument : e.arguments)
    if (auto found = not_smooth(*argument); !found.empty()) return found;
  return "";
}

}  // namespace

std::string not_smooth(const PdeText& text) {
  std::vector<ExpressionPtr> trees;
  for (const auto& equation : text.equations) trees.push_back(equation.residual());
  for (const auto& wall : text.walls) trees.insert(trees.end(), {wall.value, wall.slope});
  for (const auto& tree : trees)
    if (auto found = not_smooth(*tree); !found.empty()) return found;
  return "";
}

}  // namespace piddm
