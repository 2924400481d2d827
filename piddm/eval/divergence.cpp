#include "piddm/eval/divergence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "piddm/core/table.h"
#include "piddm/eval/metric_registry.h"

namespace piddm {

namespace {

constexpr double kMostVariances = 100, kMostRelResidual = 1e5;

bool is_one_of(const std::string& metric, const auto& names) {
  const auto* card = find_metric(metric);
  return card && std::find(names.begin(), names.end(), card->name) != names.end();
}

bool is_field_error(const std::string& metric) {
  static constexpr std::array<std::string_view, 4> names = {"mmse", "smse", "mse", "solution_error"};
  return is_one_of(metric, names);
}

/// Tells the work of a run, which is what it is however it ended.
bool is_work(const std::string& metric) {
  static constexpr std::array<std::string_view, 6> names = {
      "nfe", "backward", "recomputed", "seconds_per_sample", "peak_memory_mib", "training_seconds"};
  return is_one_of(metric, names);
}

}  // namespace

std::string divergence(const Scores& scores) {
  for (const auto& [metric, value] : scores.values) {
    const bool field_error = is_field_error(metric);
    if ((field_error || metric == "pde_error") && !std::isfinite(value)) return metric + " is not finite";
    if (field_error && value > kMostVariances)
      return fmt::format("{} is beyond {} variances of the data", metric, kMostVariances);
    if (metric == "rel_residual" && value > kMostRelResidual)
      return fmt::format("the residual is beyond {:.0e} times the terms of the equation", kMostRelResidual);
  }
  return "";
}

std::string score_text(const Scores& scores, const std::string& metric, bool diverged, const std::string& absent) {
  const auto value = scores.find(metric);
  if (!value) return absent;
  return diverged && !is_work(metric) ? kDiverged : format_number(*value);
}

}  // namespace piddm
