#include "piddm/tables/tables.h"

#include <algorithm>

#include "piddm/solve/methods/registry.h"
#include "piddm/tables/attribution.h"
#include "piddm/tables/budgets.h"
#include "piddm/tables/entries.h"
#include "piddm/tables/figures.h"
#include "piddm/tables/pictures.h"

namespace piddm {

namespace {

using Names = std::vector<std::string>;

const Names kPdes = {"darcy", "poisson", "burgers", "helmholtz", "stokes", "heat", "navier-stokes", "pme", "stefan"};
const Names kTasks = {"forward", "inverse", "reconstruct"};
const Names kGenerators = {"piddm-1", "piddm-ref", "piddm-decoded", "eci",    "diffusionpde",
                           "cocogen", "dflow",     "pidm",          "teacher"};
const Names kSolvers = {"piddm", "eci", "diffusionpde", "dflow", "pidm", "teacher", "pcfm", "direct", "classical"};
constexpr int64_t kCoarsest = 16;  // the smallest grid a PDE takes
const Names kQuality = {"mmse", "smse", "pde_error"};
const Names kLaw = {"worst_band", "between", "interface_ratio", "islands_ratio", "classifier"};

Names joined(Names first, const Names& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::vector<Entry> solved_tasks(const TableOptions& o, const Names& methods) {
  std::vector<Entry> out;
  for (const auto& pde : chosen("PDE", o.pdes, o.pdes.empty() ? Names{"darcy"} : kPdes))
    for (const auto& task : chosen("task", o.tasks, kTasks))
      for (const auto& method : chosen("method", o.methods, methods))
        out.push_back(task_entry(o, table_experiment(o, pde), task, method));
  return out;
}

TableRecipe table_generative() {
  return {
      .columns = joined(joined(kQuality, {"rel_residual", "solution_error", "fpd", "frechet_teacher", "swd", "apdd"}),
                        joined(kLaw, {"nfe", "seconds_per_sample"})),
      .entries = [](const TableOptions& o) { return generations(o, kPdes, kGenerators); },
      .takes = {"pdes", "methods"},
      .reading =
          "Unconditional generation. The student is ours, with heads; `table-components` has the paper's plain "
          "one. eci "
          "keeps the initial noise as its authors do, eci-ddim the noise estimate of the step as the paper "
          "describes it.",
      .reference = "teacher",
      .charts = chart_generation,
      .sheets = sheet_generation};
}

TableRecipe table_compute() {
  return {
      .columns =
          joined({"seconds_per_sample", "nfe", "backward", "pde_error", "solution_error", "fpd", "frechet_teacher"},
                 {"mmse", "smse"}),
      .entries =
          [](const TableOptions& o) {
            auto entries = generations(o, {"darcy"}, {"piddm-1", "piddm-ref", "diffusionpde", "pidm", "dflow", "eci"});
            for (auto& entry : entries) entry.options = method_card(entry.method).matched(entry.options);
            return entries;
          },
      .takes = {"pdes", "methods"},
      .reading = "The paper's compute-matched settings: ECI and PIDM 300 evaluations, DiffusionPDE 80, D-Flow 2,000."};
}

TableRecipe table_downstream() {
  return {.columns = {"mse_u", "mse_a", "rel_l2_u", "misclassified", "pde_error", "solution_error", "nfe", "backward",
                      "seconds_per_sample"},
          .entries = [](const TableOptions& o) { return solved_tasks(o, kSolvers); },
          .takes = {"pdes", "tasks", "methods"},
          .reading = "Forward, inverse and reconstruction from 20 %; direct and classical use no network.",
          .charts = chart_tasks,
          .sheets = sheet_tasks};
}

TableRecipe table_variants() {
  return {.columns = {"mse_u", "mse_a", "rel_l2_u", "misclassified", "pde_error", "nfe"},
          .entries =
              [](const TableOptions& o) {
                std::vector<Entry> out;
                for (const auto& task : chosen("task", o.tasks, kTasks))
                  for (const auto& variant : chosen("setting", o.settings,
                                                    {"regression", "reflow", "reflow2", "dmd", "dmd2", "consistency",
                                                     "no-hard", "vp", "sub-vp"})) {
                    const auto experiment = table_experiment(o, "darcy", variant_settings(o, "darcy", variant));
                    out.push_back(with_setting(task_entry(o, experiment, task, "piddm"), variant));
                  }
                return out;
              },
          .takes = {"tasks", "settings"},
          .reading = "Students distilled in other ways, from other processes, and without hard replacement."};
}

TableRecipe table_components() {
  return {
      .columns = joined(kQuality, {"solution_error", "fpd", "frechet_teacher", "nfe"}),
      .entries =
          [](const TableOptions& o) {
            return generations(o, {"darcy"}, {"piddm-ref", "piddm-1", "piddm-plain", "distill", "teacher", "dflow"});
          },
      .takes = {"pdes", "methods"},
      .reading =
          "What each component brings. piddm-plain is the paper's student, without heads and with squared distance; "
          "distill the same without "
          "the physics term; piddm-1 and piddm-ref have our heads.",
      .reference = "teacher"};
}

TableRecipe table_diversity() {
  return {.columns = {"swd", "apdd", "apdd_teacher", "smse", "spectrum_error", "frechet_teacher"},
          .entries =
              [](const TableOptions& o) {
                return generations(o, {"darcy"}, {"piddm-1", "piddm-ref", "distill", "teacher"});
              },
          .takes = {"pdes", "methods"},
          .reading = "Distances to held-out data; apdd_teacher, as the paper's APDD, to the teacher's samples."};
}

TableRecipe table_teacher() {
  return {.columns = joined(kQuality, {"solution_error", "frechet_teacher"}),
          .entries =
              [](const TableOptions& o) {
                std::vector<Entry> out;
                const auto experiment = table_experiment(o, "darcy");
                Names ages;
                for (const int64_t step : experiment.train.snapshots) ages.push_back(std::to_string(step));
                ages.push_back(std::to_string(experiment.train.steps));
                for (const auto& age : chosen("setting", o.settings, ages))
                  for (const char* method : {"teacher", "piddm-1"}) {
                    auto entry = with_setting(generation(o, experiment, method), age);
                    if (age != ages.back()) entry.teacher_age = std::stoll(age);
                    out.push_back(entry);
                  }
                return out;
              },
          .takes = {"settings"},
          .reading =
              "Students of one teacher at several ages (steps of its training; snapshots of one run with a falling "
              "learning rate, so young ones are noisier than a run that ends there)."};
}

TableRecipe table_architecture() {
  return {.columns = joined(kQuality, {"solution_error", "frechet_teacher", "training_seconds"}),
          .entries =
              [](const TableOptions& o) {
                std::vector<Entry> out;
                for (const auto& type : chosen("setting", o.settings, {"fno", "unet", "autoencoder"})) {
                  auto experiment = table_experiment(o, "darcy");
                  if (type != "fno") {
                    const json modes = experiment.model.value("modes", json());
                    experiment.model = o.networks.value(type, json::object());
                    experiment.model["type"] = type;
                    if (!modes.is_null()) experiment.model["modes"] = modes;
                  }
                  for (const char* method : {"teacher", "piddm-1", "diffusionpde"})
                    out.push_back(with_setting(generation(o, experiment, method), type));
                }
                return out;
              },
          .takes = {"settings"},
          .reading = "Teacher and student of the same network."};
}

TableRecipe table_weighting() {
  return {.columns = joined(kQuality, {"rel_residual", "solution_error"}),
          .entries =
              [](const TableOptions& o) {
                std::vector<Entry> out;
                for (const auto& pde : chosen("PDE", o.pdes, {"helmholtz", "poisson", "pme", "stefan"}))
                  for (const auto& setting : chosen("setting", o.settings, {"dynamic", "manual"})) {
                    const json loss = {{"lambda", 10.0}, {"residual_target", 1e-4}};
                    const json overlay = setting == "dynamic" ? json{{"distill", {{"loss", loss}}}} : json::object();
                    out.push_back(with_setting(generation(o, table_experiment(o, pde, overlay), "piddm-1"), setting));
                  }
                return out;
              },
          .takes = {"pdes", "settings"},
          .reading = "The residual divided by its running mean (dynamic), or weighted by hand."};
}

TableRecipe table_latent() {
  return {.columns = {"mse_u", "mse_a", "constraint_error", "pde_error", "mse_variance", "nfe"},
          .entries =
              [](const TableOptions& o) {
                std::vector<Entry> out;
                const auto experiment = table_experiment(o, "darcy");
                const auto tasks = chosen("task", o.tasks, kTasks);
                const auto methods = chosen("method", o.methods, {"piddm", "diffusionpde"});
                const auto among = [](const Names& names, const char* name) {
                  return std::find(names.begin(), names.end(), name) != names.end();
                };
                if (among(tasks, "forward") && among(methods, "piddm"))
                  for (const char* iterations : {"10", "20", "40", "60", "80"})
                    for (const bool hard : {true, false}) {
                      auto entry = task_entry(o, experiment, "forward", "piddm");
                      entry.options["task"]["iterations"] = std::stoll(iterations);
                      entry.options["hard"] = hard;
                      out.push_back(with_setting(entry, iterations + std::string(hard ? "" : ", d(e) itself")));
                    }
                for (const auto& task : tasks)
                  for (const auto& method : methods) {
                    auto entry = task_entry(o, experiment, task, method);
                    entry.starts = o.starts;
                    out.push_back(entry);
                  }
                return out;
              },
          .takes = {"tasks", "methods"},
          .reading =
              "Above: latent optimisation after so many evaluations; constraint_error of `d(e) itself` is the misfit. "
              "Below: mse_variance, over random starts, of a case's mean square error, averaged over cases."};
}

TableRecipe table_physics_term() {
  return {
      .columns = {"mse_u", "rel_l2_u", "pde_error", "solution_error", "mmse", "smse"},
      .entries =
          [](const TableOptions& o) {
            std::vector<Entry> out;
            const auto variants = chosen(
                "setting", o.settings,
                {"regression", "regression-no-physics", "reflow", "reflow-no-physics", "reflow2", "reflow2-no-physics",
                 "dmd", "dmd-no-physics", "dmd2", "dmd2-no-physics", "consistency", "consistency-no-physics"});
            for (const auto& method : chosen("method", o.methods, {"piddm", "piddm-1", "diffusionpde", "pidm"})) {
              if (method == "diffusionpde" || method == "pidm") {
                out.push_back(task_entry(o, table_experiment(o, "darcy"), "forward", method));
                continue;
              }
              for (const auto& variant : variants) {
                const auto experiment = table_experiment(o, "darcy", variant_settings(o, "darcy", variant));
                out.push_back(with_setting(method == "piddm" ? task_entry(o, experiment, "forward", method)
                                                             : generation(o, experiment, method),
                                           variant));
              }
            }
            return out;
          },
      .takes = {"settings", "methods"},
      .reading = "Every way to distil with and without the physics of the final sample; heads are the same in both."};
}

std::vector<Entry> sensitivity_entries(const TableOptions& o, const std::string& part) {
  std::vector<Entry> out;
  if (part == "stencil")
    for (const char* form : {"compact", "wide", "step"})
      for (const char* method : {"teacher", "piddm-1"}) {
        auto entry = generation(o, table_experiment(o, "burgers"), method);
        entry.judged_as = {{"residual", form}};
        out.push_back(with_setting(entry, fmt::format("stencil: {}", form)));
      }
  if (part == "boundary")
    for (const bool constrained : {true, false}) {
      const json overlay = {{"distill", {{"heads", {{"constrained", constrained}}}}}};
      out.push_back(with_setting(generation(o, table_experiment(o, "burgers", overlay), "piddm-1"),
                                 fmt::format("boundary rule: {}", constrained ? "imposed" : "free")));
    }
  if (part == "grid")
    for (const int64_t doubled : {1, 2, 4}) {
      auto entry = generation(o, table_experiment(o, "darcy"), "piddm-1");
      const auto& own = entry.experiment.pde.grid;
      entry.grid = GridSize(own.height() * doubled / 2, own.width() * doubled / 2);
      if (entry.grid->smaller() < kCoarsest) continue;
      const auto text = entry.grid->square() ? std::to_string(entry.grid->height()) : entry.grid->text();
      out.push_back(with_setting(entry, "grid: " + text));
    }
  return out;
}

TableRecipe table_sensitivity() {
  return {.columns = {"pde_error", "rel_residual", "boundary_error", "solution_error", "mmse", "smse"},
          .entries =
              [](const TableOptions& o) {
                std::vector<Entry> out;
                for (const auto& part : chosen("setting", o.settings, {"stencil", "boundary", "grid"}))
                  for (const auto& entry : sensitivity_entries(o, part)) out.push_back(entry);
                return out;
              },
          .takes = {"settings"},
          .reading =
              "The same samples judged with other stencils, a student with and without its boundary rule, and one "
              "student run on a coarser and a finer grid than it was trained on."};
}

}  // namespace

const Registry<TableRecipe()>& table_registry() {
  static const Registry<TableRecipe()> registry(
      "table",
      {
          {"table-generative", "generation on nine PDEs by every method (Table 1, appendix)", table_generative},
          {"table-compute", "Darcy generation at matched compute", table_compute},
          {"table-budgets", "ours: every method at equal evaluations and at equal seconds", table_budgets},
          {"table-downstream", "forward, inverse, reconstruction by every method", table_downstream},
          {"table-variants", "distillation variants, processes, no hard replacement", table_variants},
          {"table-components", "what distillation, physics term and heads bring", table_components},
          {"table-attribution", "ours: what heads, physics and each further component bring", table_attribution},
          {"table-attribution-tasks", "ours: the same for latent optimisation", table_attribution_tasks},
          {"table-diversity", "SWD and APDD", table_diversity},
          {"table-teacher", "students of teachers of several ages", table_teacher},
          {"table-architecture", "FNO, U-Net and auto-encoder", table_architecture},
          {"table-weighting", "dynamic weighting of the physics term", table_weighting},
          {"table-latent", "latent optimisation: convergence and variance over starts", table_latent},
          {"table-physics-term", "physics term on and off in every variant", table_physics_term},
          {"table-sensitivity", "ours: stencil, boundary rule, grid", table_sensitivity},
          {"figure-ablation", "N_s, lambda_train, lambda_infer", figure_ablation},
          {"figure-forward", "one forward case: solution, error, residual of every method", figure_forward},
          {"figure-pareto", "ours: error against wall time", figure_pareto},
      });
  return registry;
}

void conclude(Report& report, const TableRecipe& recipe) {
  add_ratios(report, recipe.reference);
  add_teacher_distances(report);
  if (recipe.conclusion) report.conclusion = recipe.conclusion(report);
}

std::vector<std::string> shown_columns(const TableRecipe& recipe) {
  auto columns = recipe.columns;
  if (!recipe.reference.empty())
    columns.insert(std::find(columns.begin(), columns.end(), "pde_error") + 1, "pde_error_ratio");
  return columns;
}

}  // namespace piddm
