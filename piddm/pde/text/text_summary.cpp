#include "piddm/pde/text/text_summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "piddm/language/notation.h"

namespace piddm {
namespace {

const char* letter(Coordinate axis) { return axis == Coordinate::x ? "x" : axis == Coordinate::y ? "y" : "t"; }
Coordinate coordinate_of(size_t axis) { return axis == 0 ? Coordinate::x : Coordinate::y; }

/// Numbers with four digits: 2*pi is one by now.
ExpressionPtr rounded(const ExpressionPtr& e) {
  if (e->kind == ExpressionKind::number) return number(std::stod(fmt::format("{:.4g}", e->value)));
  if (e->arguments.empty()) return e;
  std::vector<ExpressionPtr> arguments;
  for (const auto& argument : e->arguments) arguments.push_back(rounded(argument));
  return e->kind == ExpressionKind::derivative ? derivative(arguments[0], e->axis) : operation(e->name, arguments);
}

std::string unicode(const ExpressionPtr& e) { return unicode_of(*syntax_of(*rounded(e))); }

/// "dn(u) = 0" as ∂ₙu = 0.
std::string unicode_equation(const std::string& text) {
  const auto equation = parse_equation({text, text});
  return unicode_of(*equation.left) + " = " + unicode_of(*equation.right);
}

std::string count_of(size_t n, const std::string& what) {
  static constexpr std::array kNumbers = {"no", "one", "two", "three", "four", "five", "six", "seven", "eight"};
  return fmt::format("{} {}{}", n < kNumbers.size() ? kNumbers.at(n) : std::to_string(n), what, n == 1 ? "" : "s");
}

std::string kind_of(const TextSystem& system) {
  static constexpr std::array kOrders = {"steady", "first order in time", "second order in time"};
  std::vector<std::string> names, axes;
  for (const auto& field : system.text().solutions) names.push_back(unicode_name(field.name));
  for (const auto& axis : system.text().axes) axes.emplace_back(letter(axis.axis));
  const auto* const form = system.linear() ? "linear" : "nonlinear";  // name: of an equation
  return fmt::format("{}, {}, {} ({}), in {}", form, kOrders.at(static_cast<size_t>(system.order())),
                     count_of(names.size(), "field"), fmt::join(names, ", "), fmt::join(axes, ", "));
}

// --- stencil ---

/// Whether a derivative along this axis is taken of something that holds one, but is not one: dx(a*dx(u)).
bool has_flux(const Expression& e, Coordinate axis) {
  if (e.kind == ExpressionKind::derivative && e.axis == axis) {
    const auto& inner = *e.arguments[0];
    if (inner.kind != ExpressionKind::derivative && has_derivative(inner, axis)) return true;
  }
  return std::any_of(e.arguments.begin(), e.arguments.end(), [&](const auto& a) { return has_flux(*a, axis); });
}

bool has_operation(const Expression& e, const std::string& name) {
  return (e.kind == ExpressionKind::operation && e.name == name) ||
         std::any_of(e.arguments.begin(), e.arguments.end(), [&](const auto& a) { return has_operation(*a, name); });
}

template <class Holds>
bool any_equation(const TextSystem& system, const Holds& holds) {
  const auto& equations = system.text().equations;
  return std::any_of(equations.begin(), equations.end(), [&](const auto& e) { return holds(*e.residual()); });
}

bool is_spectral(const SpaceAxis& axis) { return axis.spectral_1.defined(); }

std::string stencil_of(const TextSystem& system) {
  std::vector<std::string> spectral, compact, parts;
  bool flux = false;
  for (size_t a = 0; a < 2; ++a) {
    const auto& axis = system.grid().axes()[a];
    const auto along = coordinate_of(a);
    if (!axis.present || !any_equation(system, [&](const auto& e) { return has_derivative(e, along); })) continue;
    (is_spectral(axis) ? spectral : compact).emplace_back(letter(along));
    flux = flux || (!is_spectral(axis) && any_equation(system, [&](const auto& e) { return has_flux(e, along); }));
  }
  if (!compact.empty())
    parts.push_back(fmt::format("compact differences of second order along {}", fmt::join(compact, " and ")));
  if (!spectral.empty()) parts.push_back(fmt::format("spectral derivatives along {}", fmt::join(spectral, " and ")));
  if (flux)
    parts.push_back(fmt::format("fluxes on the faces between points, {} there by the mean of its two points",
                                any_equation(system, [](const auto& e) { return has_operation(e, "harmonic"); })
                                    ? "what harmonic(..) holds by its harmonic mean, all else"
                                    : "what stands before a derivative"));
  if (system.order() == 1)
    parts.push_back(fmt::format("BDF2 in time, steps of {:.4g}, the first one backward Euler", system.step()));
  if (system.order() == 2)
    parts.push_back(
        fmt::format("Newmark's mean (1, 2, 1)/4 of three times in steps of {:.4g}, without damping", system.step()));
  return fmt::format("{}", fmt::join(parts, "; "));
}

// --- walls ---

std::string rule_of(const TextGrid& grid, const WallText& wall) {
  const size_t axis = wall.axis == Coordinate::x ? 0 : 1;
  const auto u = unicode_name(wall.field);
  const bool value = grid.gives_value(wall.field, axis, wall.high);
  const bool slope = wall.value->kind == ExpressionKind::number && wall.value->value == 0;
  if (grid.axes()[axis].kind == AxisText::Kind::nodes) {
    if (value) return "the points on the wall hold this value, and no equation";
    return fmt::format("the points on the wall hold the equation on half a cell, with this {}",
                       slope ? "slope" : fmt::format("∂ₙ{} of their own {}", u, u));
  }
  if (value) return fmt::format("the wall is half a cell from the first point, ∂ₙ{0} = ({0} − {0}₀)/(h/2) there", u);
  if (slope) return "the flux through the wall has this slope";
  return fmt::format("the wall is half a cell from the first point, {0} = {0}₀ + h/2 ∂ₙ{0} there", u);
}

/// One line for walls with the same condition and rule.
std::vector<std::string> walls_of(const TextSystem& system) {
  std::vector<std::pair<std::string, std::string>> lines;  // rule, places
  std::vector<std::string> all;
  for (const auto& axis : system.text().axes)
    if (axis.kind == AxisText::Kind::periodic)
      all.push_back(fmt::format("{}: periodic, the point behind the last is the first", letter(axis.axis)));
  auto walls = system.text().walls;
  std::stable_sort(walls.begin(), walls.end(), [](const WallText& a, const WallText& b) {
    return std::pair(a.axis, a.high) < std::pair(b.axis, b.high);
  });
  for (const auto& wall : walls) {
    const auto rule = fmt::format("{}: {}", unicode_equation(wall.text), rule_of(system.grid(), wall));
    const auto place =
        fmt::format("{} = {:g}", letter(wall.axis), wall.high ? system.text().axis(wall.axis)->length : 0.0);
    const auto same = std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return line.first == rule; });
    if (same == lines.end())
      lines.emplace_back(rule, place);
    else
      same->second += ", " + place;
  }
  for (const auto& [rule, places] : lines) all.push_back(fmt::format("{}: {}", places, rule));
  return all;
}

/// As written, in the order of PdeText::initial.
std::vector<std::string> initial_of(const TextPde& pde) {
  std::vector<std::string> all;
  const bool stored = !pde.text().axis(Coordinate::y);
  const json written = pde.options().definition.table.value("initial", json::array());
  for (size_t i = 0; i < pde.text().initial.size(); ++i) {
    const auto& initial = pde.text().initial[i];
    const auto state = unicode_equation((written.is_array() ? written.at(i) : written).get<std::string>());
    const auto rule = initial.rate ? fmt::format("{0} one step before is {0} one step after less 2 Δt ∂ₜ{0}",
                                                 unicode_name(initial.field))
                      : stored     ? std::string("the first time that is stored")
                                   : std::string("not stored, the first channel is a step on");
    all.push_back(state + ": " + rule);
  }
  return all;
}

// --- solver ---

std::string linear_solver_of(const TextPde& pde) {
  const auto& system = pde.system();
  if (pde.solver().direct()) return "sparse LU on the CPU";
  const auto fallback = system.has_table() ? "; on the CPU sparse LU for what does not converge" : "";
  const auto method = !system.has_table()   ? "GMRES on exact products J v"
                      : pde.has_corrector() ? "conjugate gradients"
                                            : "conjugate gradients where J is symmetric, else GMRES";
  return fmt::format("{}; preconditioned by the fast solver of c₀ + kₓ ∂ₓₓ + kᵧ ∂ᵧᵧ{}", method, fallback);
}

std::string solver_of(const TextPde& pde) {
  const auto& system = pde.system();
  const auto newton = system.linear() ? "one linear system" : "Newton's method with the exact Jacobian J";
  if (system.order() == 0) return fmt::format("{}; {}", newton, linear_solver_of(pde));
  return fmt::format("{} implicit steps of the same equations, each {}; {}", system.levels() - 1, newton,
                     linear_solver_of(pde));
}

std::string residual_of(const TextPde& pde) {
  std::vector<std::string> parts;
  const auto equations = pde.equations();
  const auto& references = pde.system().references();
  for (size_t e = 0; e < equations.size(); ++e)
    parts.push_back(fmt::format("{}c = {:.2g}, reference {}", equations[e].name.empty() ? "" : equations[e].name + ": ",
                                equations[e].scale, unicode(references[e])));
  return fmt::format("R = c (left − right); {}", fmt::join(parts, "; "));
}

}  // namespace

std::string law_in_words(const CoefficientText& coefficient) {
  static constexpr std::array kFamilies = {"of cosines", "of sines", "on a ring"};
  const auto& law = coefficient.law;
  switch (law.kind) {
    case LawText::Kind::data:
      return "from data";
    case LawText::Kind::uniform:
      return fmt::format("uniform between {:g} and {:g}", law.low, law.high);
    case LawText::Kind::loguniform:
      return fmt::format("log-uniform between {:g} and {:g}", law.low, law.high);
    case LawText::Kind::normal:
      return fmt::format("normal, mean {:g}, deviation {:g}", law.low, law.high);
    default:
      break;
  }
  return fmt::format("{}, g Gaussian {}, alpha {:g}, tau {:g}{}", unicode(law.map),
                     kFamilies.at(static_cast<size_t>(law.family)), law.alpha, law.tau,
                     law.scale == 1 ? "" : fmt::format(", scale {:g}", law.scale));
}

TextPdeSummary summary_of(const TextPde& pde) {
  const auto& system = pde.system();
  TextPdeSummary summary;
  for (const auto& equation : pde.text().equations) {
    summary.equations.push_back(equation.unicode);
    summary.latex.push_back(equation.latex);
  }
  summary.kind = kind_of(system);
  summary.stencil = stencil_of(system);
  summary.solver = solver_of(pde);
  summary.residual = residual_of(pde);
  summary.walls = walls_of(system);
  summary.initial = initial_of(pde);
  return summary;
}

}  // namespace piddm
