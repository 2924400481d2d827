#pragma once
// The tables and figures of the paper, and two of ours, as lists of entries for the workbench. What `piddm reproduce`
// runs (run.h).
//
// A new table is a function that returns a TableRecipe, and one line in the registry.

#include "piddm/tables/options.h"
#include "piddm/tables/pictures.h"
#include "piddm/tables/report.h"

namespace piddm {

struct TableRecipe {
  std::vector<std::string> columns;  ///< metrics shown; all are in report.json
  std::function<std::vector<Entry>(const TableOptions&)> entries;
  std::vector<std::string> takes =
      {};                    ///< which of the options pdes, methods, tasks and settings choose among its entries
  std::string reading = {};  ///< how to read it: a paragraph for the report
  /// Rows are also given as multiples of this method's pde_error above the floor in the same PDE, task and setting;
  /// empty: not.
  std::string reference = {};
  std::function<std::vector<NamedFigure>(const Report&)> charts = {};
  std::function<void(Workbench&, const std::vector<Entry>&, const std::filesystem::path& out)> sheets = {};
  std::function<std::string(const Report&)> conclusion = {};  ///< Markdown from the numbers, below the table
};

const Registry<TableRecipe()>& table_registry();

/// Ratios, distances to the teacher and conclusion: what a report says beyond its rows.
void conclude(Report& report, const TableRecipe& recipe);

/// The recipe's columns, with pde_error_ratio behind pde_error where it has a reference.
std::vector<std::string> shown_columns(const TableRecipe& recipe);

}  // namespace piddm
