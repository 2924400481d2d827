#pragma once
// The paper's numbers, for orientation beside our own: paper_tables.json, every table of it in plain units (powers of
// ten undone) and under our names of methods, tasks, metrics and settings. The unit of its PDE error and the scale of
// its statistical errors are its own: compare ratios between methods.

#include <string>
#include <vector>

#include "piddm/tables/report.h"

namespace piddm {

/// A row of the paper and the labels it has here.
///
/// Methods: teacher, eci, diffusionpde, dflow, pidm, distill (no physics term), piddm-1 and piddm-ref (generation),
/// piddm (tasks). Metrics: mmse, smse, pde_error, fpd, swd, apdd, mse_u, mse_a, nfe, backward, seconds_per_sample, and
/// in table-latent misfit (mean square on the observations) and mse_variance (over random starts). Settings: objective
/// or process or no-hard (table-variants), objective or objective-no-physics (table-physics-term), iterations
/// (table-teacher, table-latent), network (table-architecture), dynamic or manual (table-weighting). A row is doubtful
/// that contradicts another number of the paper or what its own definition allows.
struct LabelledPaperRow {
  Labels labels;
  PaperRow numbers;
};

struct PaperTable {
  std::string caption = {}, caveat = {};  ///< one sentence each
  std::vector<LabelledPaperRow> rows = {};
};

/// table-generative, table-compute, ... : the names of `reproduce` whose results the paper prints.
std::vector<std::string> paper_table_names();

/// Empty where the paper has no such table.
PaperTable paper_table(const std::string& name);

}  // namespace piddm
