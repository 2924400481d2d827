#pragma once
// The rows of a table's report: {"labels": {"pde", "task", "method", "setting"?}, "count", "metrics", "deviation" (over
// seeds) or "intervals" (bootstrap), "paper" | null, or instead of metrics "refused" / "failed": why}. "seeds" is there
// while some are not finished, "part" in merged reports (table_merge.h).

#include <string>
#include <vector>

#include "piddm/core/fields.h"

namespace piddm {

/// What tells the rows of a table apart, from left to right.
inline const std::vector<std::string> kRowLabels = {"pde", "task", "method", "setting"};

const json& labels_of(const json& row);

/// `values` is an object with a number under `key`.
bool has_number(const json& values, const std::string& key);

/// pde_error_ratio: pde_error above the floor of true data (0 where that is not known, as in the paper) over that of
/// the reference method with the same other labels, in `values` (metrics or paper) of each row. `floors` are by PDE.
void add_ratios(json& rows, const std::string& reference, const std::string& values, const json& floors);

}  // namespace piddm
