#include "piddm/tables/table_merge.h"

#include <algorithm>
#include <map>

#include "piddm/tables/table_rows.h"
#include "piddm/tables/tables.h"

namespace piddm {

namespace {

/// Rows sorted by their labels, each label's values in the order in which they first appear.
json in_order(const json& rows) {
  std::vector<std::pair<std::vector<size_t>, json>> ranked;
  std::map<std::string, std::vector<json>> values;
  for (const auto& row : rows) {
    std::vector<size_t> ranks;
    for (const auto& label : kRowLabels) {
      auto& known = values[label];
      const auto value = labels_of(row).value(label, json(""));
      const auto found = std::find(known.begin(), known.end(), value);
      ranks.push_back(static_cast<size_t>(found - known.begin()));
      if (found == known.end()) known.push_back(value);
    }
    ranked.emplace_back(ranks, row);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  json out = json::array();
  for (const auto& [ranks, row] : ranked) out.push_back(row);
  return out;
}

/// Where its rows come from: itself, or what it was merged from.
json parts_of(const json& report) {
  if (report.contains("merged")) return report.at("merged");
  return json::array(
      {{{"options", report.at("options")}, {"machine", report.at("machine")}, {"seconds", report.at("seconds")}}});
}

void check_scale(json& out, const json& report) {
  const std::string scale = report.value("scale", "");
  if (scale.empty()) return;
  const std::string known = out.value("scale", scale);
  require<UsageError>(scale == known, "merge: a report of scale {} and one of scale {}", known, scale);
  out["scale"] = scale;
}

void take(json& rows, const json& row) {
  const auto same =
      std::find_if(rows.begin(), rows.end(), [&](const json& r) { return labels_of(r) == labels_of(row); });
  if (same == rows.end())
    rows.push_back(row);
  else
    *same = row;
}

}  // namespace

json merge_reports(const std::vector<json>& reports) {
  require<UsageError>(!reports.empty(), "merge: name at least one report");
  json out = reports.front();
  out["merged"] = json::array();
  for (const auto& report : reports) {
    require<UsageError>(report.at("experiment") == out.at("experiment"), "merge: a report of {} and one of {}",
                        out.at("experiment").get<std::string>(), report.at("experiment").get<std::string>());
    check_scale(out, report);
    const auto first = out["merged"].size();
    for (auto row : report.at("rows")) {
      if (row.contains("part"))
        row["part"] = first + row.at("part").get<size_t>();
      else if (!report.contains("merged"))
        row["part"] = first;
      take(out["rows"], row);
    }
    for (const auto& part : parts_of(report)) out["merged"].push_back(part);
    for (const auto& [pde, floor] : report.at("floors").items())
      if (!floor.empty()) out["floors"][pde] = floor;
  }
  out["rows"] = in_order(out.at("rows"));
  const auto recipe = table_registry().at(out.at("experiment").get<std::string>())();
  out["columns"] = shown_columns(recipe);
  if (recipe.reference.empty()) return out;
  add_ratios(out["rows"], recipe.reference, "metrics", out.at("floors"));
  add_ratios(out["rows"], recipe.reference, "paper", json::object());
  return out;
}

}  // namespace piddm
