#pragma once
// Greek letters: names in texts, signs in what is printed.

#include <string>
#include <string_view>
#include <vector>

namespace piddm {

struct GreekLetter {
  std::string name;  ///< "nu"; LaTeX has the same behind a backslash
  std::string sign;  ///< "ν"
};

/// Those that LaTeX has a name for, pi among them.
const std::vector<GreekLetter>& greek_letters();

const GreekLetter* greek_letter_named(std::string_view name);
const GreekLetter* greek_letter_at(std::string_view text);  ///< that `text` begins with

}  // namespace piddm
