#pragma once
// A report (report.h) as text, as files and as a section of the HTML page.

#include "piddm/tables/html_report.h"
#include "piddm/tables/report.h"

namespace piddm {

/// Ours, the paper's beside it where it has the number, multiples of the reference method's pde_error; best values of
/// each group (best.h) emphasised, "diverged" in the place of what says nothing else (eval/divergence.h).
Table table_of(const Report& report);

/// The same for a page: bootstrap intervals behind the numbers, and the floor of each PDE as a row of its own.
Table page_table_of(const Report& report);

/// For a terminal: table, floors, refusals, how to read it.
std::string format_report(const Report& report);

/// report.json, table.md, table.csv, table.tex in `out`.
void write_report(const Report& report, const std::filesystem::path& out);

/// OUT/report.json; nothing where there is none.
std::optional<Report> read_report(const std::filesystem::path& out);

/// What a page can show in a folder, sorted: the SVG of a picture, else its PNG.
std::vector<ReportPicture> pictures_in(const std::filesystem::path& folder);

/// The report in `folder` with the pictures beside it.
ReportSection report_section(const Report& report, const std::filesystem::path& folder);

}  // namespace piddm
