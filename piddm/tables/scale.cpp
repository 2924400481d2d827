#include "piddm/tables/scale.h"

#include <algorithm>

#include "piddm/core/fields.h"

namespace piddm {

Scale parse_scale(const std::string& name) {
  const auto names = enum_names(Scale{});
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw UsageError("{}", unknown_name_message("scale", name, names));
  return static_cast<Scale>(found - names.begin());
}

}  // namespace piddm
