// The equations of a PDE file, and which of their names are the fields it is solved for.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "piddm/core/error.h"
#include "piddm/language/notation.h"
#include "piddm/language/reading.h"

namespace piddm::reading {

namespace {

/// A name that nothing else explains.
struct Unknown {
  std::string name;
  size_t at = 0;
  bool derived = false;  ///< somewhere within a derivative
};

void collect(const Syntax& e, bool derived, const Scope& scope, std::vector<Unknown>& unknowns) {
  if (e.kind == Syntax::Kind::name && !is_reserved_name(e.name) && !scope.names.contains(e.name)) {
    auto known = std::find_if(unknowns.begin(), unknowns.end(), [&](const auto& u) { return u.name == e.name; });
    if (known == unknowns.end()) known = unknowns.insert(known, {e.name, e.at});
    known->derived |= derived;
  }
  static const std::vector<std::string> derivatives = {"dt", "dtt", "dx", "dy", "dxx", "dxy", "dyy", "lap", "grad"};
  derived |=
      e.kind == Syntax::Kind::call && std::find(derivatives.begin(), derivatives.end(), e.name) != derivatives.end();
  for (const auto& argument : e.arguments) collect(*argument, derived, scope, unknowns);
}

/// The one field of one equation.
std::string only_field(const EquationSyntax& equation, const Scope& scope, const SourceText& source) {
  std::vector<Unknown> unknowns;
  collect(*equation.left, false, scope, unknowns);
  collect(*equation.right, false, scope, unknowns);
  if (unknowns.empty())
    throw UsageError("{}: no field to solve for: every name is a coefficient, a parameter or a coordinate",
                     source.place);
  if (unknowns.size() == 1) return unknowns[0].name;
  const auto derived = std::count_if(unknowns.begin(), unknowns.end(), [](const auto& u) { return u.derived; });
  std::vector<std::string> names, known;
  for (const auto& unknown : unknowns) names.push_back(unknown.name);
  for (const auto& [name, unused] : scope.names) known.push_back(name);
  if (derived == 1)
    for (const auto& unknown : unknowns)
      if (const auto nearest = nearest_name(unknown.name, known); !unknown.derived && !nearest.empty())
        source.fail(unknown.at, fmt::format("unknown name '{}'; did you mean '{}'?", unknown.name, nearest));
  throw UsageError(
      "{}: one equation for the names {}; write equations = {{ {} = \"..\" }} for several fields, and "
      "declare the others in coefficients or parameters",
      source.place, fmt::join(names, ", "), fmt::join(names, " = \"..\", "));
}

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

EquationText read_equation(const EquationSyntax& equation, const Scope& scope, const SourceText& source) {
  EquationText read;
  read.left = lower(*equation.left, scope, source);
  read.right = lower(*equation.right, scope, source);
  read.text = trimmed(source.text);
  read.unicode = unicode_of(*equation.left) + " = " + unicode_of(*equation.right);
  read.latex = latex_of(*equation.left) + " = " + latex_of(*equation.right);
  return read;
}

SourceText text_at(const json& value, const std::string& where) { return {string_at(value, where), where}; }

void read_several(const json& table, PdeText& pde, const std::string& origin) {
  const auto where = place(origin, "equations");
  require<UsageError>(table.is_object() && !table.empty(),
                      "{}: expected a table of equations by the field each belongs to, {{ u = \"..\", v = \"..\" }}",
                      where);
  require<UsageError>(table.size() <= kMostSolutions, "{}: at most {} of them", where, kMostSolutions);
  std::map<std::string, const json*> sorted;
  for (const auto& [name, text] : table.items()) sorted[name] = &text;
  for (const auto& [name, text] : sorted) {
    check_name(name, pde, where);
    pde.solutions.push_back({.name = name});
  }
  const auto scope = scope_of(pde);
  for (const auto& [name, text] : sorted) {
    const auto source = text_at(*text, where + "." + name);
    pde.equations.push_back(read_equation(parse_equation(source), scope, source));
    if (sorted.size() > 1) pde.equations.back().name = name;
  }
  for (const auto& field : pde.solutions) {
    const bool held = std::any_of(pde.equations.begin(), pde.equations.end(), [&](const auto& equation) {
      const auto names = fields_of(*equation.residual());
      return std::find(names.begin(), names.end(), field.name) != names.end();
    });
    require<UsageError>(held, "{}: no equation holds the field {}", where, field.name);
  }
}

}  // namespace

void read_equations(const json& table, PdeText& pde, const std::string& origin) {
  const bool one = table.contains("equation"), several = table.contains("equations");
  require<UsageError>(one != several,
                      "{}: {}; write equation = \"dt(u) = lap(u)\" for one field, equations = {{ u = "
                      "\"..\", v = \"..\" }} for several",
                      origin, one ? "equation and equations" : "no equation");
  if (several) return read_several(table["equations"], pde, origin);
  const auto source = text_at(table["equation"], place(origin, "equation"));
  const auto equation = parse_equation(source);
  const auto field = only_field(equation, scope_of(pde), source);
  check_name(field, pde, source.place);
  pde.solutions.push_back({.name = field});
  pde.equations.push_back(read_equation(equation, scope_of(pde), source));
}

}  // namespace piddm::reading
