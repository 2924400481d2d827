#include "piddm/language/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "piddm/core/error.h"
#include "piddm/language/letters.h"

namespace piddm {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

class Lexer {
 public:
  explicit Lexer(const SourceText& source) : source_(source), text_(source.text) {}

  std::vector<Token> tokens() {
    if (text_.size() > kMaxExpressionBytes)
      source_.fail(kMaxExpressionBytes, fmt::format("longer than {} characters", kMaxExpressionBytes));
    std::vector<Token> tokens;
    for (skip_spaces(); at_ < text_.size(); skip_spaces()) tokens.push_back(next());
    tokens.push_back({Token::Kind::end, "the end", 0, text_.size()});
    return tokens;
  }

 private:
  void skip_spaces() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  char peek(size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  Token next() {
    const char c = text_[at_];
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (is_letter(c)) return name();
    if (const auto* letter = greek_letter_at(text_.substr(at_))) return greek(*letter);
    return sign();
  }

  Token number() {
    Token token{Token::Kind::number, "", 0, at_};
    const auto* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), token.value);
    token.text = std::string(begin, end);
    at_ += token.text.size();
    if (error != std::errc()) source_.fail(token.at, fmt::format("the number {} is out of range", token.text));
    if (at_ < text_.size() && is_letter(text_[at_]))
      source_.fail(
          at_, fmt::format("expected an operator behind {0}; a product is written {0}*{1}", token.text, word_at(at_)));
    if (peek(0) == '.') source_.fail(at_, fmt::format("{}. is no number", token.text));
    return token;
  }

  std::string word_at(size_t at) const {
    size_t end = at;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]) || text_[end] == '_')) ++end;
    return std::string(text_.substr(at, std::min(end - at, kMaxNameBytes + 1)));
  }

  Token name() {
    Token token{Token::Kind::name, word_at(at_), 0, at_};
    if (token.text.size() > kMaxNameBytes)
      source_.fail(at_, fmt::format("a name of more than {} letters", kMaxNameBytes));
    at_ += token.text.size();
    return token;
  }

  /// A letter and digits: the letters behind it would be another name on paper.
  Token greek(const GreekLetter& letter) {
    Token token{Token::Kind::name, letter.name, 0, at_};
    for (at_ += letter.sign.size(); is_digit(peek(0)); ++at_) token.text += peek(0);
    if (token.text.size() > kMaxNameBytes)
      source_.fail(token.at, fmt::format("a name of more than {} letters", kMaxNameBytes));
    return token;
  }

  Token sign() {
    const size_t at = at_;
    for (const char* const two : {"<=", ">=", "->"})
      if (text_.substr(at).starts_with(two)) {
        at_ += 2;
        return {Token::Kind::sign, two, 0, at};
      }
    if (std::string_view("+-*/^()[],=:<>").find(text_[at]) == std::string_view::npos)
      source_.fail(at, "unexpected character " + shown());
    ++at_;
    return {Token::Kind::sign, std::string(1, text_[at]), 0, at};
  }

  std::string shown() const {
    size_t end = at_ + 1;
    while (end < text_.size() && !begins_character(text_[end])) ++end;
    return fmt::format("'{}'", text_.substr(at_, end - at_));
  }

  const SourceText& source_;
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

void SourceText::fail(size_t at, const std::string& message) const {
  const auto before = std::string_view(text).substr(0, at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const auto start = before.rfind('\n') + 1;  // of none: npos + 1 = 0
  const auto column =
      1 + std::count_if(before.begin() + static_cast<std::ptrdiff_t>(start), before.end(), begins_character);
  throw UsageError("{}, line {}, column {}: {}", place, line, column, message);
}

std::vector<Token> tokens_of(const SourceText& source) { return Lexer(source).tokens(); }

}  // namespace piddm
