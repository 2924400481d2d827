#pragma once
// A judgement: values by metric (metric_registry.h) with their intervals, and the sizes of what was judged.

#include <optional>
#include <string>

#include "piddm/core/fields.h"
#include "piddm/eval/bootstrap.h"

namespace piddm {

/// In the order of insertion.
template <class T>
using ByKey = nlohmann::ordered_map<std::string, T>;

struct Scores {
  int64_t n = 0;            ///< samples, or cases of a task
  int64_t n_reference = 0;  ///< true samples they were compared with; 0: none
  int64_t n_true = 0;       ///< a floor: true samples whose own residual it tells; 0: no floor
  int64_t members = 0;      ///< an ensemble: answers per case; 0: none
  ByKey<double> values;
  ByKey<Interval> intervals;  ///< under the same keys

  bool has(const std::string& key) const { return values.count(key) > 0; }
  std::optional<double> find(const std::string& key) const;
  double at(const std::string& key) const;  ///< a DataError where there is no such value
};

/// As in files: one flat object of sizes and values, and "intervals" {key: [from, to]}. A value that is not finite is
/// written as null and read as NaN; entries of other kinds are not read.
void to_json(json& j, const Scores& scores);
void from_json(const json& j, Scores& scores);

}  // namespace piddm
