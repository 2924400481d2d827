#include "piddm/tables/entries.h"

#include <algorithm>

#include "piddm/core/config.h"
#include "piddm/solve/methods/registry.h"
#include "piddm/solve/methods/teacher.h"

namespace piddm {

namespace {

constexpr int64_t kRefinements = 80;
const std::string kNoPhysics = "-no-physics";

/// Weights of pairs and physics beside DMD's direction, which has the size of the fields whatever the distance to the
/// teacher's law is and drowns terms that are weighted for a regression. DMD2 has no pairs to hold its law after its
/// warm-up: more physics than beside a regression would shrink it.
constexpr double kPairsBesideDmd = 20;
constexpr double kPhysicsBesideDmd = 40;

json overlaid(json base, const json& overlay) {
  merge_config(base, overlay);
  return base;
}

/// lambda_train of PIDM and D-Flow: the experiment's own for PIDM if it names one, else the student's, whose heads may
/// bear more.
double baseline_lambda(const Experiment& experiment) {
  return experiment.pidm.lambda > 0 ? experiment.pidm.lambda : experiment.distill.loss.lambda;
}

/// Weights of the physics as the experiment has them: lambda_train, and for guidance a tenth of the step of its
/// refinement: with all of it, the paper's choice, lambda times the largest curvature of the residual is 6 to 11 on our
/// PDEs (above 2 a step overshoots) and samples diverge.
json physics_options(const Experiment& experiment, const std::string& method) {
  const auto& loss = experiment.distill.loss;
  const double share = loss.lambda > 0 ? loss.boundary / loss.lambda : 0;
  const double eta = experiment.solve.refine.step / 10, lambda = baseline_lambda(experiment);
  if (method == "diffusionpde") return {{"eta", eta}, {"boundary", share * eta}};
  if (method == "dflow") return {{"lambda", lambda}, {"boundary", share * lambda}};
  return json::object();
}

json method_options(const TableOptions& options, const Experiment& experiment, const std::string& method) {
  json own = physics_options(experiment, method);
  if (options.precision != Precision::fp32)  // the methods' own
    own["precision"] = enum_names(options.precision).at(static_cast<size_t>(options.precision));
  return overlaid(own, options.by_method.value(method, json::object()));
}

Experiment plain(Experiment experiment, bool physics) {
  experiment.distill.heads = {};
  StudentLossOptions loss;
  loss.lambda = physics ? experiment.distill.loss.lambda : 0;
  loss.boundary = physics ? experiment.distill.loss.boundary : 0;
  loss.physics_ramp = experiment.distill.loss.physics_ramp;
  experiment.distill.loss = loss;
  return experiment;
}

Experiment with_pidm(Experiment experiment) {
  const auto& loss = experiment.distill.loss;
  experiment.pidm.lambda = baseline_lambda(experiment);
  experiment.pidm.boundary = loss.lambda > 0 ? loss.boundary * (experiment.pidm.lambda / loss.lambda) : 0;
  return experiment;
}

Entry base_entry(const Experiment& experiment, Task task, const std::string& method) {
  return {.labels = {experiment.pde.name, task_name(task), method}, .experiment = experiment, .task = task};
}

}  // namespace

Entry generation(const TableOptions& options, const Experiment& experiment, const std::string& method) {
  auto entry = base_entry(experiment, Task::generate, method);
  entry.method = "piddm";
  if (method == "distill" || method == "piddm-plain") {
    entry.experiment = plain(experiment, method == "piddm-plain");
  } else if (method == "piddm-ref") {
    entry.options = {{"refine", {{"iterations", kRefinements}}}};
  } else if (method == "piddm-decoded") {
    entry.decode = true;
  } else if (method != "piddm-1") {
    method_card(method);
    entry.model = method == "pidm" ? ModelRole::pidm : ModelRole::teacher;
    entry.method = method;
    if (method == "pidm") entry.experiment = with_pidm(experiment);
  }
  entry.count = method_card(entry.method).slow ? options.slow_samples : options.samples;
  entry.options = overlaid(entry.options, method_options(options, experiment, entry.method));
  return entry;
}

Entry task_entry(const TableOptions& options, const Experiment& experiment, const std::string& task,
                 const std::string& method) {
  auto entry = base_entry(experiment, parse_task(task), method);
  if (options.mask_seed >= 0) entry.mask_seed = static_cast<uint64_t>(options.mask_seed);
  entry.count = method_card(method).slow ? options.slow_cases : options.cases;
  entry.method = method;
  entry.model = method == "piddm" ? ModelRole::student : method == "pidm" ? ModelRole::pidm : ModelRole::teacher;
  if (method == "pidm") entry.experiment = with_pidm(experiment);
  entry.options = method_options(options, experiment, method);
  if (entry.options.value("integrator", "") == "heun")  // tasks take Euler's steps: as many evaluations
    entry.options["steps"] = 2 * entry.options.value("steps", TeacherOptions{}.steps);
  return entry;
}

Entry with_setting(Entry entry, const std::string& setting) {
  entry.labels.setting = setting;
  return entry;
}

std::vector<std::string> chosen(const std::string& what, const std::vector<std::string>& asked,
                                const std::vector<std::string>& own) {
  if (asked.empty()) return own;
  for (const auto& name : asked)
    if (std::find(own.begin(), own.end(), name) == own.end())
      throw UsageError("{}", unknown_name_message(what + " of this table", name, own));
  return asked;
}

std::vector<Entry> generations(const TableOptions& o, const std::vector<std::string>& pdes,
                               const std::vector<std::string>& methods) {
  std::vector<Entry> out;
  for (const auto& pde : chosen("PDE", o.pdes, pdes))
    for (const auto& method : chosen("method", o.methods, methods))
      out.push_back(generation(o, table_experiment(o, pde), method));
  return out;
}

json variant_settings(const TableOptions& options, const std::string& pde, const std::string& variant) {
  if (variant == "vp" || variant == "sub-vp") return {{"process", variant}};
  if (variant == "no-hard") return {{"solve", {{"hard", false}}}};
  const bool physics = !variant.ends_with(kNoPhysics);
  const auto objective = physics ? variant : variant.substr(0, variant.size() - kNoPhysics.size());
  json settings = {{"objective", objective}};
  const auto usual = table_experiment(options, pde).distill;
  double weight = physics ? 1 : 0;
  if (objective == "dmd") {
    settings["dmd"] = {{"regression", kPairsBesideDmd}};
    weight *= kPhysicsBesideDmd;
  } else if (objective == "dmd2") {
    settings["dmd2"] = {{"warm_up", usual.train.steps / 2}, {"critic_lr", usual.train.adam.lr / 10}};
    settings["heads"] = {{"bounded", false}};  // entries that sit at a bound have little gradient back
  }
  const json::json_pointer section("/distill/" + objective);
  for (const auto& asked : {options.experiment, options.by_pde.value(pde, json::object())})
    if (asked.contains(section)) merge_config(settings[objective], asked.at(section));
  const auto& loss = usual.loss;
  settings["loss"] = {
      {"lambda", weight * loss.lambda}, {"boundary", weight * loss.boundary}, {"error", weight * loss.error}};
  return {{"distill", settings}};
}

}  // namespace piddm
