#include "piddm/pde/text/text_grid.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "piddm/core/error.h"
#include "piddm/pde/text/text_bands.h"

namespace piddm {
namespace {

/// Matrices of the first and second derivative of the trigonometric interpolant on n points of a ring:
/// e^(2 pi i k x / L) -> (2 pi i k / L) e^.., without the odd derivative of the mode n/2.
std::pair<Tensor, Tensor> spectral_matrices(int64_t n, double length) {
  const Tensor first = torch::zeros({n, n}, torch::kFloat64), second = torch::zeros({n, n}, torch::kFloat64);
  auto d1 = first.accessor<double, 2>(), d2 = second.accessor<double, 2>();
  for (int64_t offset = 0; offset < n; ++offset) {
    double one = 0, two = 0;
    for (int64_t k = 1; 2 * k <= n; ++k) {
      const double w = 2 * std::numbers::pi * static_cast<double>(k) / length;
      const double phase = 2 * std::numbers::pi * static_cast<double>(k * offset % n) / static_cast<double>(n);
      const double weight = 2 * k == n ? 1 : 2;
      if (2 * k < n) one -= weight * w * std::sin(phase);
      two -= weight * w * w * std::cos(phase);
    }
    for (int64_t i = 0; i < n; ++i) {
      const int64_t j = (i - offset + n) % n;
      d1[i][j] = one / static_cast<double>(n);
      d2[i][j] = two / static_cast<double>(n);
    }
  }
  return {first, second};
}

}  // namespace

Place Place::with(size_t axis, Site site) const {
  Place place = *this;
  (axis == 0 ? place.x : place.y) = site;
  return place;
}

Tensor SpaceAxis::coordinates(Site site) const {
  const auto row = [&](int64_t n, double shift) { return (torch::arange(n, torch::kFloat64) + shift) * spacing; };
  const bool cells = kind == AxisText::Kind::cells;
  switch (site) {
    case Site::points:
      return row(points, cells ? 0.5 : 0);
    case Site::faces:
      return cells ? row(points + 1, 0) : row(kind == AxisText::Kind::nodes ? points - 1 : points, 0.5);
    case Site::low:
      return torch::zeros({1}, torch::kFloat64);
    case Site::high:
      return torch::full({1}, length, torch::kFloat64);
    case Site::low_slope:
      return torch::full({1}, -1, torch::kFloat64);
    default:
      return torch::ones({1}, torch::kFloat64);
  }
}

TextGrid::TextGrid(const PdeText& text, std::array<int64_t, 2> points) : text_(text) {
  for (size_t a = 0; a < 2; ++a) {
    auto& axis = axes_[a];
    axis.dim = a == 0 ? -2 : -1;
    const AxisText* given = text.axis(a == 0 ? Coordinate::x : Coordinate::y);
    axis.present = given != nullptr;
    if (!given) continue;
    axis.kind = given->kind;
    axis.length = given->length;
    axis.points = points[a];
    axis.spacing =
        axis.length / static_cast<double>(axis.kind == AxisText::Kind::nodes ? axis.points - 1 : axis.points);
    if (text.spectral && axis.kind == AxisText::Kind::periodic)
      std::tie(axis.spectral_1, axis.spectral_2) = spectral_matrices(axis.points, axis.length);
  }
  bands_ = std::make_shared<const TextBands>(*this);
}

bool TextGrid::is_solution(const std::string& name) const {
  return std::any_of(text_.solutions.begin(), text_.solutions.end(), [&](const auto& f) { return f.name == name; });
}

bool TextGrid::is_scalar(const std::string& name) const {
  const auto* coefficient = text_.coefficient(name);
  return coefficient && coefficient->scalar;
}

const WallText& TextGrid::wall(const std::string& field, size_t axis, bool high) const {
  const auto which = axis == 0 ? Coordinate::x : Coordinate::y;
  const auto found = std::find_if(text_.walls.begin(), text_.walls.end(), [&](const WallText& wall) {
    return wall.field == field && wall.axis == which && wall.high == high;
  });
  require<UsageError>(found != text_.walls.end(), "{}: no condition for {} on a wall", text_.name, field);
  return *found;
}

bool TextGrid::gives_value(const std::string& field, size_t axis, bool high) const {
  const auto& slope = wall(field, axis, high).slope;
  return slope->kind == ExpressionKind::number && slope->value == 0;
}

bool TextGrid::is_ring(const std::string& field, size_t axis, bool high) const {
  return axes_[axis].present && axes_[axis].kind == AxisText::Kind::nodes && gives_value(field, axis, high);
}

bool TextGrid::all_given(size_t axis, bool high) const {
  return std::all_of(text_.solutions.begin(), text_.solutions.end(),
                     [&](const auto& solution) { return gives_value(solution.name, axis, high); });
}

ExpressionPtr with_numbers(const ExpressionPtr& e, const std::vector<std::pair<std::string, double>>& parameters) {
  if (!e) return e;
  if (e->kind == ExpressionKind::parameter) {
    const auto found =
        std::find_if(parameters.begin(), parameters.end(), [&](const auto& p) { return p.first == e->name; });
    return found == parameters.end() ? e : number(found->second);
  }
  if (e->arguments.empty()) return e;
  std::vector<ExpressionPtr> arguments;
  for (const auto& argument : e->arguments) arguments.push_back(with_numbers(argument, parameters));
  if (arguments == e->arguments) return e;
  return e->kind == ExpressionKind::derivative ? derivative(arguments[0], e->axis) : operation(e->name, arguments);
}

PdeText with_numbers(const PdeText& text, const std::vector<std::pair<std::string, double>>& parameters) {
  PdeText out = text;
  const auto replace = [&](ExpressionPtr& e) { e = with_numbers(e, parameters); };
  for (auto& equation : out.equations) replace(equation.left), replace(equation.right);
  for (auto& wall : out.walls) replace(wall.value), replace(wall.slope), replace(wall.given);
  for (auto& initial : out.initial) replace(initial.state);
  for (auto& coefficient : out.coefficients) replace(coefficient.law.map);
  return out;
}

}  // namespace piddm
