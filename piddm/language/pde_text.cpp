#include "piddm/language/pde_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "piddm/core/error.h"
#include "piddm/language/reading.h"

namespace piddm {

namespace reading {

std::string place(const std::string& origin, const std::string& key) { return origin + ": " + key; }

const char* letter(Coordinate axis) { return axis == Coordinate::x ? "x" : axis == Coordinate::y ? "y" : "t"; }

void check_keys(const json& table, const std::vector<std::string>& known, const std::string& where,
                const std::string& what) {
  require<UsageError>(table.is_object(), "{}: expected a table, got {}", where, table.dump());
  for (const auto& [key, unused] : table.items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      throw UsageError("{}: {}", where, unknown_name_message(what, key, known));
}

double number_at(const json& value, const std::string& where) {
  require<UsageError>(value.is_number() && std::isfinite(value.get<double>()), "{}: expected a number, got {}", where,
                      value.dump());
  return value.get<double>();
}

std::string string_at(const json& value, const std::string& where) {
  require<UsageError>(value.is_string(), "{}: expected a text in quotes, got {}", where, value.dump());
  return value.get<std::string>();
}

std::vector<SourceText> texts_at(const json& value, const std::string& where) {
  if (!value.is_array()) return {{string_at(value, where), where}};
  require<UsageError>(value.size() <= kMostSolutions * 2, "{}: more than {} texts", where, kMostSolutions * 2);
  std::vector<SourceText> texts;
  for (size_t i = 0; i < value.size(); ++i) {
    const auto entry = fmt::format("{}[{}]", where, i);
    texts.push_back({string_at(value[i], entry), entry});
  }
  return texts;
}

void check_name(const std::string& name, const PdeText& pde, const std::string& where) {
  const auto letter_or_digit = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  const bool plain = !name.empty() && name.size() <= kMaxNameBytes &&
                     std::all_of(name.begin(), name.end(), letter_or_digit) && name[0] != '_' &&
                     !(name[0] >= '0' && name[0] <= '9');
  require<UsageError>(plain, "{}: '{}' is no name: a letter, then letters, digits and '_', at most {}", where, name,
                      kMaxNameBytes);
  require<UsageError>(!is_reserved_name(name), "{}: '{}' has a meaning of its own; take another name", where, name);
  require<UsageError>(!scope_of(pde).names.contains(name), "{}: the name '{}' is given twice", where, name);
}

Scope scope_of(const PdeText& pde) {
  Scope scope;
  for (const auto& axis : pde.axes) {
    if (axis.axis == Coordinate::t)
      scope.time = true;
    else
      scope.space.push_back(axis.axis);
  }
  for (const auto& field : pde.solutions) scope.names[field.name] = ExpressionKind::field;
  for (const auto& coefficient : pde.coefficients) scope.names[coefficient.field.name] = ExpressionKind::field;
  for (const auto& [name, unused] : pde.parameters) scope.names[name] = ExpressionKind::parameter;
  return scope;
}

}  // namespace reading

namespace {

using namespace reading;

const std::vector<std::string> kKeys = {"name",     "title",   "equation",   "equations",  "grid",
                                        "boundary", "initial", "parameters", "valid",      "coefficients",
                                        "units",    "titles",  "scale",      "derivatives"};
const json kNothing;

const json& at_or_nothing(const json& table, const char* key) {
  const auto found = table.find(key);
  return found == table.end() ? kNothing : *found;
}

/// The entries of a table that may be missing, by name.
std::map<std::string, json> entries(const json& table, const char* key, const std::string& origin) {
  const auto& part = at_or_nothing(table, key);
  if (part.is_null()) return {};
  require<UsageError>(part.is_object(), "{}: expected a table, got {}", place(origin, key), part.dump());
  std::map<std::string, json> sorted;
  for (const auto& [name, value] : part.items()) sorted[name] = value;
  return sorted;
}

/// Shown in pictures and on terminals.
std::string label_at(const json& value, const std::string& where) {
  constexpr size_t kMostBytes = 120;
  const auto label = string_at(value, where);
  const bool plain = std::none_of(label.begin(), label.end(),
                                  [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  require<UsageError>(plain && label.size() <= kMostBytes, "{}: expected one line of at most {} bytes", where,
                      kMostBytes);
  return label;
}

void read_name(const json& table, PdeText& pde, const std::string& origin) {
  const auto& name = at_or_nothing(table, "name");
  require<UsageError>(!name.is_null(), "{}: the name is missing; write name = \"fisher\"", origin);
  pde.name = string_at(name, place(origin, "name"));
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  require<UsageError>(!pde.name.empty() && pde.name.size() <= kMaxNameBytes && pde.name[0] != '-' &&
                          std::all_of(pde.name.begin(), pde.name.end(), good),
                      "{}: '{}' is no name: letters, digits, '_' and '-', at most {}", place(origin, "name"), pde.name,
                      kMaxNameBytes);
  if (const auto& title = at_or_nothing(table, "title"); !title.is_null())
    pde.title = label_at(title, place(origin, "title"));
}

void read_parameters(const json& table, PdeText& pde, const std::string& origin) {
  const auto where = place(origin, "parameters");
  for (const auto& [name, value] : entries(table, "parameters", origin)) {
    check_name(name, pde, where);
    require<UsageError>(name != "length_x" && name != "length_y" && name != "duration",
                        "{}: '{}' is given by the grid; take another name", where, name);
    require<UsageError>(name != "g", "{}: 'g' is the Gaussian field in the laws; take another name", where);
    pde.parameters.emplace_back(name, number_at(value, where + "." + name));
  }
  require<UsageError>(pde.parameters.size() <= kMostParameters, "{}: at most {} of them", where, kMostParameters);
}

void read_coefficients(const json& table, PdeText& pde, const std::string& origin) {
  const auto where = place(origin, "coefficients");
  const auto laws = entries(table, "coefficients", origin);
  require<UsageError>(laws.size() <= kMostCoefficients, "{}: at most {} of them", where, kMostCoefficients);
  std::vector<std::string> names;
  for (const auto& [name, law] : laws) {
    check_name(name, pde, where);
    pde.coefficients.push_back(read_coefficient(name, law, pde, origin));
    names.push_back(name);
  }
  const auto ranges = entries(table, "valid", origin);
  for (const auto& [name, range] : ranges) {
    const auto at = place(origin, "valid." + name);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      throw UsageError("{}: {}", place(origin, "valid"), unknown_name_message("coefficient", name, names));
    require<UsageError>(range.is_array() && range.size() == 2, "{}: expected [low, high], got {}", at, range.dump());
    const double low = number_at(range[0], at), high = number_at(range[1], at);
    require<UsageError>(low < high, "{}: the low end {} is not below the high end {}", at, low, high);
    pde.coefficients[static_cast<size_t>(found - names.begin())].valid = {{low, high}};
  }
}

/// Of fields and axes.
void read_labels(const json& table, PdeText& pde, const char* key, std::string FieldText::*of_field,
                 std::string AxisText::*of_axis, const std::string& origin) {
  std::map<std::string, std::string*> targets;
  for (auto& field : pde.solutions) targets[field.name] = &(field.*of_field);
  for (auto& coefficient : pde.coefficients) targets[coefficient.field.name] = &(coefficient.field.*of_field);
  for (auto& axis : pde.axes) targets[letter(axis.axis)] = &(axis.*of_axis);
  std::vector<std::string> known;
  for (const auto& [name, unused] : targets) known.push_back(name);
  for (const auto& [name, label] : entries(table, key, origin)) {
    const auto target = targets.find(name);
    if (target == targets.end())
      throw UsageError("{}: {}", place(origin, key), unknown_name_message("field or axis", name, known));
    *target->second = label_at(label, place(origin, std::string(key) + "." + name));
  }
}

void read_scales(const json& table, PdeText& pde, const std::string& origin) {
  std::vector<std::string> known;
  for (const auto& field : pde.solutions) known.push_back(field.name);
  for (const auto& [name, value] : entries(table, "scale", origin)) {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end())
      throw UsageError("{}: {}", place(origin, "scale"), unknown_name_message("field to solve for", name, known));
    const auto at = place(origin, "scale." + name);
    const double scale = number_at(value, at);
    require<UsageError>(scale > 0, "{}: must be more than 0, got {}", at, scale);
    pde.solutions[static_cast<size_t>(found - known.begin())].scale = scale;
  }
}

void read_derivatives(const json& table, PdeText& pde, const std::string& origin) {
  const auto& kind = at_or_nothing(table, "derivatives");
  if (kind.is_null()) return;
  const auto where = place(origin, "derivatives");
  const auto name = string_at(kind, where);
  const std::vector<std::string> known = {"compact", "spectral"};
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw UsageError("{}: {}", where, unknown_name_message("kind of derivatives", name, known));
  pde.spectral = name == "spectral";
  const bool periodic = std::any_of(pde.axes.begin(), pde.axes.end(),
                                    [](const auto& axis) { return axis.kind == AxisText::Kind::periodic; });
  require<UsageError>(!pde.spectral || periodic, "{}: spectral derivatives need a periodic axis", where);
}

/// What is declared and not used is a slip.
void check_use(const PdeText& pde, const std::string& origin) {
  std::vector<std::string> used;
  const auto use = [&](const ExpressionPtr& e) {
    for (auto& name : fields_of(*e)) used.push_back(std::move(name));
    for (auto& name : parameters_of(*e)) used.push_back(std::move(name));
  };
  for (const auto& equation : pde.equations) use(equation.left), use(equation.right);
  for (const auto& wall : pde.walls) use(wall.value), use(wall.slope), use(wall.given);
  for (const auto& state : pde.initial) use(state.state);
  const auto is_used = [&](const std::string& name) { return std::find(used.begin(), used.end(), name) != used.end(); };
  for (const auto& coefficient : pde.coefficients)
    require<UsageError>(is_used(coefficient.field.name),
                        "{}: the coefficient {} is not used in the equation, walls or initial state",
                        place(origin, "coefficients"), coefficient.field.name);
  for (const auto& coefficient : pde.coefficients)
    if (coefficient.law.map)
      for (auto& name : parameters_of(*coefficient.law.map)) used.push_back(std::move(name));
  for (const auto& [name, unused] : pde.parameters)
    require<UsageError>(is_used(name), "{}: the parameter {} is not used", place(origin, "parameters"), name);
}

}  // namespace

const AxisText* PdeText::axis(Coordinate which) const {
  const auto found = std::find_if(axes.begin(), axes.end(), [&](const auto& each) { return each.axis == which; });
  return found == axes.end() ? nullptr : &*found;
}

const CoefficientText* PdeText::coefficient(const std::string& named) const {
  const auto found = std::find_if(coefficients.begin(), coefficients.end(),
                                  [&](const auto& each) { return each.field.name == named; });
  return found == coefficients.end() ? nullptr : &*found;
}

PdeText read_pde_text(const json& table, const std::string& origin) {
  check_keys(table, kKeys, origin, "key");
  PdeText pde;
  read_name(table, pde, origin);
  require<UsageError>(table.contains("grid"),
                      "{}: the grid is missing; write grid = {{ x = [0, 1, 64, \"cells\"], "
                      "y = [0, 1, 64, \"cells\"] }}, or t = [0, 1, 33] for y",
                      origin);
  pde.axes = read_axes(table["grid"], origin);
  read_parameters(table, pde, origin);
  read_coefficients(table, pde, origin);
  read_equations(table, pde, origin);
  pde.walls = read_walls(at_or_nothing(table, "boundary"), pde, origin);
  pde.initial = read_initial(at_or_nothing(table, "initial"), pde, origin);
  read_labels(table, pde, "units", &FieldText::unit, &AxisText::unit, origin);
  read_labels(table, pde, "titles", &FieldText::title, &AxisText::title, origin);
  read_scales(table, pde, origin);
  read_derivatives(table, pde, origin);
  check_use(pde, origin);
  return pde;
}

}  // namespace piddm
