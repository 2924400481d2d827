#include "piddm/recipe/table_report.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "piddm/core/atomic_file.h"
#include "piddm/core/device.h"
#include "piddm/core/stopwatch.h"
#include "piddm/recipe/paper.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

const std::vector<std::string> kLabels = {"pde", "task", "method", "setting"};
/// Of these larger is not worse, so none is best.
const std::set<std::string> kCounts = {"nfe", "backward", "training_seconds"};

bool is_number(const json& values, const std::string& key) {
  return values.is_object() && values.contains(key) && values.at(key).is_number();
}

const json& labels_of(const json& row) { return row.at("labels"); }

/// The paper's row with these labels: every label it has is one of ours, with the same value.
json paper_row(const json& table, const json& labels) {
  for (const auto& row : table.value("rows", json::array())) {
    const auto same = [&](const std::string& key) {
      return row.contains(key) == labels.contains(key) && (!row.contains(key) || row.at(key) == labels.at(key));
    };
    if (std::all_of(kLabels.begin(), kLabels.end(), same)) return row;
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

Prepared prepare(const std::string& name, const TableOptions& options, Workbench& bench) {
  Prepared out{table_registry().at(name)(), {}};
  require<UsageError>(!options.seeds.empty(), "seeds: name at least one");
  check_choices(name, out.recipe, options);
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

/// pde_error above the floor of true data (0 where that is not known, as in the paper) over that of the reference method with the same other
/// labels, in `values` (metrics or paper) of each row.
void add_ratios(json& rows, const std::string& reference, const std::string& values, const json& floors) {
  const auto above_floor = [&](const json& row) {
    const auto floor = floors.value(labels_of(row).at("pde").get<std::string>(), json::object());
    return row.at(values).at("pde_error").get<double>() -
           (is_number(floor, "pde_error") ? floor.at("pde_error").get<double>() : 0);
  };
  for (auto& row : rows) {
    if (!row.contains(values) || !is_number(row.at(values), "pde_error")) continue;
    json wanted = labels_of(row);
    wanted["method"] = reference;
    for (const auto& other : rows)
      if (labels_of(other) == wanted && other.contains(values) && is_number(other.at(values), "pde_error"))
        row[values]["pde_error_ratio"] = above_floor(row) / above_floor(other);
  }
}

std::string cell(const json& row, const std::string& metric) {
  if (!row.contains("metrics") || !is_number(row.at("metrics"), metric)) return "";
  auto text = format_number(row.at("metrics").at(metric).get<double>());
  if (is_number(row.value("deviation", json()), metric))
    text += " ± " + format_number(row.at("deviation").at(metric).get<double>());
  return text;
}

std::string paper_cell(const json& row, const std::string& metric) {
  if (!is_number(row.at("paper"), metric)) return "";
  return format_number(row.at("paper").at(metric).get<double>()) + (row.at("paper").contains("doubtful") ? "?" : "");
}

struct Column {
  std::string metric;
  bool paper;
};

std::vector<Column> columns_of(const json& report) {
  const auto& rows = report.at("rows");
  std::vector<Column> out;
  for (const auto& name : report.at("columns")) {
    const auto metric = name.get<std::string>();
    for (const bool paper : {false, true})
      if (std::any_of(rows.begin(), rows.end(),
                      [&](const json& row) { return !(paper ? paper_cell(row, metric) : cell(row, metric)).empty(); }))
        out.push_back({metric, paper});
  }
  return out;
}

std::vector<std::string> labels_in(const json& report) {
  std::vector<std::string> out;
  for (const auto& label : kLabels) {
    std::set<json> values;
    for (const auto& row : report.at("rows")) values.insert(labels_of(row).value(label, json("")));
    if (values.size() > 1 || label == "method") out.push_back(label);
  }
  return out;
}

/// Rows sorted by their labels, each label's values in the order in which they first appear.
json in_order(const json& rows) {
  std::vector<std::pair<std::vector<size_t>, json>> ranked;
  std::map<std::string, std::vector<json>> values;
  for (const auto& row : rows) {
    std::vector<size_t> ranks;
    for (const auto& label : kLabels) {
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

/// Marks the smallest value of each metric among rows of the same PDE and task.
void emphasise_best(Table& table, const json& report, const std::vector<Column>& columns, size_t first_column) {
  const auto& rows = report.at("rows");
  const auto group = [&](size_t i) {
    return labels_of(rows[i]).value("pde", "") + " " + labels_of(rows[i]).value("task", "");
  };
  for (size_t c = 0; c < columns.size(); ++c) {
    if (columns[c].paper || kCounts.contains(columns[c].metric)) continue;
    std::map<std::string, std::pair<double, size_t>> best;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (cell(rows[i], columns[c].metric).empty()) continue;
      const double value = rows[i].at("metrics").at(columns[c].metric).get<double>();
      const auto found = best.find(group(i));
      if (found == best.end() || value < found->second.first) best[group(i)] = {value, i};
    }
    for (const auto& [name, winner] : best) table.emphasise(winner.second, first_column + c);
  }
}

std::string remarks_of(const json& report) {
  std::string text;
  for (const auto& row : report.at("rows")) {
    std::string name;
    for (const auto& [key, value] : labels_of(row).items())
      name += (name.empty() ? "" : " ") + value.get<std::string>();
    if (row.contains("seeds")) text += fmt::format("- {}: {} seeds so far\n", name, row.at("seeds").dump());
    for (const char* kind : {"refused", "failed"})
      if (row.contains(kind)) text += fmt::format("- {}: {}: {}\n", name, kind, row.at(kind).get<std::string>());
    if (row.at("paper").is_object() && row.at("paper").contains("doubtful"))
      text += fmt::format("- {}: the paper's row is doubtful: {}\n", name,
                          row.at("paper").at("doubtful").get<std::string>());
  }
  return text;
}

std::string floors_text(const json& report) {
  std::string text;
  for (const auto& [pde, floor] : report.at("floors").items()) {
    text += fmt::format("- floor of {}:", pde);
    for (const char* metric : {"mmse", "smse", "swd", "apdd", "frechet_teacher", "pde_error"})
      if (is_number(floor, metric))
        text += fmt::format(" {} {}", metric, format_number(floor.at(metric).get<double>()));
    text += "\n";
  }
  return text;
}

std::string notes_of(const json& report) {
  const auto& o = report.at("options");
  std::string text = fmt::format("{}\n\n", report.at("reading").get<std::string>());
  text += fmt::format(
      "- {} samples a method ({} of D-Flow), {} cases a task ({} of D-Flow), seeds {}, judged against {} held-out true "
      "samples\n",
      o.at("samples").dump(), o.at("dflow_samples").dump(), o.at("cases").dump(), o.at("dflow_cases").dump(),
      o.at("seeds").dump(), o.at("judge").at("held_out").dump());
  if (const auto caveat = report.value("caveat", std::string()); !caveat.empty()) text += "- paper: " + caveat + "\n";
  return text + floors_text(report) + remarks_of(report);
}

std::string title_of(const json& report) {
  return fmt::format("{} ({})", report.at("experiment").get<std::string>(), report.at("summary").get<std::string>());
}

}  // namespace

json run_table(const std::string& name, const TableOptions& options, const fs::path& root, const fs::path& out,
               torch::Device device, Recipe::Mode mode) {
  const Stopwatch watch;
  Workbench bench(root, options.judge, device, mode);
  const auto table = prepare(name, options, bench);
  const auto paper = paper_of(name);
  auto columns = table.recipe.columns;
  if (!table.recipe.reference.empty())
    columns.insert(std::find(columns.begin(), columns.end(), "pde_error") + 1, "pde_error_ratio");
  std::string summary;
  for (const auto& entry : table_registry().entries())
    if (entry.name == name) summary = entry.summary;
  json report = {{"experiment", name},
                 {"summary", summary},
                 {"reading", table.recipe.reading},
                 {"caveat", paper.value("caveat", "")},
                 {"columns", columns},
                 {"rows", rows_of(table, options, name, bench)},
                 {"floors", floors_of(table, options, bench)},
                 {"options", write_fields(options)}};
  if (!table.recipe.reference.empty()) {
    add_ratios(report["rows"], table.recipe.reference, "metrics", report.at("floors"));
    add_ratios(report["rows"], table.recipe.reference, "paper", json::object());
  }
  report["seconds"] = watch.seconds();
  report["machine"] = describe_machine();
  if (!bench.recipe().running()) {
    require<DataError>(!report.at("rows").empty(), "{}: no step of {} with these options is finished here",
                       root.string(), name);
    report["entries"] = table.entries.size();
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

Table table_of(const json& report) {
  const auto labels = labels_in(report);
  const auto columns = columns_of(report);
  std::vector<std::string> header = labels;
  for (const auto& column : columns)
    header.push_back(!column.paper                    ? column.metric
                     : header.back() == column.metric ? "paper"
                                                      : "paper's " + column.metric);
  std::vector<Align> align(header.size(), Align::right);
  std::fill_n(align.begin(), labels.size(), Align::left);
  Table table(header, align);
  for (const auto& row : report.at("rows")) {
    std::vector<std::string> cells;
    for (const auto& label : labels) cells.push_back(labels_of(row).value(label, ""));
    for (const auto& column : columns)
      cells.push_back(column.paper ? paper_cell(row, column.metric) : cell(row, column.metric));
    table.add_row(cells);
  }
  emphasise_best(table, report, columns, labels.size());
  return table;
}

std::string format_table(const json& report) { return table_of(report).text() + "\n" + notes_of(report); }

void write_table(const json& report, const fs::path& out) {
  fs::create_directories(out);
  const auto table = table_of(report);
  write_file_atomically(out / "report.json", report.dump(2) + "\n");
  write_file_atomically(out / "table.csv", table.csv());
  write_file_atomically(out / "table.tex", table.latex());
  write_file_atomically(out / "table.md",
                        fmt::format("# {}\n\n{}\n{}", title_of(report), table.markdown(), notes_of(report)));
}

json merge_reports(const std::vector<json>& reports) {
  require<UsageError>(!reports.empty(), "merge: name at least one report");
  json out = reports.front();
  out["merged"] = json::array();
  for (const auto& report : reports) {
    require<UsageError>(report.at("experiment") == out.at("experiment"), "merge: a report of {} and one of {}",
                        out.at("experiment").get<std::string>(), report.at("experiment").get<std::string>());
    for (const auto& row : report.at("rows")) {
      auto& rows = out["rows"];
      const auto same =
          std::find_if(rows.begin(), rows.end(), [&](const json& r) { return labels_of(r) == labels_of(row); });
      if (same == rows.end())
        rows.push_back(row);
      else
        *same = row;
    }
    for (const auto& [pde, floor] : report.at("floors").items())
      if (!floor.empty()) out["floors"][pde] = floor;
    out["merged"].push_back(
        {{"options", report.at("options")}, {"machine", report.at("machine")}, {"seconds", report.at("seconds")}});
  }
  out["rows"] = in_order(out.at("rows"));
  const auto recipe = table_registry().at(out.at("experiment").get<std::string>())();
  if (!recipe.reference.empty()) add_ratios(out["rows"], recipe.reference, "metrics", out.at("floors"));
  return out;
}

ReportSection table_section(const json& report, const fs::path& folder) {
  ReportSection section{.id = report.at("experiment").get<std::string>(),
                        .title = title_of(report),
                        .text = notes_of(report),
                        .tables = {{table_of(report)}},
                        .details = {{"options", report.at("options")}, {"machine", report.at("machine")}}};
  std::set<fs::path> pictures;  // the SVG of a picture, else its PNG
  for (const auto& file : fs::directory_iterator(folder))
    if (file.path().extension() == ".svg" ||
        (file.path().extension() == ".png" && !fs::exists(fs::path(file.path()).replace_extension(".svg"))))
      pictures.insert(file.path());
  for (const auto& picture : pictures) section.pictures.push_back({picture, picture.stem().string()});
  return section;
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
