#pragma once
// What a result is made of: the method built up one component at a time, beside what can be had without it.
//
// table-attribution: the teacher and what costs little on top of it (arithmetic, low-passes, decoding), the paper's own
// set-up, and students from the bare one to that of the options. A row is the experiment of the options with the
// components it does not name left out, so the ladder ends in the experiment itself; behind it stand further components
// that the experiment does not have, with their usual values. A component that changes nothing on a PDE is no row.
// table-attribution-tasks: the same for latent optimisation.

#include "piddm/tables/tables.h"

namespace piddm {

/// A row's name, which chooses it (settings), and what it is.
struct AttributedRow {
  std::string name, meaning;
  Experiment experiment;
};

/// The students of a PDE in the order of their rows: "bare", "heads", "physics", "heads + physics", "+ error", ...
std::vector<AttributedRow> attributed_students(const TableOptions& options, const std::string& pde);

/// The ways to solve a task with the student of the options: "Algorithm 3", "+ L-BFGS", ...; they differ in `solve`.
std::vector<AttributedRow> attributed_solvers(const TableOptions& options, const std::string& pde);

/// The preset PDE-paper in the sizes of the options: grid, network, data, steps, batches; nothing else of them.
Experiment paper_experiment(const TableOptions& options, const std::string& pde);

TableRecipe table_attribution();
TableRecipe table_attribution_tasks();

}  // namespace piddm
