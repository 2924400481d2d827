#pragma once
// A finished table as text, files and section of the HTML report. Rows of a report: {"labels": {"pde", "task", "method", "setting"?}, "metrics",
// "deviation" (over seeds) or "intervals" (bootstrap), "paper" | null, or "refused" / "failed": why}.

#include "piddm/recipe/html_report.h"
#include "piddm/recipe/tables.h"

namespace piddm {

/// Ours, the paper's beside it where it has the number, multiples of the reference method's pde_error; best values of each group emphasised.
Table table_of(const json& report);

/// For a terminal: table, floors, refusals, how to read it.
std::string format_table(const json& report);

/// report.json, table.md, table.csv, table.tex in `out`.
void write_table(const json& report, const std::filesystem::path& out);

/// One report of several of the same table, e.g. one a PDE from different machines or days: rows with the same labels are taken from the later one. Options,
/// machine and seconds of each are kept under "merged". A UsageError for reports of different tables.
json merge_reports(const std::vector<json>& reports);

/// The report in `folder` with the pictures beside it.
ReportSection table_section(const json& report, const std::filesystem::path& folder);

/// "12 s", "3.4 min", "2.1 h".
std::string format_duration(double seconds);

/// The steps of a plan with what they took or may take, and the sum of what is missing.
std::string format_plan(const std::vector<PlannedStep>& plan);

}  // namespace piddm
