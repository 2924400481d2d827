#pragma once
// Reports of one table made in parts, as one: one PDE per machine, one method or one seed per day.

#include <vector>

#include "piddm/tables/report.h"

namespace piddm {

/// Rows with the same labels become one with the seeds of both, those they share from the later report (all of it where
/// a report does not say its seeds), and rows are grouped by their labels. Options, machine
/// and seconds of each report are kept in `merged`, and a row's `part` is its number there; reports may be merged
/// ones themselves. Columns are those the table has now, and ratios to the reference method are taken again, so that it
/// may be in another report. A UsageError for reports of different tables or scales; older ones that do not say their
/// scale are taken.
Report merge_reports(const std::vector<Report>& reports);

}  // namespace piddm
