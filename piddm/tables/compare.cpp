#include "piddm/tables/compare.h"

#include <algorithm>

#include "piddm/core/config.h"
#include "piddm/core/device.h"
#include "piddm/core/stopwatch.h"
#include "piddm/eval/metric_registry.h"
#include "piddm/pde/pde_file.h"
#include "piddm/recipe/workbench.h"
#include "piddm/solve/methods/registry.h"
#include "piddm/tables/report_files.h"
#include "piddm/tables/run.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kRefinements = 80, kSolved = 64;
constexpr int64_t kMeanFieldSamples = 1024;  // of the training data, for what the mean field would score

/// What the model was made by, as far as it says.
Experiment experiment_of(const Model& model) {
  auto experiment = parse_experiment(model.provenance.value("experiment", json::object()), FormerKeys::accept);
  experiment.pde = model.pde->options();
  return experiment;
}

/// What there are roles for: compare takes no posterior.
std::vector<std::string> methods_of(const CompareOptions& o) {
  auto out = o.methods.empty() ? method_names() : o.methods;
  const auto excluded = [](const std::string& name) { return method_card(name).needs == ModelKind::posterior; };
  if (o.methods.empty()) std::erase_if(out, excluded);
  const auto named = std::find_if(out.begin(), out.end(), excluded);
  require<UsageError>(named == out.end(), "compare: takes no posterior, so not {}; see `piddm evaluate --ensemble`",
                      named == out.end() ? "" : *named);
  return out;
}

ModelRole role_of(const std::string& method, ModelRole any) {
  if (method == "pidm") return ModelRole::pidm;
  const auto needs = method_card(method).needs;
  if (!needs) return any;
  return *needs == ModelKind::teacher ? ModelRole::teacher : ModelRole::student;
}

/// The experiments of the given models, by their role; all of one PDE on one grid.
std::map<ModelRole, Experiment> experiments_of(const CompareModels& models, const CompareOptions& options) {
  std::map<ModelRole, Experiment> out;
  for (const auto& [role, folder] : {std::pair{ModelRole::teacher, models.teacher},
                                     {ModelRole::student, models.student},
                                     {ModelRole::pidm, models.pidm}}) {
    if (folder.empty()) continue;
    const auto model = load_model(folder);
    auto experiment = experiment_of(model);
    experiment.seed = options.seed;
    experiment.data.n = std::min(experiment.data.n, kMeanFieldSamples);
    out[role] = experiment;
    const auto& first = *out.begin();
    const auto difference = pde_difference(first.second.pde, experiment.pde);
    require<UsageError>(difference.empty(), "compare: the {} is of another PDE: {}",
                        enum_names(role)[static_cast<size_t>(role)], difference);
    require<UsageError>(write_fields(experiment.pde) == write_fields(first.second.pde),
                        "compare: the {} is of another PDE or grid than the {}",
                        enum_names(role)[static_cast<size_t>(role)],
                        enum_names(role)[static_cast<size_t>(first.first)]);
  }
  require<UsageError>(!out.empty(), "compare: no model given; name a teacher, a student or both");
  return out;
}

std::vector<Entry> entries_of(const std::map<ModelRole, Experiment>& experiments, const CompareOptions& o) {
  const auto any = experiments.begin();
  std::vector<Entry> out;
  for (const auto& name : o.tasks)
    for (const auto& method : methods_of(o)) {
      const auto task = parse_task(name);
      const auto role = role_of(method, any->first);
      const auto found = experiments.find(role);
      Entry entry{.labels = {any->second.pde.name, name, method},
                  .experiment = found == experiments.end() ? any->second : found->second,
                  .model = role,
                  .method = method,
                  .task = task,
                  .count = task == Task::generate ? o.samples : o.cases};
      if (o.mask_seed >= 0 && task != Task::generate) entry.mask_seed = static_cast<uint64_t>(o.mask_seed);
      if (o.matched) entry.options = method_card(method).matched(entry.options);
      merge_config(entry.options, o.settings.value(method, json::object()));
      out.push_back(entry);
      if (method != "piddm" || task != Task::generate) continue;
      entry.labels.method = "piddm-ref";
      entry.options["refine"]["iterations"] = kRefinements;
      out.push_back(entry);
    }
  return out;
}

}  // namespace

Report run_compare(const CompareModels& models, const CompareOptions& options, const fs::path& out,
                   torch::Device device) {
  const Stopwatch watch;
  const auto experiments = experiments_of(models, options);
  const auto& any = experiments.begin()->second;
  const auto pde = make_pde(any.pde);
  Workbench bench(out, {.held_out = std::max(options.held_out, options.cases), .solved = kSolved, .resamples = 0},
                  device);
  for (const auto& [role, folder] : {std::pair{ModelRole::teacher, models.teacher},
                                     {ModelRole::student, models.student},
                                     {ModelRole::pidm, models.pidm}})
    if (!folder.empty()) bench.give(role, folder);
  Report report{
      .experiment = "compare",
      .summary = "methods on " + pde->name(),
      .reading =
          "Errors in units of a channel's variance; mse over what was not given; nfe, backward and "
          "seconds per sample.",
      .columns = default_columns(kSamplesJudged | kTasksJudged, metric_parts(*pde)),
      .sizes = fmt::format("{} samples per method, {} cases per task, judged against {} held-out true samples",
                           options.samples, options.cases, options.held_out),
      .options = write_fields(options),
      .machine = describe_machine()};
  for (const auto& entry : entries_of(experiments, options)) {
    if (!experiments.contains(entry.model)) {
      const auto kind = enum_names(entry.model)[static_cast<size_t>(entry.model)];
      report.rows.push_back({.labels = entry.labels,
                             .count = entry.count,
                             .result = {.refused = fmt::format("no {} model given", kind)}});
      continue;
    }
    for (auto& row : run_entries(bench, {entry}, {options.seed})) report.rows.push_back(std::move(row));
  }
  report.floors[pde->name()] = bench.floor(any, options.samples);
  report.seconds = watch.seconds();
  write_report(report, out);
  return report;
}

}  // namespace piddm
