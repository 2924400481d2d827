#include "piddm/tables/paper.h"

#include "piddm/core/json_text.h"

namespace piddm {

namespace {

const json& all_tables() {
  static const json tables = parse_json(
#include "piddm_paper_tables.inc"  // paper_tables.json as a raw string, written by CMake
      , "paper_tables.json");
  return tables;
}

std::string both_doubts(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + "; " + b;
}

/// A block is a piece of a table as the paper prints it: labels and metrics, of which a list holds one value per row
/// and anything else holds for all rows. Its "doubtful" has remarks under a method, a setting, or "*" for all of its
/// rows.
void append_rows(std::vector<LabelledPaperRow>& rows, const json& block) {
  size_t count = 0;
  for (const auto& [key, value] : block.items())
    if (value.is_array()) count = value.size();
  const auto remarks = block.value("doubtful", json::object());
  for (size_t i = 0; i < count; ++i) {
    json words = json::object();
    LabelledPaperRow row;
    for (const auto& [key, value] : block.items()) {
      const json& here = value.is_array() ? value.at(i) : value;
      if (here.is_string()) words[key] = here;
      if (here.is_number()) row.numbers.metrics.values[key] = here.get<double>();
    }
    row.labels = labels_from(words);
    for (const auto& name : {row.labels.method, row.labels.setting, std::string("*")})
      if (!name.empty()) row.numbers.doubtful = both_doubts(row.numbers.doubtful, remarks.value(name, ""));
    rows.push_back(row);
  }
}

}  // namespace

std::vector<std::string> paper_table_names() {
  std::vector<std::string> names;
  for (const auto& [name, table] : all_tables().items()) names.push_back(name);
  return names;
}

PaperTable paper_table(const std::string& name) {
  const auto found = all_tables().find(name);
  if (found == all_tables().end()) return {};
  PaperTable table{found->at("caption"), found->at("caveat"), {}};
  for (const auto& block : found->at("blocks")) append_rows(table.rows, block);
  return table;
}

}  // namespace piddm
