#include "piddm/tables/demo/demo.h"

#include "piddm/core/config.h"
#include "piddm/core/device.h"
#include "piddm/core/table.h"
#include "piddm/data/generate.h"
#include "piddm/eval/metric_registry.h"
#include "piddm/files/atomic_file.h"
#include "piddm/files/json_file.h"
#include "piddm/plot/picture_file.h"
#include "piddm/tables/entries.h"
#include "piddm/tables/field_panels.h"
#include "piddm/tables/paper.h"
#include "piddm/tables/pictures.h"
#include "piddm/tables/run.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

constexpr const char *kSampleSheet = "samples", *kTaskSheet = "tasks";

using Names = std::vector<std::string>;

std::vector<Entry> generated_entries(const DemoOptions& o) {
  const TableOptions sizes{.samples = o.samples, .cases = o.cases};
  std::vector<Entry> entries;
  for (const char* method : {"teacher", "distill", "piddm-1", "piddm-ref", "piddm-decoded"})
    entries.push_back(generation(sizes, o.experiment, method));
  entries.back().labels.method = "piddm-1-decoded";
  return entries;
}

std::vector<Entry> task_entries(const DemoOptions& o) {
  const TableOptions sizes{.samples = o.samples, .cases = o.cases};
  std::vector<Entry> entries;
  for (const char* task : {"forward", "inverse", "reconstruct"})
    entries.push_back(task_entry(sizes, o.experiment, task, "piddm"));
  return entries;
}

/// The rows of all entries; a NumericsError where one broke down.
std::vector<Row> rows_of(Workbench& bench, const std::vector<Entry>& entries, const DemoOptions& o) {
  auto rows = run_entries(bench, entries, {o.experiment.seed}, paper_table("table-generative").rows);
  for (const auto& row : rows)
    require<NumericsError>(row.result.done(), "{}: {}{}", row.labels.text(), row.result.refused, row.result.failed);
  return rows;
}

std::string number_cell(const Scores& numbers, const std::string& metric) {
  return score_text(numbers, metric, false, "-");
}

std::string result_cell(const Row& row, const std::string& metric) {
  return score_text(row.result.scores, metric, !row.result.diverged.empty(), "-");
}

Names generated_metrics(const DemoReport& report) {
  const auto parts = metric_parts(*report.pde);
  auto metrics =
      metric_columns({"pde_error", "rel_residual", "boundary_error", "solution_error", "mmse", "smse"}, parts);
  metrics.emplace_back("worst_band");  // without those of single channels
  const auto rest = metric_columns({"between", "interface_ratio", "islands_ratio", "decode_iterations", "decode_moved",
                                    "nfe", "backward", "seconds_per_sample"},
                                   parts);
  metrics.insert(metrics.end(), rest.begin(), rest.end());
  std::erase_if(metrics, [&](const auto& metric) {
    const auto needs = find_metric(metric)->needs;
    return (needs == MetricNeeds::boundary || needs == MetricNeeds::two_valued) && !report.floor.has(metric);
  });
  return metrics;
}

Names task_metrics(const DemoReport& report) {
  Names metrics;
  for (const auto& channel : report.pde->channel_names()) {
    metrics.push_back("mse_" + channel);
    metrics.push_back("mean_field_mse_" + channel);
  }
  if (report.tasks.front().metric("misclassified")) metrics.emplace_back("misclassified");
  const auto rest =
      metric_columns({"pde_error", "rel_residual", "solution_error", "nfe", "backward", "seconds_per_sample"},
                     metric_parts(*report.pde));
  metrics.insert(metrics.end(), rest.begin(), rest.end());
  return metrics;
}

Table methods_table(const DemoReport& report) {
  Names header = {"metric"};
  for (const auto& row : report.methods) header.push_back(row.labels.method);
  header.emplace_back("floor");
  Table table(header);
  for (const auto& metric : generated_metrics(report)) {
    Names cells = {metric};
    for (const auto& row : report.methods) cells.push_back(result_cell(row, metric));
    cells.push_back(number_cell(report.floor, metric));
    table.add_row(cells);
  }
  return table;
}

Table tasks_table(const DemoReport& report) {
  const auto metrics = task_metrics(report);
  Names header = {"task"};
  header.insert(header.end(), metrics.begin(), metrics.end());
  Table table(header);
  for (const auto& row : report.tasks) {
    Names cells = {row.labels.task};
    for (const auto& metric : metrics) cells.push_back(result_cell(row, metric));
    table.add_row(cells);
  }
  return table;
}

/// The paper's numbers for the methods it has; no rows for a PDE it does not have.
Table paper_rows(const DemoReport& report) {
  Names header = {"paper (128x128, its own units)"};
  std::vector<const Row*> rows;
  for (const auto& row : report.methods)
    if (row.paper) rows.push_back(&row), header.push_back(row.labels.method);
  Table table(header);
  if (rows.empty()) return table;
  for (const char* metric : {"pde_error", "mmse", "smse", "nfe"}) {
    Names cells = {metric};
    for (const auto* row : rows) cells.push_back(number_cell(row->paper->metrics, metric));
    table.add_row(cells);
  }
  return table;
}

/// "0.112", or of several equations "0.02 (flux), 1 (mass)".
std::string scales_text(const Pde& pde) {
  Names parts;
  for (const auto& equation : pde.equations())
    parts.push_back(fmt::format("{:.4g}{}", equation.scale, equation.name.empty() ? "" : " (" + equation.name + ")"));
  return fmt::format("{}", fmt::join(parts, ", "));
}

json scales_json(const Pde& pde) {
  const auto names = pde.several_equations();
  if (names.empty()) return pde.equations().front().scale;
  json scales = json::object();
  for (const auto& equation : pde.equations()) scales[equation.name] = equation.scale;
  return scales;
}

std::string explanation(const DemoReport& report) {
  const auto& o = report.options;
  return fmt::format(
      "{}\n{} samples of each method against {} held-out true ones; {} cases per task. floor: true data against true "
      "data at these sizes (95th percentile), and the data's own residual.\n"
      "pde_error = mean (c r)^2 with c = {}, rel_residual = RMS(r) / RMS(its reference term on true data); every "
      "other error is in units of a channel's variance (boundary_error: of u's own unit).\n",
      report.pde->summary(), o.samples, o.held_out, o.cases, scales_text(*report.pde));
}

/// Ours beside a rival by one metric, both above the floor of true data.
std::string comparison(const DemoReport& report, const Row& ours_row, const Row& rival, const std::string& metric) {
  if (!ours_row.result.diverged.empty()) return metric + " diverged: it LOSES here";
  if (!rival.result.diverged.empty()) return fmt::format("{} where {} diverged", metric, rival.labels.method);
  const double floor = report.floor.at(metric);
  const double ours = ours_row.result.scores.at(metric) - floor, theirs = rival.result.scores.at(metric) - floor;
  const auto& name = rival.labels.method;
  if (ours <= 0)
    return fmt::format("{} below the floor of true data ({}'s is {})", metric, name, theirs <= 0 ? "too" : "not");
  if (ours < theirs) return fmt::format("{} 1/{:.3g} of {}'s", metric, theirs / ours, name);
  if (theirs <= 0) return fmt::format("{} above the floor, {}'s below: it LOSES here", metric, name);
  return fmt::format("{} {:.3g} times {}'s: it LOSES here", metric, ours / theirs, name);
}

std::string verdict(const DemoReport& report) {
  const auto &teacher = report.methods[0], &plain = report.methods[1], &ours = report.methods[2];
  Names parts;
  for (const auto* rival : {&teacher, &plain})
    for (const char* metric : {"pde_error", "solution_error"})
      parts.push_back(comparison(report, ours, *rival, metric));
  return fmt::format("PIDDM-1, one evaluation, above the floor: {}.\n", fmt::join(parts, "; "));
}

/// What a task knows of a channel that it asks for: of itself where it is observed in part, else of the others.
std::vector<Panel> given_panels(const SolvedCase& solved, const Pde& pde, Task task, int64_t wanted) {
  std::vector<Panel> panels;
  for (int64_t c = 0; c < pde.num_channels(); ++c)
    if (reveals(task, pde.channels()[static_cast<size_t>(c)]) && (c == wanted || !asked(solved, c)))
      panels.push_back(given_panel(solved, pde, c));
  return panels;
}

/// A row per task and channel that it asks for: given, true, found, error.
void draw_task_sheet(Workbench& bench, const std::vector<Entry>& entries, const Pde& pde, const fs::path& out) {
  Figure figure{.title = "Tasks solved with the one-step student"};
  for (const auto& entry : entries) {
    const auto kept = bench.fields(entry);
    const SolvedCase solved{kept.at("x")[0], kept.at("truth")[0], kept.at("mask")[0]};
    for (int64_t c = 0; c < pde.num_channels(); ++c) {
      if (!asked(solved, c)) continue;
      FigureRow row{entry.labels.task + " " + pde.channels()[static_cast<size_t>(c)].name,
                    given_panels(solved, pde, entry.task, c)};
      if (!pde.channels()[static_cast<size_t>(c)].scalar) row.panels.push_back(true_panel(solved, pde, c));
      for (auto& panel : answer_panels(solved, pde, c)) row.panels.push_back(std::move(panel));
      figure.rows.push_back(std::move(row));
    }
  }
  write_sheet(figure, out, kTaskSheet);
}

/// OUT/NAME leads to the run of a model.
void link_model(const fs::path& out, const std::string& name, const fs::path& run) {
  std::error_code ignored;  // a file system without links has the models under steps/ all the same
  fs::remove(out / name, ignored);
  fs::create_directory_symlink(fs::relative(run, out), out / name, ignored);
}

/// Shown, or named where a page cannot show it.
std::string markdown_picture(const std::string& name) {
  const auto file = picture_name(name);
  return fmt::format("\n{}[{}]({})\n", picture_format(file) == PictureFormat::pdf ? "" : "!", name, file);
}

std::string markdown_report(const DemoReport& report) {
  const auto paper = paper_rows(report);
  return fmt::format("# Demo: {}\n\n{}\n{}\n{}\n{}{}{}{}\n{}{}", report.pde->name(), verdict(report),
                     methods_table(report).markdown(), tasks_table(report).markdown(),
                     paper.num_rows() == 0 ? "" : paper.markdown() + "\n", explanation(report),
                     markdown_picture(kSampleSheet), markdown_picture(kTaskSheet), describe_ensemble(report.ensemble),
                     markdown_picture("ensemble"));
}

}  // namespace

std::string demo_preset(const std::string& pde) {
  pde_registry().at(pde);
  for (const char* grid : {"-32", "-64", "-128"})
    for (const auto& preset : presets())
      if (preset.name == pde + grid) return preset.name;
  throw UsageError("[{}] has no demo preset", pde);
}

DemoReport run_demo(const DemoOptions& options, const fs::path& out, torch::Device device) {
  const auto& experiment = options.experiment;
  parse_experiment(write_fields(experiment));  // for its errors
  check_training_memory(experiment, device);
  Workbench bench(out, {.held_out = std::max(options.held_out, options.cases), .resamples = 0}, device);
  const auto generated = generated_entries(options), tasks = task_entries(options);
  DemoReport report{.options = options,
                    .pde = make_pde(experiment.pde),
                    .methods = rows_of(bench, generated, options),
                    .tasks = rows_of(bench, tasks, options),
                    .floor = bench.floor(experiment, options.samples),
                    .machine = describe_machine()};
  report.ensemble = make_demo_ensemble(bench, tasks.front(), out, device);
  write_json_file(out / "report.json", {.name = "piddm-demo", .version = 2}, to_json(report));
  write_file_atomically(out / "report.md", markdown_report(report));
  draw_sample_sheet(bench, generated, experiment.pde.name, out, kSampleSheet);
  draw_task_sheet(bench, tasks, *report.pde, out);
  link_model(out, "teacher", bench.model_folder(generated.front()));
  link_model(out, "student", bench.model_folder(tasks.front()));
  return report;
}

json to_json(const DemoReport& report) {
  const auto& pde = *report.pde;
  json out = {
      {"methods", json::object()}, {"tasks", json::object()}, {"floor", json(report.floor)}, {"paper", nullptr}};
  for (const auto& row : report.methods) {
    out["methods"][row.labels.method] = to_json(row.result);
    if (row.paper) out["paper"][row.labels.method] = json(row.paper->metrics);
  }
  for (const auto& row : report.tasks) out["tasks"][row.labels.task] = to_json(row.result);
  out["pde"] = write_fields(pde.options());
  out["pde"].update(
      json{{"summary", pde.summary()}, {"channels", pde.channel_names()}, {"residual_scale", scales_json(pde)}});
  out["options"] = write_fields(report.options);
  out["ensemble"] = to_json(report.ensemble);
  out["machine"] = report.machine;
  return out;
}

std::string format_demo(const DemoReport& report) {
  const auto paper = paper_rows(report);
  return methods_table(report).text() + "\n" + tasks_table(report).text() + "\n" +
         (paper.num_rows() == 0 ? "" : paper.text() + "\n") + explanation(report) + "\n" + verdict(report) +
         describe_ensemble(report.ensemble);
}

}  // namespace piddm
