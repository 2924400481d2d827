#pragma once
// Why data miss the residual of their PDE, in words and numbers.

#include <string>
#include <vector>

#include "piddm/core/fields.h"

namespace piddm {

struct Cause {
  std::string what;                ///< one clause
  json evidence = json::object();  ///< numbers by name; [before, after] where a correction changes them
  std::string advice;              ///< what to do, in the imperative
  std::string options = {};        ///< of `data import` that mend it; empty: none does

  /// {"what": ..., "evidence": {...}, "do": ...}
  json to_json() const;

  /// "What: rel_residual 0.3 -> 1e-06, floor 1e-06"
  std::string finding() const;

  /// The finding and the advice, without a full stop: that ends in a command.
  std::string sentence() const;
};

/// A cause that an import mends: "import again: piddm data import d.npz --scale u=2 --out corrected.npz".
Cause mended_by_import(const std::string& what, const json& evidence, const std::string& file,
                       const std::string& options);

/// What together explains the data: one cause or two.
using Explanation = std::vector<Cause>;

/// The same with one import as the advice of all, where that mends them all.
Explanation with_one_advice(Explanation causes, const std::string& file);

}  // namespace piddm
