#include "piddm/language/parser.h"

#include <fmt/format.h>

#include <algorithm>

namespace piddm {

namespace {

using Kind = Syntax::Kind;

bool is_comparison(const Token& token) { return token.is("<") || token.is(">") || token.is("<=") || token.is(">="); }

std::string quoted(const Token& token) {
  return token.kind == Token::Kind::end ? token.text : fmt::format("'{}'", token.text);
}

class Parser {
 public:
  explicit Parser(const SourceText& source) : source_(source), tokens_(tokens_of(source)) {}

  SyntaxPtr whole_expression() {
    auto e = expression();
    expect_end();
    return e;
  }

  EquationSyntax whole_equation() {
    EquationSyntax equation;
    equation.left = expression();
    if (peek().kind == Token::Kind::end) fail("expected '=': an equation is written left = right");
    if (!accept("=")) refuse_rest();
    if (peek().is("=")) fail("an equation has one '='");
    equation.right = expression();
    if (peek().is("=")) fail("an equation has one '='");
    expect_end();
    return equation;
  }

  LawSyntax whole_law() {
    LawSyntax law;
    law.at = law.name_at = peek().at;
    law.name = word("a law such as uniform(0, 1)");
    if (accept(":")) {
      law.prefix = law.name;
      law.name_at = peek().at;
      law.name = word("a name behind ':'");
    }
    law.called = accept("(");
    if (law.called && !accept(")")) {
      do {
        law.arguments.push_back(argument());
      } while (accept(","));
      expect(")");
    }
    if (accept("->")) law.map = expression();
    expect_end();
    return law;
  }

 private:
  /// Counts what is open, so that no text reaches the end of the stack.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) {
      if (++parser_.level_ > kMaxNesting) parser_.fail(fmt::format("nested deeper than {} levels", kMaxNesting));
    }
    ~Level() { --parser_.level_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Parser& parser_;
  };

  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }

  [[noreturn]] void fail(const std::string& message) const { source_.fail(peek().at, message); }

  bool accept(const char* sign) {
    if (!peek().is(sign)) return false;
    ++at_;
    return true;
  }

  void expect(const char* sign) {
    if (!accept(sign)) fail(fmt::format("expected '{}' or an operator, got {}", sign, quoted(peek())));
  }

  std::string word(const char* what) {
    if (peek().kind != Token::Kind::name) fail(fmt::format("expected {}, got {}", what, quoted(peek())));
    return tokens_[at_++].text;
  }

  void expect_end() {
    if (peek().kind != Token::Kind::end) refuse_rest();
  }

  [[noreturn]] void refuse_rest() const {
    const auto& token = peek();
    if (token.is(")") || token.is("]")) fail(fmt::format("'{}' closes nothing", token.text));
    if (is_comparison(token)) fail("comparisons do not chain: write where(a < b, where(b < c, 1, 0), 0)");
    if (token.is("=")) fail("unexpected '=': this is no equation");
    const bool factor = token.kind != Token::Kind::sign || token.is("(") || token.is("[");
    fail(fmt::format("expected an operator or the end, got {}{}", quoted(token),
                     factor ? "; a product is written with *" : ""));
  }

  LawSyntax::Argument argument() {
    LawSyntax::Argument argument;
    argument.at = peek().at;
    if (peek().kind == Token::Kind::name && peek(1).is("=")) {
      argument.name = word("a name");
      ++at_;
    }
    argument.value = expression();
    return argument;
  }

  static SyntaxPtr two(const Token& sign, SyntaxPtr a, SyntaxPtr b) {
    return std::make_shared<Syntax>(
        Syntax{.kind = Kind::binary, .name = sign.text, .arguments = {std::move(a), std::move(b)}, .at = sign.at});
  }

  SyntaxPtr expression() {
    auto left = sum();
    if (!is_comparison(peek())) return left;
    const auto sign = tokens_[at_++];
    return two(sign, std::move(left), sum());
  }

  template <class Part>
  SyntaxPtr chain(const char* one, const char* other, const Part& part) {
    auto left = part();
    for (int parts = 1; peek().is(one) || peek().is(other); ++parts) {
      if (parts == kMaxChain) fail(fmt::format("more than {} parts without brackets", kMaxChain));
      const auto sign = tokens_[at_++];
      left = two(sign, std::move(left), part());
    }
    return left;
  }

  SyntaxPtr sum() {
    return chain("+", "-", [this] { return product(); });
  }

  SyntaxPtr product() {
    return chain("*", "/", [this] { return negative(); });
  }

  SyntaxPtr negative() {
    const Level level(*this);
    const auto at = peek().at;
    if (!accept("-")) return power();
    return std::make_shared<Syntax>(Syntax{.kind = Kind::negative, .arguments = {negative()}, .at = at});
  }

  SyntaxPtr power() {
    auto base = primary();
    if (!peek().is("^")) return base;
    const auto sign = tokens_[at_++];
    return two(sign, std::move(base), negative());
  }

  SyntaxPtr primary() {
    const auto token = peek();
    if (token.kind == Token::Kind::number) {
      ++at_;
      return std::make_shared<Syntax>(
          Syntax{.kind = Kind::number, .name = token.text, .value = token.value, .at = token.at});
    }
    if (token.kind == Token::Kind::name) {
      ++at_;
      if (!accept("(")) return std::make_shared<Syntax>(Syntax{.kind = Kind::name, .name = token.text, .at = token.at});
      return list(Kind::call, token, ")");
    }
    if (accept("[")) return list(Kind::vector, token, "]");
    if (accept("(")) {
      auto inside = expression();
      expect(")");
      return inside;
    }
    if (token.is("*") && at_ > 0 && tokens_[at_ - 1].is("*")) fail("powers are written with ^, not **");
    fail(fmt::format("expected a number, a name, '(' or '[', got {}", quoted(token)));
  }

  SyntaxPtr list(Kind kind, const Token& begin, const char* close) {
    Syntax e{.kind = kind, .name = kind == Kind::call ? begin.text : "", .at = begin.at};
    if (accept(close)) return std::make_shared<Syntax>(std::move(e));
    do {
      e.arguments.push_back(expression());
    } while (accept(","));
    if (!accept(close)) fail(fmt::format("expected ',', '{}' or an operator, got {}", close, quoted(peek())));
    return std::make_shared<Syntax>(std::move(e));
  }

  const SourceText& source_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int level_ = 0;
};

}  // namespace

SyntaxPtr parse_expression(const SourceText& source) { return Parser(source).whole_expression(); }

EquationSyntax parse_equation(const SourceText& source) { return Parser(source).whole_equation(); }

LawSyntax parse_law(const SourceText& source) { return Parser(source).whole_law(); }

bool equal(const Syntax& a, const Syntax& b) {
  if (a.kind != b.kind || a.arguments.size() != b.arguments.size()) return false;
  if (a.kind == Kind::number ? a.value != b.value : a.name != b.name) return false;
  return std::equal(a.arguments.begin(), a.arguments.end(), b.arguments.begin(),
                    [](const auto& one, const auto& other) { return equal(*one, *other); });
}

}  // namespace piddm
