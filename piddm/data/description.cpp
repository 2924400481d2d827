#include "piddm/data/description.h"

#include <algorithm>

namespace piddm {

namespace {

constexpr int kVersion = 1;

/// Moves the value of a key out of `j` into a member, where it has the member's type.
void take(json& j, const char* key, std::string& member) {
  const auto found = j.find(key);
  if (found == j.end() || !found->is_string()) return;
  member = found->get<std::string>();
  j.erase(found);
}

template <class T>
void take(json& j, const char* key, std::optional<T>& member) {
  const auto found = j.find(key);
  if (found == j.end() || !found->is_number_integer()) return;
  member = found->template get<T>();
  j.erase(found);
}

void take(json& j, const char* key, json& member) {
  const auto found = j.find(key);
  if (found == j.end()) return;
  member = *found;
  j.erase(found);
}

/// What is empty is not written.
void put(json& j, const char* key, const std::string& member) {
  if (!member.empty()) j[key] = member;
}

template <class T>
void put(json& j, const char* key, const std::optional<T>& member) {
  if (member) j[key] = *member;
}

void put(json& j, const char* key, const json& member) {
  if (!member.is_null()) j[key] = member;
}

}  // namespace

DataDescription read_description(json j) {
  DataDescription d;
  if (j.is_null()) return d;
  for (const auto* key : {"version", "grid", "channels", "n", "dtype"}) j.erase(key);
  take(j, "pde", d.pde);
  take(j, "definition", d.definition);
  take(j, "parameters", d.parameters);
  take(j, "seed", d.seed);
  take(j, "law", d.law);
  take(j, "first", d.first);
  take(j, "floor", d.floor);
  take(j, "device", d.device);
  take(j, "axes", d.axes);
  take(j, "domain", d.domain);
  take(j, "source", d.source);
  take(j, "origin", d.origin);
  d.more = std::move(j);
  return d;
}

json write_description(const DataDescription& d, const std::vector<std::string>& channels, int64_t n,
                       const GridSize& grid, torch::ScalarType dtype) {
  json j = {{"version", kVersion}};
  put(j, "pde", d.pde);
  put(j, "definition", d.definition);
  put(j, "grid", grid.to_json());
  put(j, "parameters", d.parameters);
  put(j, "seed", d.seed);
  put(j, "channels", json(channels));
  put(j, "law", d.law);
  put(j, "first", d.first);
  put(j, "n", json(n));
  put(j, "dtype", data_type_name(dtype));
  put(j, "floor", d.floor);
  put(j, "device", d.device);
  put(j, "axes", d.axes);
  put(j, "domain", d.domain);
  put(j, "source", d.source);
  put(j, "origin", d.origin);
  j.update(d.more);
  return j;
}

std::vector<std::string> described_channels(const json& j, const std::string& origin) {
  const auto list = j.find("channels");
  bool good = list != j.end() && list->is_array() && !list->empty();
  if (good) good = std::all_of(list->begin(), list->end(), [](const json& name) { return name.is_string(); });
  require<DataError>(good, "{}: the description has no list of channels", origin);
  return list->get<std::vector<std::string>>();
}

void check_description_version(const json& j, const std::string& origin) {
  const auto found = j.find("version");
  const bool later = found != j.end() && found->is_number_integer() && *found > kVersion;
  require<DataError>(!later,
                     "{}: written by a later version of piddm (data {}, this one reads up to {}): update piddm to read "
                     "it",
                     origin, later ? found->dump() : "", kVersion);
}

std::string data_type_name(torch::ScalarType dtype) {
  require<UsageError>(dtype == torch::kFloat32 || dtype == torch::kFloat64, "data are float32 or float64, not {}",
                      c10::toString(dtype));
  return dtype == torch::kFloat32 ? "float32" : "float64";
}

}  // namespace piddm
