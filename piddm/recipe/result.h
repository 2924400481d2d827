#pragma once
// What became of an entry of a table: its scores, or why there are none.

#include <string>

#include "piddm/eval/scores.h"

namespace piddm {

struct Result {
  Scores scores = {};
  std::string refused = {};  ///< why the method cannot do the task; empty: it can
  std::string failed = {};   ///< how it broke down numerically; empty: it did not

  bool done() const { return refused.empty() && failed.empty(); }
};

/// The scores' flat object, or {"refused" | "failed": why}.
json to_json(const Result& result);
Result result_from(const json& object);

}  // namespace piddm
