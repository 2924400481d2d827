#include "piddm/tables/table_rows.h"

namespace piddm {

const json& labels_of(const json& row) { return row.at("labels"); }

bool has_number(const json& values, const std::string& key) {
  return values.is_object() && values.contains(key) && values.at(key).is_number();
}

void add_ratios(json& rows, const std::string& reference, const std::string& values, const json& floors) {
  const auto above_floor = [&](const json& row) {
    const auto floor = floors.value(labels_of(row).at("pde").get<std::string>(), json::object());
    return row.at(values).at("pde_error").get<double>() -
           (has_number(floor, "pde_error") ? floor.at("pde_error").get<double>() : 0);
  };
  for (auto& row : rows) {
    if (!row.contains(values) || !has_number(row.at(values), "pde_error")) continue;
    json wanted = labels_of(row);
    wanted["method"] = reference;
    for (const auto& other : rows)
      if (labels_of(other) == wanted && other.contains(values) && has_number(other.at(values), "pde_error"))
        row[values]["pde_error_ratio"] = above_floor(row) / above_floor(other);
  }
}

}  // namespace piddm
