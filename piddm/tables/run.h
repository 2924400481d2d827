#pragma once
// Running a table of tables.h: from its options to its report.
//
//   OUT/NAME-SCALE/report.json              every metric of every row with deviations or intervals, the paper's values,
//                                           floors, options, machine
//   OUT/NAME-SCALE/table.{md,csv,tex}       the table: ours, and the paper's beside it
//   OUT/NAME-SCALE/*.png, *.svg             pictures
//   OUT/steps/                              what the tables are made of, shared by all of them

#include "piddm/tables/paper.h"
#include "piddm/tables/tables.h"

namespace piddm {

/// Runs what is missing and writes the files; the report. `root` holds the steps. With Mode::look nothing runs: the
/// table has the rows that are finished, a mean of several seeds those seeds, and there are no pictures; a DataError if
/// nothing is finished; a whole table that is there is not replaced by a part of another.
/// `scale`: what the options began as, for the report.
Report run_table(const std::string& name, const TableOptions& options, const std::filesystem::path& root,
                 const std::filesystem::path& out, torch::Device device, Recipe::Mode mode = Recipe::Mode::run,
                 const std::string& scale = "");

/// The rows of these entries, each the mean over seeds; without those of which nothing is finished. `paper` has the
/// rows to stand beside them.
std::vector<Row> run_entries(Workbench& bench, const std::vector<Entry>& entries, const std::vector<uint64_t>& seeds,
                             const std::vector<LabelledPaperRow>& paper = {});

/// What run_table would do: steps with what they took or may take.
std::vector<PlannedStep> plan_table(const std::string& name, const TableOptions& options,
                                    const std::filesystem::path& root, torch::Device device);

/// "12 s", "3.4 min", "2.1 h".
std::string format_duration(double seconds);

/// The steps of a plan with what they took or may take, and the sum of what is missing.
std::string format_plan(const std::vector<PlannedStep>& plan);

}  // namespace piddm
