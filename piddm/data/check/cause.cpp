#include "piddm/data/check/cause.h"

namespace piddm {

namespace {

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

}  // namespace

json Cause::to_json() const { return {{"what", what}, {"evidence", evidence}, {"do", advice}}; }

std::string import_advice(const std::string& file, const std::string& options) {
  return fmt::format("import again: piddm data import {} {} --out corrected.npz", file, options);
}

std::string Cause::finding() const {
  std::string numbers;
  for (const auto& [key, words] : {std::pair{"rel_residual", "rel_residual"},
                                   {"boundary_error", "boundary error"},
                                   {"distance_to_solution", "distance to the solution"}})
    if (const auto pair = evidence.find(key); pair != evidence.end())
      numbers += fmt::format("{}{} {:.3g} -> {:.3g}", numbers.empty() ? ": " : ", ", words, (*pair)[0].get<double>(),
                             (*pair)[1].get<double>());
  if (const auto floor = evidence.find("floor"); floor != evidence.end())
    numbers += fmt::format(", floor {:.3g}", floor->get<double>());
  // Names of data keep their case at the beginning of the sentence.
  const bool word = what.starts_with("the ") || what.starts_with("all ") || what.starts_with("inside ");
  return (word ? capitalised(what) : what) + numbers;
}

std::string Cause::sentence() const { return finding() + ". " + capitalised(advice); }

}  // namespace piddm
