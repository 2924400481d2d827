#include "piddm/tables/demo_report.h"

#include <algorithm>

#include "piddm/core/table.h"
#include "piddm/data/dataset.h"
#include "piddm/files/atomic_file.h"
#include "piddm/files/safetensors.h"
#include "piddm/plot/plot.h"
#include "piddm/tables/demo.h"
#include "piddm/tables/field_panels.h"
#include "piddm/tables/markdown.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

const std::vector<std::string> kMethods = {"teacher", "distill", "piddm-1", "piddm-ref", "piddm-1-decoded"};
const std::vector<std::string> kDemoTasks = {"forward", "inverse", "reconstruct"};

std::vector<std::string> channels_of(const json& report) {
  return report.at("pde").at("channels").get<std::vector<std::string>>();
}

std::vector<std::string> metrics_of(const json& report) {
  std::vector<std::string> metrics = {"pde_error", "rel_residual"};
  if (report.at("floor").contains("boundary_error")) metrics.emplace_back("boundary_error");
  metrics.emplace_back("solution_error");
  for (const char* metric : {"mmse", "smse"}) {
    metrics.emplace_back(metric);
    for (const auto& channel : channels_of(report)) metrics.push_back(metric + ("_" + channel));
  }
  for (const char* metric : {"decode_iterations", "decode_moved", "nfe", "backward", "seconds_per_sample"})
    metrics.emplace_back(metric);
  return metrics;
}

Table methods_table(const json& report) {
  std::vector<std::string> header = {"metric"};
  header.insert(header.end(), kMethods.begin(), kMethods.end());
  header.emplace_back("floor");
  Table table(header);
  for (const auto& metric : metrics_of(report)) {
    std::vector<std::string> row = {metric};
    for (const auto& method : kMethods) row.push_back(number_cell(report.at("methods").at(method), metric));
    row.push_back(number_cell(report.at("floor"), metric));
    table.add_row(row);
  }
  return table;
}

Table tasks_table(const json& report) {
  std::vector<std::string> header = {"task"};
  for (const auto& channel : channels_of(report)) {
    header.push_back("mse_" + channel);
    header.push_back("mean_field_mse_" + channel);
  }
  if (report.at("tasks").at("forward").contains("misclassified")) header.emplace_back("misclassified");
  for (const char* metric : {"pde_error", "rel_residual", "solution_error", "nfe", "backward", "seconds_per_sample"})
    header.emplace_back(metric);
  Table table(header);
  for (const auto& task : kDemoTasks) {
    std::vector<std::string> row = {task};
    for (size_t i = 1; i < header.size(); ++i) row.push_back(number_cell(report.at("tasks").at(task), header[i]));
    table.add_row(row);
  }
  return table;
}

Table paper_table(const json& report) {
  Table table({"paper (128x128, its own units)", "teacher", "piddm-1", "piddm-ref"});
  for (const char* metric : {"pde_error", "mmse", "smse", "nfe"}) {
    std::vector<std::string> row = {metric};
    for (const char* method : {"teacher", "piddm-1", "piddm-ref"})
      row.push_back(number_cell(report.at("paper").at(method), metric));
    table.add_row(row);
  }
  return table;
}

std::string demo_explanation(const json& report) {
  const auto& floor = report.at("floor");
  const auto& pde = report.at("pde");
  return fmt::format(
      "{}\n{} samples of each method against {} held-out true ones; {} cases a task. floor: true data against true "
      "data "
      "at these sizes (95th percentile), and the data's own residual.\n"
      "pde_error = mean (c r)^2 with c = {:.4g}, rel_residual = RMS(r) / RMS(its reference term on true data); every "
      "other "
      "error is in units of a channel's variance (boundary_error: of u's own unit).\n",
      pde.at("summary").get<std::string>(), floor.at("n").get<int64_t>(), floor.at("n_reference").get<int64_t>(),
      report.at("tasks").at("forward").at("n").get<int64_t>(), pde.at("residual_scale").get<double>());
}

double value(const json& report, const char* method, const char* metric) {
  return report.at("methods").at(method).at(metric).get<double>();
}

/// PIDDM-1 beside another method by one metric, both above the floor of true data.
std::string comparison(const json& report, const char* rival, const char* metric) {
  const double floor = report.at("floor").at(metric).get<double>();
  const double ours = value(report, "piddm-1", metric) - floor, theirs = value(report, rival, metric) - floor;
  if (ours <= 0)
    return fmt::format("{} below the floor of true data ({}'s is {})", metric, rival, theirs <= 0 ? "too" : "not");
  if (ours < theirs) return fmt::format("{} 1/{:.3g} of {}'s", metric, theirs / ours, rival);
  if (theirs <= 0) return fmt::format("{} above the floor, {}'s below: it LOSES here", metric, rival);
  return fmt::format("{} {:.3g} times {}'s: it LOSES here", metric, ours / theirs, rival);
}

std::string verdict(const json& report) {
  return fmt::format("PIDDM-1, one evaluation, above the floor: {}; {}; {}; {}.\n",
                     comparison(report, "teacher", "pde_error"), comparison(report, "teacher", "solution_error"),
                     comparison(report, "distill", "pde_error"), comparison(report, "distill", "solution_error"));
}

std::vector<Panel> sample_row(const Tensor& samples, const Pde& pde, const SampleColors& colors) {
  std::vector<Panel> row;
  for (int64_t i = 0; i < 2; ++i)
    for (auto& panel : sample_panels(samples[i], pde, colors)) row.push_back(std::move(panel));
  return row;
}

void draw_samples(const fs::path& out, const DemoFiles& files) {
  const auto truth = load_dataset(files.held_out / "data.npz").fields;
  const auto samples_of = [&](const std::string& method) {
    return load_dataset(files.folders.at(method) / "samples.npz").fields;
  };
  const auto colors = sample_colors(truth, {samples_of("teacher")[0]}, files.pde);
  std::vector<std::vector<Panel>> rows = {sample_row(truth, files.pde, colors)};
  std::vector<std::string> labels = {"true data"};
  for (const auto& method : kMethods) {
    rows.push_back(sample_row(samples_of(method), files.pde, colors));
    labels.push_back(method);
  }
  contact_sheet(rows, "Generated samples of " + files.pde.name() + ": channels and residual R (one scale)", labels)
      .write_png(out / "samples.png");
}

std::vector<Panel> task_row(const std::string& task, const fs::path& folder, const Pde& pde, int64_t i) {
  const auto tensors = read_safetensors(folder / "solved.safetensors").tensors;
  const SolvedCase solved{tensors.at("x")[i], tensors.at("truth")[i], tensors.at("mask")[i]};
  std::vector<Panel> row;
  for (int64_t c = 0; c < pde.num_channels(); ++c) {
    if (reveals(parse_task(task), pde.channels()[static_cast<size_t>(c)])) row.push_back(given_panel(solved, pde, c));
    if (!asked(solved, c)) continue;
    row.push_back(true_panel(solved, pde, c));
    for (auto& panel : answer_panels(solved, pde, c)) row.push_back(std::move(panel));
  }
  return row;
}

void draw_tasks(const fs::path& out, const DemoFiles& files) {
  std::vector<std::vector<Panel>> rows;
  std::vector<std::string> labels;
  for (const auto& task : kDemoTasks) {
    rows.push_back(task_row(task, files.folders.at(task), files.pde, 0));
    labels.push_back(task);
  }
  contact_sheet(rows, "Tasks solved with the one-step student", labels).write_png(out / "tasks.png");
}

}  // namespace

std::string format_demo(const json& report) {
  const auto paper = report.at("paper").is_null() ? "" : paper_table(report).text() + "\n";
  return methods_table(report).text() + "\n" + tasks_table(report).text() + "\n" + paper + demo_explanation(report) +
         "\n" + verdict(report);
}

void write_report(const fs::path& out, const json& report, const DemoFiles& files) {
  write_file_atomically(out / "report.json", report.dump(2) + "\n");
  const auto paper = report.at("paper").is_null() ? "" : paper_table(report).markdown() + "\n";
  write_file_atomically(out / "report.md",
                        "# Demo: " + files.pde.name() + "\n\n" + verdict(report) + "\n" +
                            methods_table(report).markdown() + "\n" + tasks_table(report).markdown() + "\n" + paper +
                            demo_explanation(report) + "\n![samples](samples.png)\n\n![tasks](tasks.png)\n");
  draw_samples(out, files);
  draw_tasks(out, files);
}

}  // namespace piddm
