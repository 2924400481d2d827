#pragma once
// The report of a table (its rows: table_rows.h) as text, files and section of the HTML page.

#include "piddm/tables/html_report.h"

namespace piddm {

/// Ours, the paper's beside it where it has the number, multiples of the reference method's pde_error; best values of
/// each group emphasised.
Table table_of(const json& report);

/// For a terminal: table, floors, refusals, how to read it.
std::string format_table(const json& report);

/// report.json, table.md, table.csv, table.tex in `out`.
void write_table(const json& report, const std::filesystem::path& out);

/// The report in `folder` with the pictures beside it.
ReportSection table_section(const json& report, const std::filesystem::path& folder);

}  // namespace piddm
