#pragma once
// Expressions as a person reads them, with no more brackets than needed, and as the parser reads them again:
//
//   written              D*lap(u) + r*u*(1 - u)
//   Unicode              D ∇²u + r u (1 − u)
//   LaTeX                D \nabla^2 u + r u (1 - u)

#include <string>

#include "piddm/language/expression.h"
#include "piddm/language/parser.h"

namespace piddm {

std::string unicode_of(const Syntax& e);
std::string latex_of(const Syntax& e);

/// "u₀" of u0, "ν" of nu.
std::string unicode_name(const std::string& name);
std::string latex_name(const std::string& name);

/// Parsed again it is an equal tree.
std::string text_of(const Syntax& e);

/// Lowered again (lowering.h) it is an equal expression.
SyntaxPtr syntax_of(const Expression& e);

}  // namespace piddm
