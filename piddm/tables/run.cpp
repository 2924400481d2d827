#include "piddm/tables/run.h"

#include <algorithm>
#include <map>
#include <set>

#include "piddm/core/device.h"
#include "piddm/core/log.h"
#include "piddm/core/stopwatch.h"
#include "piddm/core/table.h"
#include "piddm/model/network_registry.h"
#include "piddm/plot/picture_file.h"
#include "piddm/solve/methods/registry.h"
#include "piddm/tables/report_files.h"
#include "piddm/tables/seeds.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMaxSeeds = 100;

Entry with_seed(Entry entry, uint64_t seed) {
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

void check_options(const TableOptions& o) {
  for (const auto& [pde, settings] : o.by_pde.items()) table_experiment(o, pde);
  for (const auto& [method, settings] : o.by_method.items()) method_card(method).check(settings);
  for (const auto& [type, settings] : o.networks.items()) {
    json table = settings;
    table["type"] = type;
    network_from(table, 1, 0);
  }
  for (const auto& [key, cases] : {std::pair{"cases", o.cases}, {"slow_cases", o.slow_cases}})
    require<UsageError>(cases <= o.judge.held_out,
                        "{}: {} cases of {} held-out samples; lower it or raise judge.held_out", key, cases,
                        o.judge.held_out);
}

void check_seeds(const std::vector<uint64_t>& seeds) {
  require<UsageError>(!seeds.empty(), "seeds: name at least one");
  require<UsageError>(seeds.size() <= kMaxSeeds, "seeds: at most {}, got {}", kMaxSeeds, seeds.size());
  std::set<uint64_t> seen;
  for (const uint64_t seed : seeds) require<UsageError>(seen.insert(seed).second, "seeds: {} is named twice", seed);
}

Prepared prepare(const std::string& name, const TableOptions& options, Workbench& bench) {
  Prepared out{table_registry().at(name)(), {}};
  check_seeds(options.seeds);
  check_choices(name, out.recipe, options);
  check_options(options);
  out.entries = out.recipe.entries(options);
  for (const auto& entry : out.entries) bench.judge_by(table_experiment(options, entry.experiment.pde.name));
  return out;
}

std::map<std::string, Scores> floors_of(const Prepared& table, const TableOptions& options, Workbench& bench) {
  std::map<std::string, Scores> floors;
  for (const auto& entry : table.entries) {
    const auto& pde = entry.experiment.pde.name;
    if (!floors.contains(pde)) floors[pde] = bench.floor(table_experiment(options, pde), options.samples);
  }
  return floors;
}

std::string sizes_of(const TableOptions& o) {
  return fmt::format(
      "{} samples per method ({} of slow ones), {} cases per task ({} of slow ones), seeds {}, judged against {} "
      "held-out "
      "true samples",
      o.samples, o.slow_samples, o.cases, o.slow_cases, fmt::join(o.seeds, ", "), o.judge.held_out);
}

std::string summary_of(const std::string& name) {
  for (const auto& entry : table_registry().entries())
    if (entry.name == name) return entry.summary;
  return "";
}

}  // namespace

std::vector<Row> run_entries(Workbench& bench, const std::vector<Entry>& entries, const std::vector<uint64_t>& seeds,
                             const std::vector<LabelledPaperRow>& paper) {
  std::vector<Row> rows;
  for (const auto& entry : entries) {
    Row row{.labels = entry.labels, .count = entry.count};
    for (const uint64_t seed : seeds)
      if (const auto result = bench.result(with_seed(entry, seed))) row.by_seed[seed] = *result;
    if (row.by_seed.empty()) continue;
    if (row.by_seed.size() < seeds.size()) row.seeds = static_cast<int64_t>(row.by_seed.size());
    combine_seeds(row);
    for (const auto& [labels, numbers] : paper)
      if (labels == entry.labels && !row.paper) row.paper = numbers;
    rows.push_back(row);
  }
  return rows;
}

Report run_table(const std::string& name, const TableOptions& options, const fs::path& root, const fs::path& out,
                 torch::Device device, Recipe::Mode mode, const std::string& scale) {
  const Stopwatch watch;
  Workbench bench(root, options.judge, device, mode);
  const auto table = prepare(name, options, bench);
  const auto paper = paper_table(name);
  Report report{.experiment = name,
                .summary = summary_of(name),
                .reading = table.recipe.reading,
                .caveat = paper.caveat,
                .scale = scale,
                .columns = shown_columns(table.recipe),
                .rows = run_entries(bench, table.entries, options.seeds, paper.rows),
                .floors = floors_of(table, options, bench),
                .sizes = sizes_of(options),
                .options = write_fields(options),
                .machine = describe_machine(),
                .seconds = watch.seconds()};
  conclude(report, table.recipe);
  if (!bench.recipe().running()) {
    require<DataError>(!report.rows.empty(), "{}: no step of {} with these options is finished here", root.string(),
                       name);
    report.entries = table.entries.size();
    const auto there = read_report(out);
    if (!report.whole() && there && there->whole()) {
      spdlog::warn("the whole table in {} is kept; the one of these options is shown only", out.string());
      return report;
    }
    write_report(report, out);
    return report;
  }
  write_report(report, out);
  auto entries = table.entries;
  for (auto& entry : entries) entry = with_seed(entry, options.seeds.front());
  if (table.recipe.charts)
    for (const auto& [chart, figure] : table.recipe.charts(report)) write_chart(figure, out, chart);
  if (table.recipe.sheets) table.recipe.sheets(bench, entries, out);
  return report;
}

std::vector<PlannedStep> plan_table(const std::string& name, const TableOptions& options, const fs::path& root,
                                    torch::Device device) {
  Workbench bench(root, options.judge, device, Recipe::Mode::plan);
  const auto table = prepare(name, options, bench);
  run_entries(bench, table.entries, options.seeds);
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
