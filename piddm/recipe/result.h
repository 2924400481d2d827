#pragma once
// What became of an entry of a table: its metrics, or why there are none.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "piddm/core/fields.h"
#include "piddm/eval/bootstrap.h"

namespace piddm {

/// Numbers by name, in the order in which they were added.
class Numbers {
 public:
  Numbers() = default;

  /// The numbers of a JSON object; entries of other kinds are left out.
  explicit Numbers(const json& object);

  void set(const std::string& name, double value);
  std::optional<double> find(const std::string& name) const;
  bool contains(const std::string& name) const { return find(name).has_value(); }

  /// A DataError names what is missing.
  double at(const std::string& name) const;

  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  bool empty() const { return entries_.empty(); }
  bool operator==(const Numbers&) const = default;

  json to_json() const;

 private:
  std::vector<std::pair<std::string, double>> entries_;
};

/// Bootstrap intervals by metric; not finite where a value was not.
using Intervals = std::map<std::string, Interval>;

struct Result {
  Numbers metrics = {};
  Intervals intervals = {};
  std::string refused = {};  ///< why the method cannot do the task; empty: it can
  std::string failed = {};   ///< how it broke down numerically; empty: it did not

  bool done() const { return refused.empty() && failed.empty(); }
  bool operator==(const Result&) const = default;
};

/// {"mmse": ..., "intervals": {"mmse": [from, to]}}, or {"refused" | "failed": why}.
json to_json(const Result& result);
Result result_from(const json& object);

json to_json(const Intervals& intervals);
Intervals intervals_from(const json& object);

}  // namespace piddm
