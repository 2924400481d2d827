#pragma once
// What became of an entry of a table: its scores, or why there are none.

#include <string>

#include "piddm/eval/divergence.h"

namespace piddm {

struct Result {
  Scores scores = {};
  std::string refused = {};    ///< why the method cannot do the task; empty: it can
  std::string failed = {};     ///< how it broke down numerically; empty: it did not
  std::string diverged = {};   ///< how it diverged (eval/divergence.h); empty: it did not
  std::string precision = {};  ///< arithmetic of the network: fp32, tf32 or bf16; empty: not known

  bool done() const { return refused.empty() && failed.empty(); }
};

/// The scores' flat object, with "diverged" and "precision" where they are known, or {"refused" | "failed": why}.
json to_json(const Result& result);

/// Results from before "diverged" was written are judged by their scores.
Result result_from(const json& object);

}  // namespace piddm
