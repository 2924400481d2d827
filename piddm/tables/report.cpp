#include "piddm/tables/report.h"

#include <algorithm>
#include <cmath>

#include "piddm/core/input_file.h"
#include "piddm/files/json_file.h"

namespace piddm {

namespace {

constexpr const char* kError = "pde_error";
constexpr const char *kRatio = "pde_error_ratio", *kTeacherDistance = "apdd_teacher";
constexpr const char* kIntervals = "intervals";  // beside the metrics of a row
constexpr const char *kSeed = "seed", *kBySeed = "by_seed";

/// Version 1 had neither format nor digest.
const JsonFormat& report_format() {
  static const JsonFormat format{.name = "piddm-report", .version = 2};
  return format;
}

json row_json(const Row& row) {
  json out = {{"labels", to_json(row.labels)}, {"count", row.count}};
  if (row.seeds) out["seeds"] = *row.seeds;
  if (row.part) out["part"] = *row.part;
  if (!row.result.done()) {
    out.update(to_json(row.result));
  } else {
    json metrics = row.result.scores;
    const json intervals = metrics.value(kIntervals, json());
    metrics.erase(kIntervals);
    out["metrics"] = metrics;
    if (!intervals.is_null()) out[kIntervals] = intervals;
    if (!row.deviation.values.empty()) out["deviation"] = row.deviation;
    if (!row.result.diverged.empty()) out["diverged"] = row.result.diverged;
    if (!row.result.precision.empty()) out["precision"] = row.result.precision;
  }
  if (row.by_seed.size() == 1) out[kSeed] = row.by_seed.begin()->first;
  if (row.by_seed.size() > 1)
    for (const auto& [seed, result] : row.by_seed) {
      json each = to_json(result);
      each.erase(kIntervals);
      out[kBySeed].push_back({{kSeed, seed}, {"result", each}});
    }
  out["paper"] = nullptr;
  if (!row.paper) return out;
  out["paper"] = row.paper->metrics;
  if (!row.paper->doubtful.empty()) out["paper"]["doubtful"] = row.paper->doubtful;
  return out;
}

template <class T>
std::optional<T> optional_from(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? std::nullopt : std::optional(found->get<T>());
}

/// Without the values that depend on other rows.
std::map<uint64_t, Result> by_seed_from(const json& object, const Result& result) {
  std::map<uint64_t, Result> out;
  if (const auto seed = optional_from<uint64_t>(object, kSeed)) {
    auto& own = out[*seed] = result;
    own.scores.values = {};
    for (const auto& [name, value] : result.scores.values)
      if (name != kRatio && name != kTeacherDistance) own.scores.values[name] = value;
  }
  for (const auto& each : object.value(kBySeed, json::array()))
    out[each.at(kSeed).get<uint64_t>()] = result_from(each.at("result"));
  return out;
}

Row row_from(const json& object) {
  const json none = json::object();
  Row row{.labels = labels_from(object.at("labels")), .result = result_from(object)};
  row.count = object.value("count", int64_t{0});
  auto scores = object.value("metrics", none);
  if (const auto intervals = object.find(kIntervals); intervals != object.end()) scores[kIntervals] = *intervals;
  row.result.scores = scores.get<Scores>();
  row.result.diverged = object.value("diverged", divergence(row.result.scores));
  row.deviation = object.value("deviation", none).get<Scores>();
  row.by_seed = by_seed_from(object, row.result);
  row.seeds = optional_from<int64_t>(object, "seeds");
  row.part = optional_from<size_t>(object, "part");
  if (const auto& paper = object.value("paper", json()); paper.is_object())
    row.paper = PaperRow{paper.get<Scores>(), paper.value("doubtful", "")};
  return row;
}

/// Of reports that were written before they had the sentence.
std::string sizes_from(const json& options) {
  if (!options.contains("dflow_samples")) return "";
  const auto number = [&](const char* key) { return options.at(key).dump(); };
  return fmt::format(
      "{} samples per method ({} of D-Flow), {} cases per task ({} of D-Flow), seeds {}, judged against {} held-out "
      "true samples",
      number("samples"), number("dflow_samples"), number("cases"), number("dflow_cases"), number("seeds"),
      options.value(json::json_pointer("/judge/held_out"), json("?")).dump());
}

/// The row of another method with the same other labels, or of that method in the setting of its own name; nullptr
/// where there is none.
Row* row_beside(std::vector<Row>& rows, const Row& row, const std::string& method) {
  auto wanted = row.labels;
  wanted.method = method;
  for (const auto& setting : {method, row.labels.setting}) {
    wanted.setting = setting;
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.labels == wanted; });
    if (found != rows.end()) return &*found;
  }
  return nullptr;
}

/// The metrics of a row, or what the paper has in their place.
using Side = Scores* (*)(Row&);
Scores* our_side(Row& row) { return &row.result.scores; }
Scores* paper_side(Row& row) { return row.paper ? &row.paper->metrics : nullptr; }

void add_ratios(std::vector<Row>& rows, const std::string& reference, Side side,
                const std::map<std::string, Scores>& floors) {
  const auto above_floor = [&](Row& row) -> std::optional<double> {
    const auto* numbers = side(row);
    const auto error = numbers ? numbers->find(kError) : std::nullopt;
    if (!error) return {};
    const auto floor = floors.find(row.labels.pde);
    return *error - (floor == floors.end() ? 0 : floor->second.find(kError).value_or(0));
  };
  for (auto& row : rows) {
    auto* other = row_beside(rows, row, reference);
    if (!other || !other->result.diverged.empty()) continue;
    const auto ours = above_floor(row), theirs = above_floor(*other);
    if (ours && theirs) side(row)->values[kRatio] = *ours / *theirs;
  }
}

}  // namespace

json to_json(const Report& report) {
  json out = {{"experiment", report.experiment}, {"summary", report.summary}, {"reading", report.reading},
              {"caveat", report.caveat},         {"columns", report.columns}, {"rows", json::array()},
              {"floors", json::object()},        {"sizes", report.sizes},     {"options", report.options}};
  for (const auto& row : report.rows) out["rows"].push_back(row_json(row));
  for (const auto& [pde, floor] : report.floors) out["floors"][pde] = json(floor);
  if (!report.conclusion.empty()) out["conclusion"] = report.conclusion;
  if (!report.scale.empty()) out["scale"] = report.scale;
  out["seconds"] = report.seconds;
  out["machine"] = report.machine;
  if (report.entries) out["entries"] = *report.entries;
  if (!report.merged.empty()) out["merged"] = report.merged;
  return out;
}

Report report_from(const json& object, const std::string& origin) {
  return understood(origin, "the report of a table", [&] {
    Report report{.experiment = object.at("experiment"),
                  .summary = object.at("summary"),
                  .reading = object.value("reading", ""),
                  .caveat = object.value("caveat", ""),
                  .scale = object.value("scale", ""),
                  .columns = object.at("columns"),
                  .options = object.at("options"),
                  .machine = object.at("machine"),
                  .seconds = object.value("seconds", 0.0),
                  .entries = optional_from<size_t>(object, "entries"),
                  .merged = object.value("merged", json::array())};
    report.conclusion = object.value("conclusion", "");
    report.sizes = object.value("sizes", sizes_from(report.options));
    for (const auto& row : object.at("rows")) report.rows.push_back(row_from(row));
    for (const auto& [pde, floor] : object.at("floors").items()) report.floors[pde] = floor.get<Scores>();
    return report;
  });
}

void write_report_file(const std::filesystem::path& file, const Report& report) {
  write_json_file(file, report_format(), to_json(report));
}

Report read_report_file(const std::filesystem::path& file) {
  return report_from(read_json_file(file, report_format()), file.string());
}

bool is_table_report(const std::filesystem::path& file) {
  const auto object = json::parse(read_file(file, report_format().max_bytes), nullptr, false);
  return object.is_object() && object.contains("rows") && object.contains("columns");
}

void add_ratios(Report& report, const std::string& reference) {
  if (reference.empty()) return;
  add_ratios(report.rows, reference, our_side, report.floors);
  add_ratios(report.rows, reference, paper_side, {});
}

void add_teacher_distances(Report& report) {
  for (auto& row : report.rows) {
    const auto* teacher = row_beside(report.rows, row, "teacher");
    const auto ours = row.metric("apd"), theirs = teacher ? teacher->metric("apd") : std::nullopt;
    if (teacher != &row && ours && theirs)
      row.result.scores.values[kTeacherDistance] = std::abs(*ours - *theirs) / *theirs;
  }
}

}  // namespace piddm
