#pragma once
// A text as a tree of what was written: nothing is known of names and types yet. From loose to tight:
//
//   < > <= >=      do not chain
//   + -            from the left
//   * /            from the left
//   -              negative
//   ^              from the right; its exponent may be negative: 2^-3
//   1.5e-3, name, name(.., ..), (..), [.., ..]
//
// Never more than kMaxNesting levels of brackets, calls, powers and signs, kMaxChain parts in a sum or product.

#include <memory>
#include <string>
#include <vector>

#include "piddm/language/lexer.h"

namespace piddm {

constexpr int kMaxNesting = 64;
constexpr int kMaxChain = 200;

struct Syntax;
using SyntaxPtr = std::shared_ptr<const Syntax>;

struct Syntax {
  enum class Kind { number, name, negative, binary, call, vector };
  Kind kind = Kind::number;
  std::string name = {};  ///< of a name, of what is called; the sign of two; a number as written
  double value = 0;
  std::vector<SyntaxPtr> arguments = {};
  size_t at = 0;  ///< where it begins; of two: where the sign is
};

struct EquationSyntax {
  SyntaxPtr left, right;
};

/// "field: gauss(alpha=2) -> exp(g)", "uniform(0, 1)", "data: scalar"
struct LawSyntax {
  struct Argument {
    std::string name;  ///< empty: without
    SyntaxPtr value;
    size_t at = 0;
  };
  std::string prefix = {}, name = {};  ///< "field" and "gauss"; the first may be empty
  bool called = false;                 ///< with brackets
  size_t at = 0, name_at = 0;
  std::vector<Argument> arguments = {};
  SyntaxPtr map = nullptr;
};

/// Each takes the whole text; what is wrong is a UsageError with its place.
SyntaxPtr parse_expression(const SourceText& source);
EquationSyntax parse_equation(const SourceText& source);
LawSyntax parse_law(const SourceText& source);

/// The same tree, wherever it stands and however its numbers are written.
bool equal(const Syntax& a, const Syntax& b);

}  // namespace piddm
