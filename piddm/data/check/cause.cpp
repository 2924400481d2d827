#include "piddm/data/check/cause.h"

namespace piddm {

namespace {

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string import_advice(const std::string& file, const std::string& options) {
  return fmt::format("import again: piddm data import {} {} --out corrected.npz", file, options);
}

}  // namespace

json Cause::to_json() const { return {{"what", what}, {"evidence", evidence}, {"do", advice}}; }

Cause mended_by_import(const std::string& what, const json& evidence, const std::string& file,
                       const std::string& options) {
  return {.what = what, .evidence = evidence, .advice = import_advice(file, options), .options = options};
}

Explanation with_one_advice(Explanation causes, const std::string& file) {
  std::string all;
  for (const auto& cause : causes) {
    if (cause.options.empty()) return causes;
    all += (all.empty() ? "" : " ") + cause.options;
  }
  if (causes.size() > 1)
    for (auto& cause : causes) cause.advice = import_advice(file, all);
  return causes;
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
