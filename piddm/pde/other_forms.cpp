#include "piddm/pde/other_forms.h"

#include <algorithm>
#include <optional>

#include "piddm/language/notation.h"
#include "piddm/language/parser.h"
#include "piddm/language/pde_text.h"

namespace piddm {

namespace {

/// A change of a tree from its leaves up; null: it stays.
using Rewrite = std::function<SyntaxPtr(const Syntax&)>;

SyntaxPtr rewritten(const SyntaxPtr& e, const Rewrite& rewrite) {
  auto next = *e;
  for (auto& argument : next.arguments) argument = rewritten(argument, rewrite);
  const auto other = rewrite(next);
  return other ? other : std::make_shared<Syntax>(std::move(next));
}

bool is_call(const Syntax& e, std::initializer_list<const char*> names) {
  return e.kind == Syntax::Kind::call &&
         std::any_of(names.begin(), names.end(), [&](const char* name) { return e.name == name; });
}

/// harmonic(a) as a.
SyntaxPtr without_harmonic(const Syntax& e) { return is_call(e, {"harmonic"}) ? e.arguments.at(0) : nullptr; }

/// The factors of a product that are coefficients, in harmonic(..); what is differentiated within it stays.
SyntaxPtr harmonic_factors(const SyntaxPtr& e, const std::vector<std::string>& coefficients) {
  if (e->kind == Syntax::Kind::name &&
      std::find(coefficients.begin(), coefficients.end(), e->name) != coefficients.end())
    return std::make_shared<Syntax>(
        Syntax{.kind = Syntax::Kind::call, .name = "harmonic", .arguments = {e}, .at = e->at});
  const bool product = e->kind == Syntax::Kind::negative || (e->kind == Syntax::Kind::binary && e->name == "*");
  if (!product) return e;
  auto next = *e;
  for (auto& argument : next.arguments) argument = harmonic_factors(argument, coefficients);
  return std::make_shared<Syntax>(std::move(next));
}

bool has_derivative(const Syntax& e) {
  return is_call(e, {"grad", "dx", "dy"}) ||
         std::any_of(e.arguments.begin(), e.arguments.end(), [](const SyntaxPtr& a) { return has_derivative(*a); });
}

/// div(a*grad(u)) as div(harmonic(a)*grad(u)), dx(a*dx(u)) likewise.
SyntaxPtr with_harmonic(const Syntax& e, const std::vector<std::string>& coefficients) {
  if (!is_call(e, {"div", "dx", "dy"}) || e.arguments.size() != 1 || !has_derivative(*e.arguments[0])) return nullptr;
  auto next = e;
  next.arguments[0] = harmonic_factors(e.arguments[0], coefficients);
  return std::make_shared<Syntax>(std::move(next));
}

/// The table with every equation rewritten; nothing where that changes none.
std::optional<json> with_equations(json table, const Rewrite& rewrite) {
  bool changed = false;
  const auto each = [&](json& text) {
    if (!text.is_string()) return;
    const auto equation = parse_equation({text.get<std::string>(), "equation"});
    const auto left = rewritten(equation.left, rewrite), right = rewritten(equation.right, rewrite);
    if (equal(*left, *equation.left) && equal(*right, *equation.right)) return;
    text = text_of(*left) + " = " + text_of(*right);
    changed = true;
  };
  if (table.contains("equation")) each(table["equation"]);
  if (table.contains("equations"))
    for (auto& text : table["equations"]) each(text);
  if (!changed) return {};
  return table;
}

void add_form(const Pde& pde, const std::optional<json>& table, OtherForm form, std::vector<OtherForm>& forms) {
  if (!table) return;
  auto options = pde.options();
  options.definition.table = *table;
  try {
    const auto other = make_pde(options);
    form.residual = [other](const Tensor& x) { return other->residual(x); };
    forms.push_back(std::move(form));
  } catch (const UsageError&) {  // a text that cannot be had in this form
  }
}

std::vector<OtherForm> forms_of_text(const Pde& pde) {
  const auto& table = pde.options().definition.table;
  const auto text = read_pde_text(table, pde.name());
  std::vector<std::string> coefficients;
  for (const auto& coefficient : text.coefficients)
    if (!coefficient.scalar) coefficients.push_back(coefficient.field.name);
  std::vector<OtherForm> forms;
  add_form(pde, with_equations(table, [&](const Syntax& e) { return with_harmonic(e, coefficients); }),
           {.name = "harmonic",
            .meaning = "harmonic means of the coefficients on the faces between points, not arithmetic ones",
            .residual = {},
            .advice = "write harmonic(..) around the coefficient in the equation"},
           forms);
  add_form(pde, with_equations(table, without_harmonic),
           {.name = "arithmetic",
            .meaning = "arithmetic means of the coefficients on the faces between points, not harmonic ones",
            .residual = {},
            .advice = "leave out harmonic(..) in the equation"},
           forms);
  auto other = table;
  other["derivatives"] = text.spectral ? "compact" : "spectral";
  add_form(pde, other,
           {.name = other["derivatives"],
            .meaning = fmt::format("{} derivatives along periodic axes", other["derivatives"].get<std::string>()),
            .residual = {},
            .advice = fmt::format("add derivatives = {} to the PDE's file", other["derivatives"].dump())},
           forms);
  return forms;
}

}  // namespace

std::vector<OtherForm> other_forms(const Pde& pde) {
  if (const auto* with = dynamic_cast<const OtherForms*>(&pde)) return with->other_forms();
  return pde.options().definition.absent() ? std::vector<OtherForm>() : forms_of_text(pde);
}

}  // namespace piddm
