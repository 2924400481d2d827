#include "piddm/core/json_text.h"

namespace piddm {

std::string reason_of(const json::exception& error) {
  const std::string text = error.what();
  const auto end = text.find("] ");
  return end == std::string::npos ? text : text.substr(end + 2);
}

}  // namespace piddm

namespace piddm::detail {

bool JsonGuard::open(bool object) {
  value();
  require<DataError>(levels_.size() < limits_.depth, "{}: JSON nested deeper than {}", origin_, limits_.depth);
  levels_.push_back({object, 0, {}});
  return true;
}

bool JsonGuard::close() {
  levels_.pop_back();
  return true;
}

bool JsonGuard::key(const std::string& name) {
  auto& keys = levels_.back().keys;
  require<DataError>(keys.insert(name).second, "{}: duplicate key '{}'", origin_, name);
  require<DataError>(keys.size() <= limits_.keys, "{}: more than {} keys in one object", origin_, limits_.keys);
  return true;
}

bool JsonGuard::value() {
  if (levels_.empty() || levels_.back().object) return true;
  require<DataError>(++levels_.back().entries <= limits_.entries, "{}: a list of more than {} entries", origin_,
                     limits_.entries);
  return true;
}

bool JsonGuard::parse_error(size_t, const std::string&, const nlohmann::json::exception& error) const {
  const auto* syntax = dynamic_cast<const nlohmann::json::parse_error*>(&error);
  if (syntax == nullptr) throw DataError("{}: not valid JSON (a number out of range)", origin_);
  throw DataError("{}: not valid JSON (byte {})", origin_, syntax->byte);
}

}  // namespace piddm::detail
