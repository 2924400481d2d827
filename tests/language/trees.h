#pragma once
// Random trees, and texts read without a file around them.

#include <random>

#include "piddm/language/lowering.h"

namespace piddm::testing {

/// On the axes x, y and t, with the fields u, v, a and the parameters k, nu.
inline Scope plane() {
  Scope scope;
  for (const char* const name : {"u", "v", "a"}) scope.names[name] = ExpressionKind::field;
  for (const char* const name : {"k", "nu"}) scope.names[name] = ExpressionKind::parameter;
  scope.space = {Coordinate::x, Coordinate::y};
  scope.time = true;
  return scope;
}

inline ExpressionPtr read(const std::string& text, const Scope& scope = plane()) {
  const SourceText source{text, "f.toml: equation"};
  return lower(*parse_expression(source), scope, source);
}

/// Anything that the grammar has; types may be wrong.
SyntaxPtr random_syntax(std::mt19937& random, int depth);

/// Of every kind, simplified as `operation` does.
ExpressionPtr random_expression(std::mt19937& random, int depth);

}  // namespace piddm::testing
