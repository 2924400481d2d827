#include "piddm/tables/best.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "piddm/eval/metric_registry.h"

namespace piddm {

namespace {

constexpr const char *kRatio = "pde_error_ratio", *kError = "pde_error", *kSolutionError = "solution_error";

/// A residual: what smooth fields have less of.
bool is_residual(const std::string& metric) {
  const auto* card = find_metric(metric);
  return card && (card->name == kError || card->name == "rel_residual" || card->name == "boundary_error");
}

/// The upper end of what the row's value may be.
double upper_end(const Row& row, const std::string& metric, double value) {
  if (const auto deviation = row.deviation.find(metric)) return value + 2 * *deviation;
  const auto found = row.result.scores.intervals.find(metric);
  const bool known = found != row.result.scores.intervals.end() && std::isfinite(found->second.second);
  return known ? found->second.second : value;
}

/// What the row counts with; nothing where it does not count.
std::optional<double> counted(const Row& row, const std::string& metric, const Scores& floors) {
  const auto value = row.metric(metric);
  if (!value || std::isnan(*value) || !row.result.diverged.empty()) return {};
  const auto floor = floors.find(metric);
  if (!floor || *value >= *floor) return value;
  const auto error = row.metric(kSolutionError), least = floors.find(kSolutionError);
  const bool solved = error && least && *error <= *least;
  if (is_residual(metric) && !solved && upper_end(row, metric, *value) < *floor) return {};
  return floor;
}

/// Of the ratio: 0 at the floor, nothing where the error behind it does not count.
std::optional<double> counted_ratio(const Row& row, const Scores& floors) {
  const auto error = counted(row, kError, floors), ratio = row.metric(kRatio);
  if (!error || !ratio || std::isnan(*ratio)) return {};
  return std::max(*ratio, 0.0);
}

}  // namespace

std::vector<size_t> best_rows(const Report& report, const std::string& metric) {
  if (!lower_is_better(metric)) return {};
  struct Best {
    double value;
    std::vector<size_t> rows;
  };
  std::map<std::pair<std::string, std::string>, Best> groups;
  const Scores none;
  for (size_t i = 0; i < report.rows.size(); ++i) {
    const auto& row = report.rows[i];
    const auto found = report.floors.find(row.labels.pde);
    const auto& floors = found == report.floors.end() ? none : found->second;
    const auto value = metric == kRatio ? counted_ratio(row, floors) : counted(row, metric, floors);
    if (!value) continue;
    auto& best = groups.try_emplace({row.labels.pde, row.labels.task}, Best{*value, {}}).first->second;
    if (*value < best.value) best = {*value, {}};
    if (*value == best.value) best.rows.push_back(i);
  }
  std::vector<size_t> out;
  for (const auto& [group, best] : groups) out.insert(out.end(), best.rows.begin(), best.rows.end());
  return out;
}

}  // namespace piddm
