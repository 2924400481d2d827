#include "piddm/tables/figures.h"

#include "piddm/tables/entries.h"

namespace piddm {

namespace {

/// The weights of the student's loss with every physics term in the proportion it has to lambda.
json physics_scaled_to(double lambda, const TableOptions& options) {
  const auto& loss = table_experiment(options, "darcy").distill.loss;
  const double share = loss.lambda > 0 ? lambda / loss.lambda : 0;
  return {{"lambda", lambda}, {"boundary", share * loss.boundary}, {"error", share * loss.error}};
}

}  // namespace

TableRecipe figure_ablation() {
  return {
      .columns = {"mmse", "smse", "pde_error", "solution_error", "mse_u", "mse_a"},
      .entries =
          [](const TableOptions& o) {
            std::vector<Entry> out;
            for (const int64_t steps : {5, 10, 20, 50, 100, 200}) {
              const json overlay = {
                  {"distill", {{"pairs", {{"integrator", "euler"}, {"spacing", "uniform"}, {"steps", steps}}}}}};
              out.push_back(with_setting(generation(o, table_experiment(o, "darcy", overlay), "piddm-1"),
                                         fmt::format("N_s = {}", steps)));
            }
            for (const double lambda : {0.0, 0.01, 0.1, 1.0, 10.0, 100.0}) {
              const json overlay = {{"distill", {{"loss", physics_scaled_to(lambda, o)}}}};
              out.push_back(with_setting(generation(o, table_experiment(o, "darcy", overlay), "piddm-1"),
                                         fmt::format("lambda_train = {}", lambda)));
            }
            for (const double lambda : {0.0, 0.01, 0.1, 1.0, 10.0, 100.0}) {
              auto entry = task_entry(o, table_experiment(o, "darcy"), "forward", "piddm");
              entry.options["lambda"] = lambda;
              out.push_back(with_setting(entry, fmt::format("lambda_infer = {}", lambda)));
            }
            return out;
          },
      .reading =
          "One setting changed at a time. N_s: Euler's steps of the teacher at uniform times, as in the paper, for "
          "the pairs; the other panels have the preset's pairs. lambda_train: all physics terms of the preset scaled "
          "together; 0 is distillation without physics.",
      .charts = chart_ablation};
}

TableRecipe figure_forward() {
  return {
      .columns = {"mse_u", "rel_l2_u", "pde_error", "nfe"},
      .entries =
          [](const TableOptions& o) {
            std::vector<Entry> out;
            for (const auto& method : chosen("method", o.methods, {"eci", "diffusionpde", "dflow", "pidm", "piddm"}))
              out.push_back(task_entry(o, table_experiment(o, "darcy"), "forward", method));
            return out;
          },
      .takes = {"methods"},
      .reading = "One case of the forward problem: solution, error and residual of every method, in shared colours.",
      .sheets = sheet_forward};
}

TableRecipe figure_pareto() {
  return {.columns = {"seconds_per_sample", "pde_error", "solution_error", "mse_u", "mmse", "nfe"},
          .entries =
              [](const TableOptions& o) {
                const auto experiment = table_experiment(o, "darcy");
                auto out =
                    generations(o, {"darcy"}, {"piddm-1", "piddm-decoded", "eci", "diffusionpde", "cocogen", "dflow"});
                for (const int64_t steps : {10, 25, 50, 100}) {
                  auto entry = generation(o, experiment, "teacher");
                  entry.options["integrator"] = "euler";
                  entry.options["steps"] = steps;
                  out.push_back(with_setting(entry, fmt::format("{} steps", steps)));
                }
                for (const char* method : {"eci", "diffusionpde", "dflow", "teacher", "pcfm", "classical"})
                  out.push_back(task_entry(o, experiment, "forward", method));
                for (const int64_t iterations : {10, 20, 40, 80}) {
                  auto entry = task_entry(o, experiment, "forward", "piddm");
                  entry.options["task"]["iterations"] = iterations;
                  out.push_back(with_setting(entry, fmt::format("{} steps", iterations)));
                }
                return out;
              },
          .takes = {"pdes", "methods"},
          .reading = "Error against wall time per sample: generation by solution_error, the forward task by mse_u.",
          .charts = chart_pareto};
}

}  // namespace piddm
