#pragma once
// Pictures of tables, into the folder of the report: charts as PNG and SVG, fields as PNG. `entries` are those of the
// first seed; rows of `report` are in the same order. What failed or was refused is left out. Bars and points below
// 1e-6 stand at 1e-6, and the axis says so.

#include <filesystem>
#include <vector>

#include "piddm/recipe/workbench.h"
#include "piddm/tables/report.h"

namespace piddm {

/// pde_error.{png,svg}: every method, a group of bars per PDE, in units of the teacher's (where there is none, of the
/// first method's), the floor in the name of the group; decoded samples, exact by construction, are left out.
/// samples-PDE.png: samples of every method beside true ones.
void draw_generation(Workbench& bench, const std::vector<Entry>& entries, const Report& report,
                     const std::filesystem::path& out);

/// error.{png,svg}: every method, a group of bars per task and channel that is asked for. TASK-PDE.png: what is known
/// and true of one case, and every method's answer and error.
void draw_tasks(Workbench& bench, const std::vector<Entry>& entries, const Report& report,
                const std::filesystem::path& out);

/// samples.png of one PDE: samples of every method beside true ones.
void draw_sample_sheet(Workbench& bench, const std::vector<Entry>& entries, const std::string& pde,
                       const std::filesystem::path& file);

/// ablation.{png,svg}: pde_error and errors against N_s, lambda_train and lambda_infer; a weight of 0 is drawn at
/// 0.001.
void draw_ablation(Workbench& bench, const std::vector<Entry>& entries, const Report& report,
                   const std::filesystem::path& out);

/// forward.png: a row per method: solution, error against the truth, residual; each column in one range.
void draw_forward(Workbench& bench, const std::vector<Entry>& entries, const Report& report,
                  const std::filesystem::path& out);

/// pareto-generate.{png,svg}: solution_error against seconds per sample; pareto-forward: mse_u against them. One
/// labelled point per entry.
void draw_pareto(Workbench& bench, const std::vector<Entry>& entries, const Report& report,
                 const std::filesystem::path& out);

}  // namespace piddm
