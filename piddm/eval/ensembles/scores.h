#pragma once
// A judgement: values by metric (metric_registry.h) with their intervals, and the sizes of what was judged.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "piddm/core/fields.h"
#include "piddm/eval/bootstrap.h"

namespace piddm {

/// Values by key, in the order of insertion.
template <class T>
class ByKey {
 public:
  T& operator[](const std::string& key) {
    const auto found = find(key);
    return found == end() ? entries_.emplace_back(key, T{}).second : found->second;
  }
  const T& at(const std::string& key) const {  ///< a DataError where there is none
    const auto found = find(key);
    require<DataError>(found != end(), "[scores] there is no {}", key);
    return found->second;
  }

  auto find(const std::string& key) {
    return std::find_if(begin(), end(), [&](auto& e) { return e.first == key; });
  }
  auto find(const std::string& key) const {
    return std::find_if(begin(), end(), [&](auto& e) { return e.first == key; });
  }
  size_t count(const std::string& key) const { return find(key) == end() ? 0 : 1; }
  auto begin() { return entries_.begin(); }
  auto end() { return entries_.end(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  bool operator==(const ByKey&) const = default;

 private:
  std::vector<std::pair<std::string, T>> entries_;
};

struct Scores {
  int64_t n = 0;            ///< samples, or cases of a task
  int64_t n_reference = 0;  ///< true samples they were compared with; 0: none
  int64_t n_true = 0;       ///< a floor: true samples whose own residual it tells; 0: no floor
  int64_t members = 0;      ///< an ensemble: answers per case; 0: none
  ByKey<double> values;
  ByKey<Interval> intervals;  ///< under the same keys

  bool has(const std::string& key) const { return values.count(key) > 0; }
  std::optional<double> find(const std::string& key) const;
  double at(const std::string& key) const { return values.at(key); }
};

/// As in files: one flat object of sizes and values, and "intervals" {key: [from, to]}. A value that is not finite is
/// written as null and read as NaN; entries of other kinds are not read.
void to_json(json& j, const Scores& scores);
void from_json(const json& j, Scores& scores);

}  // namespace piddm
