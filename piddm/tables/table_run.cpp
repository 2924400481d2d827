#include "piddm/tables/table_run.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "piddm/core/device.h"
#include "piddm/core/json_text.h"
#include "piddm/core/log.h"
#include "piddm/core/stopwatch.h"
#include "piddm/core/table.h"
#include "piddm/files/atomic_file.h"
#include "piddm/solve/methods/registry.h"
#include "piddm/tables/paper.h"
#include "piddm/tables/table_report.h"
#include "piddm/tables/table_rows.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

/// The paper's row with these labels: every label it has is one of ours, with the same value.
json paper_row(const json& table, const json& labels) {
  for (const auto& row : table.value("rows", json::array())) {
    const auto same = [&](const std::string& key) {
      return row.contains(key) == labels.contains(key) && (!row.contains(key) || row.at(key) == labels.at(key));
    };
    if (std::all_of(kRowLabels.begin(), kRowLabels.end(), same)) return row;
  }
  return nullptr;
}

json paper_of(const std::string& name) {
  const auto names = paper_table_names();
  return std::find(names.begin(), names.end(), name) == names.end() ? json::object() : paper_table(name);
}

struct Moments {
  double sum = 0, squares = 0;
  int64_t n = 0;
  void add(double x) { sum += x, squares += x * x, ++n; }
  double mean() const { return sum / static_cast<double>(n); }
  double deviation() const {
    const auto count = static_cast<double>(n);
    return n < 2 ? 0 : std::sqrt(std::max(0.0, (squares - sum * sum / count) / (count - 1)));
  }
};

/// Means over seeds and their deviations, or the only seed's values and intervals. Not empty.
json combined(const std::vector<json>& results) {
  for (const auto& result : results)
    for (const char* kind : {"refused", "failed"})
      if (result.contains(kind)) return {{kind, result.at(kind)}};
  std::map<std::string, Moments> moments;
  std::vector<std::string> order;
  for (const auto& result : results)
    for (const auto& [key, value] : result.items()) {
      if (!value.is_number()) continue;
      if (!moments.contains(key)) order.push_back(key);
      moments[key].add(value.get<double>());
    }
  json row = {{"metrics", json::object()}};
  for (const auto& key : order) row["metrics"][key] = moments.at(key).mean();
  if (results.size() > 1) {
    for (const auto& key : order) row["deviation"][key] = moments.at(key).deviation();
  } else if (results.front().contains("intervals")) {
    row["intervals"] = results.front().at("intervals");
  }
  return row;
}

Entry with_seed(Entry entry, int64_t seed) {
  entry.experiment.seed = seed;
  return entry;
}

struct Prepared {
  TableRecipe recipe;
  std::vector<Entry> entries;
};

/// An option that would be ignored is a mistake.
void check_choices(const std::string& name, const TableRecipe& recipe, const TableOptions& options) {
  const std::vector<std::pair<std::string, const std::vector<std::string>&>> choices = {
      {"pdes", options.pdes}, {"methods", options.methods}, {"tasks", options.tasks}, {"settings", options.settings}};
  for (const auto& [key, value] : choices)
    require<UsageError>(value.empty() || std::find(recipe.takes.begin(), recipe.takes.end(), key) != recipe.takes.end(),
                        "{}: '{}' chooses nothing in this table{}", name, key,
                        recipe.takes.empty() ? "" : fmt::format("; it takes {}", fmt::join(recipe.takes, ", ")));
}

/// Before anything is trained in vain.
void check_options(const TableOptions& o) {
  for (const auto& [key, value, least] : {std::tuple{"samples", o.samples, 2},
                                          {"cases", o.cases, 1},
                                          {"starts", o.starts, 1},
                                          {"dflow_samples", o.dflow_samples, 2},
                                          {"dflow_cases", o.dflow_cases, 1},
                                          {"judge.held_out", o.judge.held_out, 4}})
    require<UsageError>(value >= least, "{}: must be at least {}, got {}", key, least, value);
  for (const auto& [pde, settings] : o.by_pde.items()) table_experiment(o, pde);
  for (const auto& [method, settings] : o.by_method.items()) method_card(method).check(settings);
}

Prepared prepare(const std::string& name, const TableOptions& options, Workbench& bench) {
  Prepared out{table_registry().at(name)(), {}};
  require<UsageError>(!options.seeds.empty(), "seeds: name at least one");
  check_choices(name, out.recipe, options);
  check_options(options);
  out.entries = out.recipe.entries(options);
  for (const auto& entry : out.entries) bench.judge_by(table_experiment(options, entry.experiment.pde.name));
  return out;
}

json rows_of(const Prepared& table, const TableOptions& options, const std::string& name, Workbench& bench) {
  const auto paper = paper_of(name);
  json rows = json::array();
  for (const auto& entry : table.entries) {
    std::vector<json> results;
    for (const int64_t seed : options.seeds)
      if (const json result = bench.result(with_seed(entry, seed)); !result.is_null()) results.push_back(result);
    if (results.empty()) continue;
    json row = {{"labels", entry.labels}, {"count", entry.count}};
    if (results.size() < options.seeds.size()) row["seeds"] = results.size();
    row.update(combined(results));
    row["paper"] = paper_row(paper, entry.labels);
    rows.push_back(row);
  }
  return rows;
}

json floors_of(const Prepared& table, const TableOptions& options, Workbench& bench) {
  json floors = json::object();
  for (const auto& entry : table.entries) {
    const auto& pde = entry.experiment.pde.name;
    if (floors.contains(pde)) continue;
    const json floor = bench.floor(table_experiment(options, pde), options.samples);
    floors[pde] = floor.is_null() ? json::object() : floor;
  }
  return floors;
}

/// Of a run, or of a look when everything was finished.
bool holds_whole_table(const fs::path& out) {
  const auto file = out / "report.json";
  if (!fs::exists(file)) return false;
  const auto report = parse_json(read_file(file, 64 << 20), file.string());
  return report.at("rows").size() >= report.value("entries", size_t{0});
}

}  // namespace

json run_table(const std::string& name, const TableOptions& options, const fs::path& root, const fs::path& out,
               torch::Device device, Recipe::Mode mode, const std::string& scale) {
  const Stopwatch watch;
  Workbench bench(root, options.judge, device, mode);
  const auto table = prepare(name, options, bench);
  const auto paper = paper_of(name);
  std::string summary;
  for (const auto& entry : table_registry().entries())
    if (entry.name == name) summary = entry.summary;
  json report = {{"experiment", name},
                 {"summary", summary},
                 {"reading", table.recipe.reading},
                 {"caveat", paper.value("caveat", "")},
                 {"columns", shown_columns(table.recipe)},
                 {"rows", rows_of(table, options, name, bench)},
                 {"floors", floors_of(table, options, bench)},
                 {"options", write_fields(options)}};
  if (!table.recipe.reference.empty()) {
    add_ratios(report["rows"], table.recipe.reference, "metrics", report.at("floors"));
    add_ratios(report["rows"], table.recipe.reference, "paper", json::object());
  }
  if (!scale.empty()) report["scale"] = scale;
  report["seconds"] = watch.seconds();
  report["machine"] = describe_machine();
  if (!bench.recipe().running()) {
    require<DataError>(!report.at("rows").empty(), "{}: no step of {} with these options is finished here",
                       root.string(), name);
    report["entries"] = table.entries.size();
  }
  const bool partial = report.contains("entries") && report.at("rows").size() < table.entries.size();
  if (partial && holds_whole_table(out)) {
    spdlog::warn("the whole table in {} is kept; the one of these options is shown only", out.string());
    return report;
  }
  write_table(report, out);
  if (!bench.recipe().running()) return report;
  auto entries = table.entries;
  for (auto& entry : entries) entry = with_seed(entry, options.seeds.front());
  if (table.recipe.draw) table.recipe.draw(bench, entries, report, out);
  return report;
}

std::vector<PlannedStep> plan_table(const std::string& name, const TableOptions& options, const fs::path& root,
                                    torch::Device device) {
  Workbench bench(root, options.judge, device, Recipe::Mode::plan);
  const auto table = prepare(name, options, bench);
  rows_of(table, options, name, bench);
  floors_of(table, options, bench);
  return bench.recipe().plan();
}

std::string format_duration(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  return seconds < 6000 ? fmt::format("{:.1f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

std::string format_plan(const std::vector<PlannedStep>& plan) {
  Table table({"step", "", "time"}, {Align::left, Align::left, Align::right});
  double missing = 0;
  for (const auto& step : plan) {
    table.add_row({step.name, step.done ? "done" : "to do", format_duration(step.seconds)});
    if (!step.done) missing += step.seconds;
  }
  return fmt::format("{}\n{} steps, to do: about {}\n", table.text(), plan.size(), format_duration(missing));
}

}  // namespace piddm
