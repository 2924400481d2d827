#include "piddm/recipe/result.h"

#include <algorithm>
#include <cmath>

namespace piddm {

namespace {

double number_or_nan(const json& value) { return value.is_number() ? value.get<double>() : NAN; }

}  // namespace

Numbers::Numbers(const json& object) {
  for (const auto& [name, value] : object.items())
    if (value.is_number()) set(name, value.get<double>());
}

void Numbers::set(const std::string& name, double value) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) { return e.first == name; });
  if (found == entries_.end())
    entries_.emplace_back(name, value);
  else
    found->second = value;
}

std::optional<double> Numbers::find(const std::string& name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) { return e.first == name; });
  return found == entries_.end() ? std::nullopt : std::optional(found->second);
}

double Numbers::at(const std::string& name) const {
  const auto found = find(name);
  require<DataError>(found.has_value(), "no number '{}' here", name);
  return *found;
}

json Numbers::to_json() const {
  json out = json::object();
  for (const auto& [name, value] : entries_) out[name] = value;
  return out;
}

json to_json(const Intervals& intervals) {
  json out = json::object();
  for (const auto& [name, interval] : intervals) out[name] = {interval.first, interval.second};
  return out;
}

Intervals intervals_from(const json& object) {
  Intervals out;
  for (const auto& [name, ends] : object.items()) out[name] = {number_or_nan(ends.at(0)), number_or_nan(ends.at(1))};
  return out;
}

json to_json(const Result& result) {
  if (!result.refused.empty()) return {{"refused", result.refused}};
  if (!result.failed.empty()) return {{"failed", result.failed}};
  json out = result.metrics.to_json();
  if (!result.intervals.empty()) out["intervals"] = to_json(result.intervals);
  return out;
}

Result result_from(const json& object) {
  const json none = json::object();
  return {.metrics = Numbers(object),
          .intervals = intervals_from(object.value("intervals", none)),
          .refused = object.value("refused", ""),
          .failed = object.value("failed", "")};
}

}  // namespace piddm
