#include "piddm/language/notation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

namespace piddm {

namespace {

using Kind = Syntax::Kind;

/// How tightly a piece holds together.
enum class Level { comparison, sum, product, prefix, power, atom };

struct Piece {
  std::string text;
  Level level = Level::atom;
  bool name = false;      ///< a name alone
  bool derived = false;   ///< a derivative: ∂ₓu
  bool open = false;      ///< ends in a derivative, which would take a factor behind it for its own
  bool fraction = false;  ///< a/b or v · w: no factor may follow
};

bool is_integer(const std::string& text) {
  return !text.empty() && text.size() < 4 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// "2" or "-2" of an exponent that is a whole number, else empty.
std::string integer_of(const Syntax& e) {
  if (e.kind == Kind::number && is_integer(e.name)) return e.name;
  if (e.kind == Kind::negative && e.arguments[0]->kind == Kind::number && is_integer(e.arguments[0]->name))
    return "-" + e.arguments[0]->name;
  return "";
}

std::string superscript_of(const std::string& integer) {
  static constexpr std::array<const char*, 10> kDigits = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string above;
  for (const char c : integer) above += c == '-' ? "⁻" : kDigits.at(static_cast<size_t>(c - '0'));
  return above;
}

class Printer {
 public:
  explicit Printer(bool latex) : latex_(latex) {}

  Piece of(const Syntax& e) const {
    switch (e.kind) {
      case Kind::number:
        return number(e.name);
      case Kind::name:
        return {.text = latex_ ? latex_name(e.name) : unicode_name(e.name), .name = true};
      case Kind::negative:
        return negative(of(*e.arguments[0]));
      case Kind::binary:
        return binary(e);
      case Kind::vector:
        return {.text = bracketed(list(e))};
      default:
        return call(e);
    }
  }

 private:
  const char* pick(const char* unicode, const char* latex) const { return latex_ ? latex : unicode; }

  std::string bracketed(const std::string& text) const {
    const bool tall = text.find("\\frac") != std::string::npos || text.find("\\begin") != std::string::npos;
    return tall ? "\\left(" + text + "\\right)" : "(" + text + ")";
  }

  /// In brackets where it holds less tightly than `least`.
  std::string at_least(const Piece& piece, Level least) const {
    return piece.level < least ? bracketed(piece.text) : piece.text;
  }

  std::string list(const Syntax& e) const {
    std::vector<std::string> texts;
    for (const auto& argument : e.arguments) texts.push_back(of(*argument).text);
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  /// "2.5e-3" as 2.5·10⁻³.
  Piece number(const std::string& written) const {
    const auto e = written.find_first_of("eE");
    auto mantissa = written.substr(0, e);
    if (mantissa.ends_with('.')) mantissa.pop_back();
    if (mantissa.starts_with('.')) mantissa = "0" + mantissa;
    if (e == std::string::npos) return {.text = mantissa};
    auto exponent = written.substr(e + 1);
    const bool minus = exponent.starts_with('-');
    exponent.erase(0, std::min(exponent.find_first_not_of("+-0"), exponent.size() - 1));
    if (minus && exponent != "0") exponent = "-" + exponent;
    const auto ten = latex_ ? "10^{" + exponent + "}" : "10" + superscript_of(exponent);
    if (mantissa == "1") return {.text = ten, .level = Level::power};
    return {.text = mantissa + pick("·", " \\cdot ") + ten, .level = Level::product};
  }

  Piece negative(const Piece& piece) const {
    return {.text = pick("−", "-") + at_least(piece, Level::product),
            .level = Level::sum,
            .open = piece.open,
            .fraction = piece.fraction};
  }

  Piece binary(const Syntax& e) const {
    if (e.name == "^") return power(e);
    const auto a = of(*e.arguments[0]), b = of(*e.arguments[1]);
    if (e.name == "*") return product(*e.arguments[0], a, b);
    if (e.name == "/") return quotient(a, b);
    if (e.name == "+" || e.name == "-") {
      const char* const sign = e.name == "+" ? "+" : pick("−", "-");
      return {.text = fmt::format("{} {} {}", at_least(a, Level::sum), sign, at_least(b, Level::product)),
              .level = Level::sum,
              .open = b.open};
    }
    const char* const sign = e.name == "<=" ? pick("≤", "\\le") : e.name == ">=" ? pick("≥", "\\ge") : e.name.c_str();
    return {.text = fmt::format("{} {} {}", at_least(a, Level::sum), sign, at_least(b, Level::sum)),
            .level = Level::comparison};
  }

  Piece product(const Syntax& left, const Piece& a, const Piece& b) const {
    const bool minus = left.kind == Kind::negative && !a.open && !a.fraction;
    const bool closed = a.open || a.fraction;
    const auto first = closed ? bracketed(a.text) : minus ? a.text : at_least(a, Level::product);
    const auto second = at_least(b, Level::prefix);
    const bool digit = second[0] >= '0' && second[0] <= '9';
    return {.text = first + (digit ? pick(" · ", " \\cdot ") : " ") + second,
            .level = minus ? Level::sum : Level::product,
            .open = b.open && b.level >= Level::prefix};
  }

  Piece quotient(const Piece& a, const Piece& b) const {
    if (latex_) return {.text = "\\frac{" + a.text + "}{" + b.text + "}", .level = Level::prefix};
    const auto first = a.open || a.fraction ? bracketed(a.text) : at_least(a, Level::product);
    return {.text = first + "/" + at_least(b, Level::power), .level = Level::product, .fraction = true};
  }

  Piece power(const Syntax& e) const {
    const auto& base = *e.arguments[0];
    const auto integer = integer_of(*e.arguments[1]);
    std::string above;
    if (latex_) {
      above = integer.size() == 1 ? "^" + integer : "^{" + of(*e.arguments[1]).text + "}";
    } else if (!integer.empty()) {
      above = superscript_of(integer);
    } else {
      const auto exponent = of(*e.arguments[1]);
      above = "^" + at_least(exponent, Level::atom);
    }
    static const std::vector<std::string> functions = {"sin", "cos", "tan", "sinh", "cosh", "tanh"};
    const bool function = base.kind == Kind::call && !integer.empty() && integer[0] != '-' &&
                          std::find(functions.begin(), functions.end(), base.name) != functions.end();
    if (function) return {.text = pick("", "\\") + base.name + above + bracketed(list(base))};
    return {.text = at_least(of(base), Level::atom) + above, .level = Level::power};
  }

  Piece call(const Syntax& e) const {
    const auto& name = e.name;
    if (const auto sign = derivative_sign(name); !sign.empty() && e.arguments.size() == 1)
      return derivative(sign, of(*e.arguments[0]), name != "div");
    if (name == "dot" && e.arguments.size() == 2) {
      const auto a = of(*e.arguments[0]), b = of(*e.arguments[1]);
      return {.text = (a.open ? bracketed(a.text) : at_least(a, Level::prefix)) + pick(" · ", " \\cdot ") +
                      at_least(b, Level::prefix),
              .level = Level::product,
              .open = b.open,
              .fraction = true};
    }
    if (name == "abs" && e.arguments.size() == 1) return {.text = "|" + list(e) + "|"};
    if (name == "sqrt" && e.arguments.size() == 1) return root(of(*e.arguments[0]));
    if (name == "where" && e.arguments.size() == 3) return cases(e);
    return {.text = function_name(name) + bracketed(list(e))};
  }

  std::string function_name(const std::string& name) const {
    static const std::vector<std::string> known = {"exp",  "log",  "sin",  "cos", "tan",
                                                   "sinh", "cosh", "tanh", "min", "max"};
    if (!latex_) return name == "sign" ? "sgn" : name;
    if (std::find(known.begin(), known.end(), name) != known.end()) return "\\" + name;
    return "\\operatorname{" + (name == "sign" ? "sgn" : name) + "}";
  }

  std::string derivative_sign(const std::string& name) const {
    static const std::map<std::string, std::pair<const char*, const char*>> signs = {
        {"dt", {"∂ₜ", "\\partial_t "}},      {"dtt", {"∂ₜₜ", "\\partial_{tt} "}}, {"dx", {"∂ₓ", "\\partial_x "}},
        {"dy", {"∂ᵧ", "\\partial_y "}},      {"dxx", {"∂ₓₓ", "\\partial_{xx} "}}, {"dxy", {"∂ₓᵧ", "\\partial_{xy} "}},
        {"dyy", {"∂ᵧᵧ", "\\partial_{yy} "}}, {"dn", {"∂ₙ", "\\partial_n "}},      {"lap", {"∇²", "\\nabla^2 "}},
        {"grad", {"∇", "\\nabla "}},         {"div", {"∇·", "\\nabla \\cdot "}}};
    const auto found = signs.find(name);
    return found == signs.end() ? "" : pick(found->second.first, found->second.second);
  }

  Piece derivative(const std::string& sign, const Piece& of, bool chains) const {
    const bool plain = of.name || (chains && of.derived);
    return {
        .text = sign + (plain ? of.text : bracketed(of.text)), .level = Level::prefix, .derived = true, .open = true};
  }

  Piece root(const Piece& of) const {
    if (latex_) return {.text = "\\sqrt{" + of.text + "}"};
    return {.text = "√" + (of.name ? of.text : bracketed(of.text)), .level = Level::power};
  }

  Piece cases(const Syntax& e) const {
    const auto condition = of(*e.arguments[0]).text, yes = of(*e.arguments[1]).text, no = of(*e.arguments[2]).text;
    if (!latex_) return {.text = fmt::format("{{{} if {}, else {}}}", yes, condition, no)};
    return {.text = fmt::format("\\begin{{cases}} {} & {} \\\\ {} & \\text{{otherwise}} \\end{{cases}}", yes, condition,
                                no)};
  }

  bool latex_;
};

/// The levels of the grammar (parser.h).
int level_of(const Syntax& e) {
  if (e.kind == Kind::negative) return 3;
  if (e.kind != Kind::binary) return 5;
  return e.name == "^" ? 4 : e.name == "*" || e.name == "/" ? 2 : e.name == "+" || e.name == "-" ? 1 : 0;
}

std::string text_at(const Syntax& e, int least) {
  const auto text = text_of(e);
  return level_of(e) < least ? "(" + text + ")" : text;
}

SyntaxPtr node(Kind kind, std::string name, std::vector<SyntaxPtr> arguments) {
  return std::make_shared<Syntax>(Syntax{.kind = kind, .name = std::move(name), .arguments = std::move(arguments)});
}

const char* letter(Coordinate axis) { return axis == Coordinate::x ? "x" : axis == Coordinate::y ? "y" : "t"; }

/// Two in one where the language has a name for both: dxx, dxy, dyy, dtt.
SyntaxPtr syntax_of_derivative(const Expression& e) {
  const auto& inner = *e.arguments[0];
  if (inner.kind == ExpressionKind::derivative) {
    const auto both = letter(e.axis) + std::string(letter(inner.axis));
    if (both == "xx" || both == "xy" || both == "yy" || both == "tt")
      return node(Kind::call, "d" + both, {syntax_of(*inner.arguments[0])});
  }
  return node(Kind::call, std::string("d") + letter(e.axis), {syntax_of(inner)});
}

}  // namespace

std::string unicode_of(const Syntax& e) { return Printer(false).of(e).text; }

std::string latex_of(const Syntax& e) { return Printer(true).of(e).text; }

std::string text_of(const Syntax& e) {
  const auto& of = e.arguments;
  if (e.kind == Kind::number) return e.name.empty() ? fmt::format("{}", e.value) : e.name;
  if (e.kind == Kind::name) return e.name;
  if (e.kind == Kind::negative) return "-" + text_at(*of[0], 3);
  if (e.kind == Kind::binary) {
    if (e.name == "^") return text_at(*of[0], 5) + "^" + text_at(*of[1], 3);
    if (e.name == "*" || e.name == "/") return text_at(*of[0], 2) + e.name + text_at(*of[1], 3);
    const int least = level_of(e);
    return fmt::format("{} {} {}", text_at(*of[0], std::max(least, 1)), e.name, text_at(*of[1], least + 1));
  }
  std::vector<std::string> texts;
  for (const auto& argument : of) texts.push_back(text_of(*argument));
  const bool call = e.kind == Kind::call;
  return fmt::format("{}{}{}{}", call ? e.name : "", call ? "(" : "[", fmt::join(texts, ", "), call ? ")" : "]");
}

SyntaxPtr syntax_of(const Expression& e) {
  switch (e.kind) {
    case ExpressionKind::number: {
      const double size = std::abs(e.value);
      const auto plain =
          std::make_shared<Syntax>(Syntax{.kind = Kind::number, .name = fmt::format("{}", size), .value = size});
      return e.value < 0 ? node(Kind::negative, "", {plain}) : plain;
    }
    case ExpressionKind::parameter:
    case ExpressionKind::field:
      return node(Kind::name, e.name, {});
    case ExpressionKind::coordinate:
      return node(Kind::name, letter(e.axis), {});
    case ExpressionKind::derivative:
      return syntax_of_derivative(e);
    default:
      break;
  }
  std::vector<SyntaxPtr> arguments;
  for (const auto& argument : e.arguments) arguments.push_back(syntax_of(*argument));
  const bool sign = e.name.find_first_of("+-*/^<>") == 0;
  const auto kind = !sign ? Kind::call : arguments.size() == 1 ? Kind::negative : Kind::binary;
  return node(kind, kind == Kind::negative ? "" : e.name, std::move(arguments));
}

}  // namespace piddm
