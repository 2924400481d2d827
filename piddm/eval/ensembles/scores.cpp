#include "piddm/eval/ensembles/scores.h"

#include <algorithm>
#include <array>
#include <limits>

namespace piddm {

namespace {

constexpr const char* kIntervals = "intervals";
constexpr std::array<std::pair<const char*, int64_t Scores::*>, 4> kSizes = {{{"n", &Scores::n},
                                                                              {"n_reference", &Scores::n_reference},
                                                                              {"n_true", &Scores::n_true},
                                                                              {"members", &Scores::members}}};

double number_of(const json& j) { return j.is_null() ? std::numeric_limits<double>::quiet_NaN() : j.get<double>(); }

}  // namespace

std::optional<double> Scores::find(const std::string& key) const {
  const auto found = values.find(key);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

void to_json(json& j, const Scores& scores) {
  j = json::object();
  for (const auto& [key, member] : kSizes)
    if (scores.*member > 0) j[key] = scores.*member;
  for (const auto& [key, value] : scores.values) j[key] = value;
  if (scores.intervals.empty()) return;
  auto& intervals = j[kIntervals] = json::object();
  for (const auto& [key, interval] : scores.intervals) intervals[key] = {interval.first, interval.second};
}

void from_json(const json& j, Scores& scores) {
  scores = {};
  for (const auto& [key, member] : kSizes)
    if (const auto found = j.find(key); found != j.end()) scores.*member = found->get<int64_t>();
  for (const auto& [key, value] : j.items()) {
    const auto is_size = [&, name = key](const auto& size) { return name == size.first; };
    if (key == kIntervals)
      for (const auto& [name, ends] : value.items())
        scores.intervals[name] = {number_of(ends.at(0)), number_of(ends.at(1))};
    else if ((value.is_number() || value.is_null()) && std::none_of(kSizes.begin(), kSizes.end(), is_size))
      scores.values[key] = number_of(value);
  }
}

}  // namespace piddm
