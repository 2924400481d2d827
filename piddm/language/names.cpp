// Names as a person reads them.

#include <algorithm>
#include <array>
#include <string_view>

#include "piddm/language/letters.h"
#include "piddm/language/notation.h"

namespace piddm {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct NameParts {
  std::string base, index;
};

/// "u" and "0" of u0, "D" and "max" of D_max.
NameParts parts_of(const std::string& name) {
  if (const auto at = name.find('_'); at != std::string::npos && at + 1 < name.size())
    return {name.substr(0, at), name.substr(at + 1)};
  size_t digits = name.size();
  while (digits > 1 && is_digit(name[digits - 1])) --digits;
  return {name.substr(0, digits), name.substr(digits)};
}

/// Empty where Unicode has no such letter below the line.
std::string subscript_of(const std::string& text) {
  static constexpr std::string_view kLetters = "aehijklmnoprstuvx";
  static constexpr std::array<const char*, 17> kBelow = {"ₐ", "ₑ", "ₕ", "ᵢ", "ⱼ", "ₖ", "ₗ", "ₘ", "ₙ",
                                                         "ₒ", "ₚ", "ᵣ", "ₛ", "ₜ", "ᵤ", "ᵥ", "ₓ"};
  static constexpr std::array<const char*, 10> kDigits = {"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
  std::string below;
  for (const char c : text) {
    const auto at = kLetters.find(c);
    if (!is_digit(c) && at == std::string_view::npos) return "";
    below += is_digit(c) ? kDigits.at(static_cast<size_t>(c - '0')) : kBelow.at(at);
  }
  return below;
}

std::string latex_word(const std::string& word) {
  if (greek_letter_named(word)) return "\\" + word;
  if (word.size() == 1 || std::all_of(word.begin(), word.end(), is_digit)) return word;
  std::string escaped;
  for (const char c : word) escaped += c == '_' ? std::string("\\_") : std::string(1, c);
  return "\\mathrm{" + escaped + "}";
}

}  // namespace

std::string unicode_name(const std::string& name) {
  const auto [base, index] = parts_of(name);
  const auto* letter = greek_letter_named(base);
  const auto shown = letter ? letter->sign : base;
  if (index.empty()) return letter ? shown : name;
  const auto below = subscript_of(index);
  return below.empty() ? shown + "_" + index : shown + below;
}

std::string latex_name(const std::string& name) {
  const auto [base, index] = parts_of(name);
  if (index.empty()) return latex_word(name);
  return latex_word(base) + "_{" + latex_word(index) + "}";
}

}  // namespace piddm
