#include "piddm/recipe/entry.h"

namespace piddm {

std::string Labels::text() const {
  return fmt::format("{} {} {}{}{}", pde, task, method, setting.empty() ? "" : " ", setting);
}

json to_json(const Labels& labels) {
  json out = {{"pde", labels.pde}, {"task", labels.task}, {"method", labels.method}};
  if (!labels.setting.empty()) out["setting"] = labels.setting;
  return out;
}

Labels labels_from(const json& object) {
  return {object.at("pde"), object.at("task"), object.at("method"), object.value("setting", "")};
}

}  // namespace piddm
