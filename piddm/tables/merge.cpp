#include "piddm/tables/merge.h"

#include <algorithm>
#include <map>

#include "piddm/tables/seeds.h"
#include "piddm/tables/tables.h"

namespace piddm {

namespace {

/// Rows sorted by their labels, each label's values in the order in which they first appear.
std::vector<Row> in_order(const std::vector<Row>& rows) {
  std::vector<std::pair<std::vector<size_t>, const Row*>> ranked;
  std::map<size_t, std::vector<std::string>> values;
  for (const auto& row : rows) {
    const auto& labels = row.labels;
    std::vector<size_t> ranks;
    for (const auto& value : {labels.pde, labels.task, labels.method, labels.setting}) {
      auto& known = values[ranks.size()];
      const auto found = std::find(known.begin(), known.end(), value);
      ranks.push_back(static_cast<size_t>(found - known.begin()));
      if (found == known.end()) known.push_back(value);
    }
    ranked.emplace_back(ranks, &row);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Row> out;
  for (const auto& [ranks, row] : ranked) out.push_back(*row);
  return out;
}

/// Where its rows come from: itself, or what it was merged from.
json parts_of(const Report& report) {
  if (!report.merged.empty()) return report.merged;
  return json::array({{{"options", report.options}, {"machine", report.machine}, {"seconds", report.seconds}}});
}

void check_scale(Report& out, const Report& report) {
  if (report.scale.empty()) return;
  require<UsageError>(out.scale.empty() || report.scale == out.scale, "merge: a report of scale {} and one of scale {}",
                      out.scale, report.scale);
  out.scale = report.scale;
}

/// Each of the sentences once.
std::string joined_sizes(const std::vector<Report>& reports) {
  std::vector<std::string> sizes;
  for (const auto& report : reports)
    if (std::find(sizes.begin(), sizes.end(), report.sizes) == sizes.end()) sizes.push_back(report.sizes);
  return fmt::format("{}", fmt::join(sizes, "; or "));
}

void take(std::vector<Row>& rows, const Row& row) {
  const auto same = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.labels == row.labels; });
  if (same == rows.end())
    rows.push_back(row);
  else
    *same = joined_seeds(*same, row);
}

}  // namespace

Report merge_reports(const std::vector<Report>& reports) {
  require<UsageError>(!reports.empty(), "merge: name at least one report");
  Report out = reports.front();
  out.merged = json::array();
  for (const auto& report : reports) {
    require<UsageError>(report.experiment == out.experiment, "merge: a report of {} and one of {}", out.experiment,
                        report.experiment);
    check_scale(out, report);
    const auto first = out.merged.size();
    for (auto row : report.rows) {
      if (row.part)
        row.part = first + *row.part;
      else if (report.merged.empty())
        row.part = first;
      take(out.rows, row);
    }
    for (const auto& part : parts_of(report)) out.merged.push_back(part);
    for (const auto& [pde, floor] : report.floors)
      if (!floor.values.empty()) out.floors[pde] = floor;
  }
  out.rows = in_order(out.rows);
  out.sizes = joined_sizes(reports);
  const auto recipe = table_registry().at(out.experiment)();
  out.columns = shown_columns(recipe);
  conclude(out, recipe);
  return out;
}

}  // namespace piddm
