#pragma once
// Pictures of tables, into the folder of the report, in the process's style (picture_file.h). Charts, as PNG and SVG,
// need the report alone, so that `piddm plot` draws them again at any time; sheets of fields, as PNG, need the
// workbench's steps. `entries` are those of the first seed. What failed or was refused is left out. Bars and points
// below 1e-6 stand at 1e-6, and the axis says so.

#include <filesystem>
#include <vector>

#include "piddm/plot/figure.h"
#include "piddm/recipe/workbench.h"
#include "piddm/tables/report.h"

namespace piddm {

struct NamedFigure {
  std::string name;  ///< of the file, without extension
  Figure figure;
};

/// pde_error: every method, a group of bars per PDE, in units of the teacher's (where there is none, of the
/// first method's), the floor in the name of the group; decoded samples, exact by construction, are left out.
std::vector<NamedFigure> chart_generation(const Report& report);

/// error: every method, a group of bars per task and channel that is asked for.
std::vector<NamedFigure> chart_tasks(const Report& report);

/// ablation: the PDE error, and beside it the errors against true data, against N_s, lambda_train and
/// lambda_infer; a weight of 0 is drawn at 0.001.
std::vector<NamedFigure> chart_ablation(const Report& report);

/// pareto-generate: solution_error against seconds per sample; pareto-forward: mse_u against them. One
/// labelled point per row.
std::vector<NamedFigure> chart_pareto(const Report& report);

/// The charts of a table's report (where there is one) and the figures kept beside it by a build without Cairo, into
/// the report's folder; `extension` ".png", ".svg" or ".pdf", empty: as the command that wrote the report does. Returns
/// what was drawn.
std::vector<std::filesystem::path> draw_report(const std::filesystem::path& report_file, double dpi,
                                               const std::string& extension);

/// samples-PDE.png: samples of every method beside true ones.
void sheet_generation(Workbench& bench, const std::vector<Entry>& entries, const std::filesystem::path& out);

/// The same of one PDE, under this name (without extension).
void draw_sample_sheet(Workbench& bench, const std::vector<Entry>& entries, const std::string& pde,
                       const std::filesystem::path& out, const std::string& file);

/// TASK-PDE.png: what is known and true of one case, and every method's answer and error.
void sheet_tasks(Workbench& bench, const std::vector<Entry>& entries, const std::filesystem::path& out);

/// forward.png: a row per method: solution, error against the truth, residual; each column in one range.
void sheet_forward(Workbench& bench, const std::vector<Entry>& entries, const std::filesystem::path& out);

}  // namespace piddm
