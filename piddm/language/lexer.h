#pragma once
// A text of the PDE language, and the words and signs it consists of.

#include <string>
#include <string_view>
#include <vector>

namespace piddm {

constexpr size_t kMaxExpressionBytes = 4000;
constexpr size_t kMaxNameBytes = 40;

/// An expression, equation or law with the place it stands at: "fisher.toml: equation".
struct SourceText {
  std::string text, place;

  /// A UsageError: "PLACE, line L, column C: MESSAGE", of the byte `at`. Columns count characters, not bytes.
  [[noreturn]] void fail(size_t at, const std::string& message) const;
};

struct Token {
  enum class Kind { number, name, sign, end };
  Kind kind = Kind::end;
  std::string text;  ///< a Greek letter by its name; a number as written; of the end: "the end"
  double value = 0;  ///< of a number
  size_t at = 0;

  bool is(std::string_view sign) const { return kind == Kind::sign && text == sign; }
};

/// The last is the end. Signs are + - * / ^ ( ) [ ] , = : < > <= >= ->
std::vector<Token> tokens_of(const SourceText& source);

}  // namespace piddm
