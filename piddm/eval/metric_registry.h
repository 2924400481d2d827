#pragma once
// Every metric by name: what lists, columns, help and tables need to know about it. docs/metrics.md has the
// definitions. A new metric is one line of the table in metric_registry.cpp and the code that computes it.

#include <string>
#include <vector>

#include "piddm/pde/pde.h"

namespace piddm {

/// The keys of a metric: its name ("swd"), its name with a channel ("mse_u", "mse_a"), or both ("mmse", "mmse_u"); its
/// name and, where a PDE has several solution channels, equations or two-valued channels, its name with each of them
/// ("pde_error_flux"); or its name with channels and bands of wave numbers ("power_ratio_a_8-16").
enum class MetricKeys { whole, per_channel, both, per_solution, per_equation, per_two_valued, per_band };

/// What a PDE's metrics are split by.
struct MetricParts {
  std::vector<std::string> channels;
  std::vector<std::string> solutions = {}, equations = {}, two_valued = {};  ///< where there are several
  std::vector<std::string> bands = {};                                       ///< "u_1-2", ..., of the field channels
  bool has_two_valued = false;
};
MetricParts metric_parts(const Pde& pde);

enum class Better { lower, nominal, neither };
inline std::vector<std::string> enum_names(Better) { return {"lower", "nominal", "neither"}; }

/// What a metric needs beyond samples, or cases with their truth; names with dashes are options of `piddm evaluate`.
enum class MetricNeeds {
  nothing,
  poseidon,
  teacher,
  two_valued,
  boundary,
  constraint,
  starts,
  decode,
  model,
  classifier
};
inline std::vector<std::string> enum_names(MetricNeeds) {
  return {"",
          "--poseidon",
          "--features",
          "a two-valued coefficient",
          "boundary conditions beside the stencil",
          "a hard constraint, or a task",
          "several starts",
          "an exact decode",
          "a model",
          "--classifier"};
}

/// Kinds of judgement; one bit each, so that they can be joined.
constexpr unsigned kSamplesJudged = 1, kTasksJudged = 2, kEnsemblesJudged = 4;

struct MetricCard {
  std::string name, meaning;
  std::string unit;  ///< z: standard deviations of a channel in the training data
  MetricKeys keys = MetricKeys::whole;
  unsigned judged = kSamplesJudged;  ///< where it is measured
  unsigned shown = 0;                ///< where it is a column unless the user chooses the columns
  Better better = Better::lower;
  MetricNeeds needs = MetricNeeds::nothing;
};

/// In the order in which metrics are shown.
const std::vector<MetricCard>& metric_cards();

/// The metric that `key` is a value of ("mse_u": mse); nullptr where there is none.
const MetricCard* find_metric(const std::string& key);

/// Whether the smallest value of this key is the best one; false for keys that are no metric.
bool lower_is_better(const std::string& key);

/// The keys of these metrics for a PDE with these parts, in the given order: "mmse", "mmse_u", "mmse_a", ...
std::vector<std::string> metric_columns(const std::vector<std::string>& names, const MetricParts& parts);

/// The columns that judgements of these kinds show unless the user chooses them. A metric with a value of its own is
/// shown without those of its channels, but with those of its solution channels and equations; one that needs a
/// two-valued coefficient only where there is one.
std::vector<std::string> default_columns(unsigned judged, const MetricParts& parts);

/// Keys of values that are measured outside eval/.
namespace metric {
inline constexpr const char* kDecodeIterations = "decode_iterations";
inline constexpr const char* kDecodeMoved = "decode_moved";
inline constexpr const char* kMseVariance = "mse_variance";
inline constexpr const char* kPeakMemory = "peak_memory_mib";
inline constexpr const char* kTrainingSeconds = "training_seconds";
}  // namespace metric

}  // namespace piddm
