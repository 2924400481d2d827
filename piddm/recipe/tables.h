#pragma once
// The tables and figures of the paper, and two of ours, as lists of entries for the workbench. What `piddm reproduce` runs.
//
//   OUT/NAME-SCALE/report.json              every metric of every row with deviations or intervals, the paper's values, floors, options, machine
//   OUT/NAME-SCALE/table.{md,csv,tex}       the table: ours, and the paper's beside it
//   OUT/NAME-SCALE/*.png, *.svg             pictures
//   OUT/steps/                              what the tables are made of, shared by all of them
//
// A new table is a function that returns a TableRecipe, and one line in the registry.

#include "piddm/recipe/table_options.h"

namespace piddm {

struct TableRecipe {
  std::vector<std::string> columns;  ///< metrics shown; all are in report.json
  std::function<std::vector<Entry>(const TableOptions&)> entries;
  std::vector<std::string> takes =
      {};                    ///< which of the options pdes, methods, tasks and settings choose among its entries
  std::string reading = {};  ///< how to read it: a paragraph for the report
  std::string reference =
      {};  ///< rows are also given as multiples of this method's pde_error above the floor in the same PDE, task and setting; empty: not
  std::function<void(Workbench&, const std::vector<Entry>&, const json& report, const std::filesystem::path& out)>
      draw = {};
};

const Registry<TableRecipe()>& table_registry();

/// Runs what is missing and writes the files; the report. `root` holds the steps. With Mode::look nothing runs: the table has the rows that are
/// finished, a mean of several seeds those seeds, and there are no pictures; a DataError if nothing is finished.
json run_table(const std::string& name, const TableOptions& options, const std::filesystem::path& root,
               const std::filesystem::path& out, torch::Device device, Recipe::Mode mode = Recipe::Mode::run);

/// What run_table would do: steps with what they took or may take.
std::vector<PlannedStep> plan_table(const std::string& name, const TableOptions& options,
                                    const std::filesystem::path& root, torch::Device device);

}  // namespace piddm
