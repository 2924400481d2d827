#include "piddm/core/fields.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace piddm {

namespace {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({substitute, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

/// "a.b" as "/a/b".
std::string pointer_of(std::string key) {
  std::replace(key.begin(), key.end(), '.', '/');
  return "/" + key;
}

}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  std::string best;
  size_t best_distance = std::max<size_t>(2, name.size() / 3) + 1;
  for (const auto& candidate : candidates)
    if (const size_t distance = edit_distance(name, candidate);
        distance < best_distance && distance < std::max(name.size(), candidate.size())) {
      best_distance = distance;
      best = candidate;
    }
  return best;
}

std::string unknown_name_message(std::string_view what, std::string_view name, const std::vector<std::string>& known) {
  const auto nearest = nearest_name(name, known);
  if (!nearest.empty()) return fmt::format("unknown {} '{}'; did you mean '{}'?", what, name, nearest);
  return fmt::format("unknown {} '{}'; known: {}", what, name, fmt::join(known, ", "));
}

namespace detail {

void throw_wrong_type(const std::string& path, const char* expected, const json& got) {
  throw UsageError("{}: expected {}, got {}", path.empty() ? "config" : path, expected, got.dump());
}

void check_number(double value, const Bound& bound, const std::string& path) {
  if (!std::isfinite(value)) throw UsageError("{}: must be a finite number, got {}", path, value);
  const bool low = bound.low_open ? value > bound.low : value >= bound.low;
  const bool high = bound.high_open ? value < bound.high : value <= bound.high;
  if (low && high) return;
  if (!high && bound.count) throw UsageError("{}: must be at most {}, got {}", path, bound.high, value);
  if (bound.high < kNoBound && !bound.count)
    throw UsageError("{}: must be {} {} and {} {}, got {}", path, bound.low_open ? "more than" : "at least", bound.low,
                     bound.high_open ? "below" : "at most", bound.high, value);
  if (bound.low == 0 && !bound.low_open) throw UsageError("{}: must not be negative, got {}", path, value);
  throw UsageError("{}: must be {} {}, got {}", path, bound.low_open ? "more than" : "at least", bound.low, value);
}

json without_former_keys(json j, const std::vector<FormerKey>& former, const std::string& path, FormerKeys policy) {
  for (const auto& [key, now, why] : former) {
    const auto dot = key.rfind('.');
    const auto table = json::json_pointer(dot == std::string::npos ? "" : pointer_of(key.substr(0, dot)));
    const auto name = dot == std::string::npos ? key : key.substr(dot + 1);
    if (!j.contains(table) || !j.at(table).contains(name)) continue;
    if (policy == FormerKeys::refuse) {
      if (now.empty()) throw UsageError("{} is gone: {}", join_path(path, key), why);
      throw UsageError("{} is now {}{}", join_path(path, key), join_path(path, now), why.empty() ? "" : ": " + why);
    }
    const json value = j.at(table).at(name);
    j.at(table).erase(name);
    if (!now.empty()) j[now] = value;
  }
  return j;
}

std::string join_path(const std::string& path, const std::string& key) { return path.empty() ? key : path + "." + key; }

}  // namespace detail
}  // namespace piddm
