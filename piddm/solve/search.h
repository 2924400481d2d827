#pragma once
// What of a method's options can be tuned: families of settings, each with its axes.

#include <string>
#include <vector>

#include "piddm/core/fields.h"

namespace piddm {

/// One option: a number drawn log-uniformly from low to high, rounded where it is whole, or one of `choices`.
struct SearchAxis {
  std::string key;  ///< "correction", "task.iterations"
  double low = 0, high = 0;
  bool whole = false;
  json choices = json::array();
};

struct SearchFamily {
  std::string name;
  json fixed = json::object();  ///< options that make the family
  std::vector<SearchAxis> axes = {};
};

}  // namespace piddm
