#pragma once
// Which rows of a report hold the best value of a metric: what writers print in bold.
//
// No method is better than true data. A value below the floor counts as the floor, so all rows at it are best together,
// with one exception: a residual (pde_error, rel_residual, boundary_error) below that of true data is no sign of
// quality, since smoother fields have smaller ones, and is never best. It counts as the floor nevertheless
//   where its interval (of several seeds: two deviations) reaches the floor, or
//   where solution_error is at its floor: the fields solve the equation.

#include <string>
#include <vector>

#include "piddm/tables/report.h"

namespace piddm {

/// Numbers of the rows with the best value in their group, rows of the same PDE and task; none for metrics of which
/// less is not better. Rows that diverged take no part.
std::vector<size_t> best_rows(const Report& report, const std::string& metric);

}  // namespace piddm
