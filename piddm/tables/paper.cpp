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

/// A block's remarks stand under a method, a setting, or "*" for all of its rows.
std::string doubt_about(const json& remarks, const json& row) {
  std::string doubt;
  for (const char* key : {"method", "setting"})
    if (row.contains(key)) doubt = both_doubts(doubt, remarks.value(row.at(key).get<std::string>(), ""));
  return both_doubts(doubt, remarks.value("*", ""));
}

/// A block is a piece of a table as the paper prints it: a list holds one value a row, anything else holds for all
/// rows.
void append_rows(json& rows, const json& block) {
  size_t count = 0;
  for (const auto& [key, value] : block.items())
    if (value.is_array()) count = value.size();
  for (size_t i = 0; i < count; ++i) {
    json row;
    for (const auto& [key, value] : block.items())
      if (key != "doubtful") row[key] = value.is_array() ? value.at(i) : value;
    const auto doubt = doubt_about(block.value("doubtful", json::object()), row);
    if (!doubt.empty()) row["doubtful"] = doubt;
    rows.push_back(row);
  }
}

}  // namespace

std::vector<std::string> paper_table_names() {
  std::vector<std::string> names;
  for (const auto& [name, table] : all_tables().items()) names.push_back(name);
  return names;
}

json paper_table(const std::string& name) {
  const auto found = all_tables().find(name);
  if (found == all_tables().end())
    throw UsageError("{}", unknown_name_message("table of the paper", name, paper_table_names()));
  json rows = json::array();
  for (const auto& block : found->at("blocks")) append_rows(rows, block);
  return {{"caption", found->at("caption")}, {"caveat", found->at("caveat")}, {"rows", rows}};
}

json paper_generative_rows(const std::string& pde) {
  const json table = paper_table("table-generative");
  json methods;
  for (const auto& row : table.at("rows")) {
    if (row.at("pde") != pde) continue;
    for (const char* method : {"teacher", "piddm-1", "piddm-ref"})
      if (row.at("method") == method)
        for (const char* metric : {"mmse", "smse", "pde_error", "nfe"}) methods[method][metric] = row.at(metric);
  }
  return methods;
}

}  // namespace piddm
