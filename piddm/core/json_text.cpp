#include "piddm/core/json_text.h"

namespace piddm {

std::string reason_of(const json::exception& error) {
  const std::string text = error.what();
  const auto end = text.find("] ");
  return end == std::string::npos ? text : text.substr(end + 2);
}

}  // namespace piddm

namespace piddm::detail {

void JsonGuard::open(bool object) {
  value();
  require<DataError>(levels_.size() < limits_.depth, "{}: JSON nested deeper than {}", origin_, limits_.depth);
  levels_.push_back({object, 0, {}});
}

void JsonGuard::key(const std::string& name) {
  auto& keys = levels_.back().keys;
  require<DataError>(keys.insert(name).second, "{}: duplicate key '{}'", origin_, name);
  require<DataError>(keys.size() <= limits_.keys, "{}: more than {} keys in one object", origin_, limits_.keys);
}

void JsonGuard::value() {
  if (levels_.empty() || levels_.back().object) return;
  require<DataError>(++levels_.back().entries <= limits_.entries, "{}: a list of more than {} entries", origin_,
                     limits_.entries);
}

}  // namespace piddm::detail
