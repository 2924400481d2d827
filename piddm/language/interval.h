#pragma once
// What values an expression can have, by interval arithmetic: sure, not tight (u - u of u in [0, 1] is in [-1, 1]).

#include <map>
#include <string>

#include "piddm/language/expression.h"

namespace piddm {

/// low <= value <= high; either may be infinite.
struct Interval {
  double low, high;
};

/// Names and axes that are not in the maps, and derivatives: anything.
struct Ranges {
  std::map<std::string, Interval> names = {};  ///< of fields and parameters
  std::map<Coordinate, Interval> axes = {};
};

Interval range_of(const Expression& e, const Ranges& ranges);

}  // namespace piddm
