#include "piddm/language/letters.h"

#include <algorithm>

namespace piddm {

namespace {

template <class Matches>
const GreekLetter* first(const Matches& matches) {
  const auto& letters = greek_letters();
  const auto found = std::find_if(letters.begin(), letters.end(), matches);
  return found == letters.end() ? nullptr : &*found;
}

}  // namespace

const std::vector<GreekLetter>& greek_letters() {
  static const std::vector<GreekLetter> letters = {
      {"alpha", "α"}, {"beta", "β"},  {"gamma", "γ"}, {"delta", "δ"},   {"epsilon", "ε"}, {"zeta", "ζ"}, {"eta", "η"},
      {"theta", "θ"}, {"iota", "ι"},  {"kappa", "κ"}, {"lambda", "λ"},  {"mu", "μ"},      {"nu", "ν"},   {"xi", "ξ"},
      {"pi", "π"},    {"rho", "ρ"},   {"sigma", "σ"}, {"tau", "τ"},     {"phi", "φ"},     {"chi", "χ"},  {"psi", "ψ"},
      {"omega", "ω"}, {"Gamma", "Γ"}, {"Delta", "Δ"}, {"Theta", "Θ"},   {"Lambda", "Λ"},  {"Xi", "Ξ"},   {"Sigma", "Σ"},
      {"Phi", "Φ"},   {"Psi", "Ψ"},   {"Omega", "Ω"}, {"Upsilon", "Υ"}, {"upsilon", "υ"}};
  return letters;
}

const GreekLetter* greek_letter_named(std::string_view name) {
  return first([&](const auto& letter) { return letter.name == name; });
}

const GreekLetter* greek_letter_at(std::string_view text) {
  return first([&](const auto& letter) { return text.starts_with(letter.sign); });
}

}  // namespace piddm
