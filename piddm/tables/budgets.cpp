#include "piddm/tables/budgets.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "piddm/core/table.h"
#include "piddm/solve/methods/registry.h"
#include "piddm/tables/entries.h"

namespace piddm {

namespace {

const std::string kOurs = "piddm";  // name: the method whose seconds are given to the others
constexpr const char* kSeconds = "seconds_per_sample";
const std::vector<std::string> kMetrics = {"pde_error", "mse_u", "mse_a"};
const std::vector<int64_t> kLadder = {1, 20, 80, 320};

std::string setting_of(int64_t evaluations) {
  return fmt::format("{} evaluation{}", evaluations, evaluations == 1 ? "" : "s");
}

Entry generation_by(const TableOptions& o, const Experiment& experiment, const std::string& method) {
  auto entry = generation(o, experiment, method == kOurs ? "piddm-1" : method);
  entry.labels.method = method;
  return entry;
}

Entry within(Entry entry, int64_t evaluations) {
  entry.options = method_card(entry.method).within(entry.options, entry.task, evaluations).value();
  return with_setting(entry, setting_of(evaluations));
}

std::vector<std::string> settings() {
  std::vector<std::string> out;
  for (const int64_t n : kLadder) out.push_back(setting_of(n));
  return out;
}

std::vector<Entry> entries(const TableOptions& o) {
  std::vector<Entry> out;
  const auto rungs = chosen("setting", o.settings, settings());
  for (const auto& pde : chosen("PDE", o.pdes, {"darcy", "poisson", "burgers"}))
    for (const auto& task : chosen("task", o.tasks, {"generate", "forward", "inverse", "reconstruct"}))
      for (const auto& method :
           chosen("method", o.methods, {kOurs, "teacher", "pidm", "eci", "diffusionpde", "cocogen", "dflow"}))
        for (const int64_t n : kLadder) {
          if (std::find(rungs.begin(), rungs.end(), setting_of(n)) == rungs.end()) continue;
          if (n == 1 && method != kOurs) continue;  // a teacher's single step is no sample
          const auto experiment = table_experiment(o, pde);
          const auto entry =
              task == "generate" ? generation_by(o, experiment, method) : task_entry(o, experiment, task, method);
          out.push_back(within(entry, n));
        }
  return out;
}

bool counts(const Row& row) { return row.result.done() && row.result.diverged.empty() && row.metric(kSeconds); }

/// The metrics a row is judged by, those there are.
std::string numbers_of(const Row& row) {
  std::vector<std::string> parts;
  for (const auto& metric : kMetrics)
    if (const auto value = row.metric(metric)) parts.push_back(fmt::format("{} {}", metric, format_number(*value)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// What is to be small: the mean error in a task, else the PDE error.
double score_of(const Row& row) {
  const auto u = row.metric("mse_u"), a = row.metric("mse_a");
  if (row.labels.task == "generate" || (!u && !a)) return row.metric("pde_error").value_or(INFINITY);
  return u.value_or(0) + a.value_or(0);
}

}  // namespace

std::string at_equal_seconds(const Report& report) {
  std::string text;
  for (const auto& ours : report.rows) {
    if (ours.labels.method != kOurs || !counts(ours)) continue;
    const double seconds = *ours.metric(kSeconds);
    std::map<std::string, const Row*> best;
    for (const auto& row : report.rows) {
      if (row.labels.method == kOurs || row.labels.pde != ours.labels.pde || row.labels.task != ours.labels.task)
        continue;
      auto& held = best[row.labels.method];
      if (counts(row) && *row.metric(kSeconds) <= seconds && (!held || score_of(row) < score_of(*held))) held = &row;
    }
    text += fmt::format("- {} {}, at most {} s per sample: {} {} ({})", ours.labels.pde, ours.labels.task,
                        format_number(seconds), kOurs, numbers_of(ours), ours.labels.setting);
    for (const auto& [method, row] : best)
      text += row ? fmt::format("; {} {} ({})", method, numbers_of(*row), row->labels.setting)
                  : fmt::format("; {} none so fast", method);
    text += "\n";
  }
  return text.empty() ? text : "At equal seconds, of each method the best row that took no longer:\n\n" + text;
}

TableRecipe table_budgets() {
  return {.columns = {"mse_u", "mse_a", "misclassified", "pde_error", "solution_error", "mmse", "smse", "nfe",
                      "backward", "seconds_per_sample"},
          .entries = entries,
          .takes = {"pdes", "tasks", "methods", "settings"},
          .reading =
              "Every method with at most so many evaluations of its network per sample or case. Refinement of "
              "piddm's samples is counted; corrections of CoCoGen take none.",
          .conclusion = at_equal_seconds};
}

}  // namespace piddm
