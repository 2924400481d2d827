// Targets that take what a PDE file says.

#include <cstdlib>

#include "piddm/core/error.h"
#include "piddm/core/toml_text.h"
#include "piddm/language/interval.h"
#include "piddm/language/lowering.h"
#include "piddm/language/notation.h"
#include "piddm/language/pde_text.h"
#include "tests/fuzz/targets.h"

namespace piddm::fuzz {

namespace {

/// A promise beyond "no crash"; its breach is a finding.
void demand(bool kept) {
  if (!kept) std::abort();
}

/// Without brackets that the writer put there to no use, a text may pass the limit on parts in a row.
template <class Read>
auto read_again(const Read& read) -> decltype(read()) {
  try {
    return read();
  } catch (const Error&) {
    return nullptr;
  }
}

Scope everything() {
  Scope scope;
  for (const char* const name : {"u", "v", "a", "g"}) scope.names[name] = ExpressionKind::field;
  for (const char* const name : {"k", "nu"}) scope.names[name] = ExpressionKind::parameter;
  scope.space = {Coordinate::x, Coordinate::y};
  scope.time = true;
  scope.normal = {"u", "v"};
  return scope;
}

void expect_same(const ExpressionPtr& e, const Scope& scope) {
  const auto text = text_of(*syntax_of(*e));
  const auto again = read_again([&] {
    const SourceText source{text, "f"};
    return lower(*parse_expression(source), scope, source);
  });
  demand(!again || equal(*e, *again));
}

void use(const ExpressionPtr& e) {
  fields_of(*e);
  by_field(*e, "u");
  linear_in(e, {field_named("u"), field_named(normal_derivative("u"))}, {"u", "v"});
  const auto range = range_of(*e, {.names = {{"a", {1, 2}}, {"g", {-1, 1}}}, .axes = {{Coordinate::x, {0, 1}}}});
  demand(!(range.low > range.high));
}

}  // namespace

void expression(std::string_view input) {
  const SourceText source{std::string(input), "f.toml: equation"};
  const auto written = parse_expression(source);
  const auto text = text_of(*written);
  const auto again = read_again([&] { return parse_expression({text, "f"}); });
  demand(!again || (equal(*written, *again) && text_of(*again) == text));
  demand(!unicode_of(*written).empty() && !latex_of(*written).empty());
  const auto scope = everything();
  const auto e = lower(*written, scope, source);
  expect_same(e, scope);
  use(e);
}

void pde_text(std::string_view input) {
  const auto table = parse_toml(std::string(input), "f.toml");
  const auto pde = read_pde_text(table, "f.toml");
  demand(!pde.solutions.empty() && pde.solutions.size() == pde.equations.size() && pde.axes.size() >= 2);
  for (const auto& equation : pde.equations) {
    demand(!equation.unicode.empty() && !equation.latex.empty());
    use(equation.residual());
  }
  for (const auto& axis : pde.axes) demand(axis.length > 0 && axis.points >= 2 && axis.points <= kMostPoints);
  for (const auto& wall : pde.walls)
    for (const auto& e : {wall.value, wall.slope, wall.given})
      for (const auto& name : fields_of(*e)) demand(pde.coefficient(name) != nullptr);
  const auto same = read_pde_text(parse_toml(to_toml(table), "f.toml"), "f.toml");
  for (size_t i = 0; i < pde.equations.size(); ++i)
    demand(equal(*same.equations[i].residual(), *pde.equations[i].residual()));
}

}  // namespace piddm::fuzz
