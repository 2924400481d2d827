#include "piddm/recipe/demo_report.h"

#include <algorithm>

#include "piddm/core/atomic_file.h"
#include "piddm/core/safetensors.h"
#include "piddm/data/dataset.h"
#include "piddm/eval/plot.h"
#include "piddm/eval/table.h"
#include "piddm/recipe/demo.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

using Range = std::pair<double, double>;

const std::vector<std::string> kMethods = {"teacher", "distill", "piddm-1", "piddm-ref", "piddm-1-decoded"};
const std::vector<std::string> kTasks = {"forward", "inverse", "reconstruct"};

std::string cell(const json& row, const std::string& key) {
  return row.contains(key) && row.at(key).is_number() ? format_number(row.at(key).get<double>()) : "-";
}

Table methods_table(const json& report) {
  const std::vector<std::string> metrics = {
      "pde_error", "rel_residual", "solution_error",    "mmse",         "mmse_u", "mmse_a",   "smse",
      "smse_u",    "smse_a",       "decode_iterations", "decode_moved", "nfe",    "backward", "seconds_per_sample"};
  std::vector<std::string> header = {"metric"};
  header.insert(header.end(), kMethods.begin(), kMethods.end());
  header.push_back("floor");
  Table table(header);
  for (const auto& metric : metrics) {
    std::vector<std::string> row = {metric};
    for (const auto& method : kMethods) row.push_back(cell(report.at("methods").at(method), metric));
    row.push_back(cell(report.at("floor"), metric));
    table.add_row(row);
  }
  return table;
}

Table tasks_table(const json& report) {
  Table table({"task", "mse_u", "mean_field_mse_u", "mse_a", "misclassified", "pde_error", "rel_residual",
               "solution_error", "nfe", "backward", "seconds_per_sample"});
  for (const auto& task : kTasks) {
    const auto& row = report.at("tasks").at(task);
    table.add_row({task, cell(row, "mse_u"), cell(row, "mean_field_mse_u"), cell(row, "mse_a"),
                   cell(row, "misclassified"), cell(row, "pde_error"), cell(row, "rel_residual"),
                   cell(row, "solution_error"), cell(row, "nfe"), cell(row, "backward"),
                   cell(row, "seconds_per_sample")});
  }
  return table;
}

Table paper_table(const json& report) {
  Table table({"paper (128x128, its own units)", "teacher", "piddm-1", "piddm-ref"});
  for (const char* metric : {"pde_error", "mmse", "smse", "nfe"}) {
    std::vector<std::string> row = {metric};
    for (const char* method : {"teacher", "piddm-1", "piddm-ref"})
      row.push_back(cell(report.at("paper").at(method), metric));
    table.add_row(row);
  }
  return table;
}

std::string explanation(const json& report) {
  const auto& floor = report.at("floor");
  return fmt::format(
      "{} samples of each method against {} held-out true ones; {} cases a task. floor: true data against true data at "
      "these sizes (95th "
      "percentile), and the data's own residual.\n"
      "pde_error = mean (115 h^2 r)^2, rel_residual = RMS(r)/1, r = div(a grad u) + 1; every other error is in units "
      "of a channel's variance.\n",
      floor.at("n").get<int64_t>(), floor.at("n_reference").get<int64_t>(),
      report.at("tasks").at("forward").at("n").get<int64_t>());
}

Tensor residual_map(const Tensor& x, const Pde& pde) {
  return pde.residual(x.unsqueeze(0).to(torch::kFloat64)).interior[0][0] * pde.residual_scale();
}

Range range_of(const Tensor& field) { return {field.min().item<double>(), field.max().item<double>()}; }

std::vector<Panel> sample_row(const Tensor& samples, const Pde& pde, const Range& u, const Range& a, double residual) {
  std::vector<Panel> row;
  for (int64_t i = 0; i < 2; ++i) {
    const auto x = samples[i];
    row.push_back({"u", x[0], u, Colors::sequential});
    row.push_back({"a", x[1], a, Colors::sequential});
    row.push_back({"R", residual_map(x, pde), Range{-residual, residual}, Colors::diverging});
  }
  return row;
}

void draw_samples(const fs::path& out, const DemoFiles& files) {
  const auto truth = load_dataset(files.held_out / "data.npz").fields;
  const auto u = range_of(truth.slice(0, 0, 64).select(1, 0)), a = range_of(truth.slice(0, 0, 64).select(1, 1));
  const auto teacher = load_dataset(files.folders.at("teacher") / "samples.npz").fields;
  const double residual = 2 * residual_map(teacher[0], files.pde).square().mean().sqrt().item<double>();
  std::vector<std::vector<Panel>> rows = {sample_row(truth, files.pde, u, a, residual)};
  std::vector<std::string> labels = {"true data"};
  for (const auto& method : kMethods) {
    rows.push_back(
        sample_row(load_dataset(files.folders.at(method) / "samples.npz").fields, files.pde, u, a, residual));
    labels.push_back(method);
  }
  contact_sheet(rows, "Generated samples: solution u, coefficient a, residual R (one scale)", labels)
      .write_png(out / "samples.png");
}

std::vector<Panel> task_row(const std::string& task, const fs::path& folder, int64_t i) {
  const auto tensors = read_safetensors(folder / "solved.safetensors").tensors;
  const auto x = tensors.at("x")[i], truth = tensors.at("truth")[i], mask = tensors.at("mask")[i];
  std::vector<Panel> row;
  for (int64_t c = 0; c < 2; ++c) {
    if (mask[c].min().item<double>() > 0) {
      row.push_back({c == 0 ? "u given" : "a given", truth[c], range_of(truth[c]), Colors::sequential});
      continue;
    }
    const std::string name = c == 0 ? "u" : "a";
    if (task == "reconstruct")
      row.push_back({name + " given", torch::where(mask[c] > 0, truth[c], torch::full_like(truth[c], NAN)),
                     range_of(truth[c]), Colors::sequential, true});
    row.push_back({name + " true", truth[c], range_of(truth[c]), Colors::sequential});
    row.push_back({name + " found", x[c], range_of(truth[c]), Colors::sequential});
    row.push_back({name + " error", x[c] - truth[c], {}, Colors::diverging});
  }
  return row;
}

void draw_tasks(const fs::path& out, const DemoFiles& files) {
  std::vector<std::vector<Panel>> rows;
  std::vector<std::string> labels;
  for (const auto& task : kTasks) {
    rows.push_back(task_row(task, files.folders.at(task), 0));
    labels.push_back(task);
  }
  contact_sheet(rows, "Tasks solved with the one-step student", labels).write_png(out / "tasks.png");
}

}  // namespace

json paper_darcy_rows() {
  return {{"teacher", {{"mmse", 1.08e-3}, {"smse", 6.9e-4}, {"pde_error", 1.585e-4}, {"nfe", 100}}},
          {"piddm-1", {{"mmse", 1.12e-3}, {"smse", 8.2e-4}, {"pde_error", 2.26e-5}, {"nfe", 1}}},
          {"piddm-ref", {{"mmse", 3.7e-4}, {"smse", 2e-5}, {"pde_error", 1.48e-5}, {"nfe", 80}}}};
}

std::string format_demo(const json& report) {
  const auto pde = report.at("methods");
  const double ratio_teacher =
      pde.at("teacher").at("pde_error").get<double>() / pde.at("piddm-1").at("pde_error").get<double>();
  const double ratio_distill =
      pde.at("distill").at("pde_error").get<double>() / pde.at("piddm-1").at("pde_error").get<double>();
  return methods_table(report).text() + "\n" + tasks_table(report).text() + "\n" + paper_table(report).text() + "\n" +
         explanation(report) +
         fmt::format(
             "\nIn one evaluation PIDDM-1 has 1/{:.1f} of the PDE error of its {:.0f}-step teacher and 1/{:.0f} of "
             "plain distillation's.\n",
             ratio_teacher, pde.at("teacher").at("nfe").get<double>(), ratio_distill);
}

void write_report(const fs::path& out, const json& report, const DemoFiles& files) {
  write_file_atomically(out / "report.json", report.dump(2) + "\n");
  write_file_atomically(out / "report.md", "# Darcy flow: demo\n\n" + methods_table(report).markdown() + "\n" +
                                               tasks_table(report).markdown() + "\n" + paper_table(report).markdown() +
                                               "\n" + explanation(report) +
                                               "\n![samples](samples.png)\n\n![tasks](tasks.png)\n");
  draw_samples(out, files);
  draw_tasks(out, files);
}

}  // namespace piddm
