#include "piddm/tables/pictures.h"

#include <algorithm>
#include <cmath>

#include "piddm/plot/pde_panels.h"
#include "piddm/plot/picture_file.h"
#include "piddm/tables/field_panels.h"
#include "piddm/tables/tables.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

using Names = std::vector<std::string>;

constexpr int64_t kSamplesInARow = 2;
constexpr int64_t kCaseShown = 0;

/// Errors below this, in units of a variance or of another method's error, are as good as none and drawn here.
constexpr double kLeastShown = 1e-6;
constexpr const char* kLeastNote = " (1e-6: that or less)";

std::string row_name(const Labels& labels) {
  const auto& [pde, task, method, setting] = labels;
  return method + (setting.empty() ? "" : ", " + setting);
}

void append_new(Names& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

/// Of entries or rows.
template <class T>
Names values_of(const std::vector<T>& labelled, std::string Labels::*label) {
  Names names;
  for (const auto& one : labelled) append_new(names, one.labels.*label);
  return names;
}

/// NaN where the row has none or diverged.
double metric_of(const Row& row, const std::string& metric) {
  return row.result.diverged.empty() ? row.metric(metric).value_or(NAN) : NAN;
}

/// The deviation over seeds, or half the bootstrap interval; 0 where the row has neither.
double error_of(const Row& row, const std::string& metric) {
  if (const auto deviation = row.deviation.find(metric)) return *deviation;
  const auto found = row.result.scores.intervals.find(metric);
  if (found == row.result.scores.intervals.end()) return 0;
  const double width = found->second.second - found->second.first;
  return std::isfinite(width) ? width / 2 : 0;
}

/// Bars by method: add(group, method, ...) in any order, groups and methods stand in the order they came.
class Bars {
 public:
  void add(const std::string& group, const std::string& series, double value, double error = 0) {
    append_new(groups_, group);
    append_new(names_, series);
    bars_[{group, series}] = {std::max(value, kLeastShown), value < kLeastShown ? 0 : error};
  }
  Figure draw(const std::string& title, const std::string& y_label) const {
    BarChart chart{.y_label = y_label + kLeastNote, .groups = groups_, .log_y = true};
    auto& series = chart.series;
    for (const auto& name : names_) {
      series.push_back({name});
      for (const auto& group : groups_) {
        const auto found = bars_.find({group, name});
        const auto [value, error] = found == bars_.end() ? std::pair(double{NAN}, 0.0) : found->second;
        series.back().values.push_back(value);
        series.back().errors.push_back(error);
      }
    }
    return {.title = title, .rows = {{.panels = {std::move(chart)}}}};
  }

 private:
  Names groups_, names_;
  std::map<std::pair<std::string, std::string>, std::pair<double, double>> bars_;
};

/// The method's pde_error by PDE.
std::map<std::string, double> pde_errors_of(const std::string& method, const Report& report) {
  std::map<std::string, double> errors;
  for (const auto& row : report.rows)
    if (const double error = metric_of(row, "pde_error"); row.labels.method == method && error > 0)
      errors[row.labels.pde] = error;
  return errors;
}

bool is_decoded(const Row& row) { return row.labels.method.ends_with("decoded"); }

/// Rows of a sheet: what they are called, and their tensors.
struct Drawn {
  Names names;
  std::vector<TensorMap> tensors;
};

Drawn kept_fields(Workbench& bench, const std::vector<Entry>& entries, const std::string& pde, Task task) {
  Drawn drawn;
  for (const auto& entry : entries) {
    if (entry.labels.pde != pde || entry.task != task) continue;
    auto fields = bench.fields(entry);
    if (fields.empty()) continue;
    drawn.names.push_back(row_name(entry.labels));
    drawn.tensors.push_back(std::move(fields));
  }
  return drawn;
}

const Experiment& experiment_of(const std::vector<Entry>& entries, const std::string& pde) {
  return std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.labels.pde == pde; })
      ->experiment;
}

SolvedCase solved_case(const TensorMap& tensors) {
  return {tensors.at("x")[kCaseShown], tensors.at("truth")[kCaseShown], tensors.at("mask")[kCaseShown]};
}

std::vector<SolvedCase> solved_cases(const Drawn& drawn) {
  std::vector<SolvedCase> cases;
  for (const auto& tensors : drawn.tensors) cases.push_back(solved_case(tensors));
  return cases;
}

ColorRange error_range(const std::vector<SolvedCase>& cases, int64_t channel) {
  std::vector<Tensor> errors;
  for (const auto& solved : cases) errors.push_back(solved.x[channel] - solved.truth[channel]);
  return shared_range(errors);
}

/// What is known and the truth of one case.
std::vector<Panel> problem_panels(const SolvedCase& solved, const Pde& pde, Task task) {
  std::vector<Panel> row;
  for (int64_t c = 0; c < pde.num_channels(); ++c) {
    if (reveals(task, pde.channels()[static_cast<size_t>(c)])) row.push_back(given_panel(solved, pde, c));
    if (asked(solved, c)) row.push_back(true_panel(solved, pde, c));
  }
  return row;
}

void draw_task_sheet(Workbench& bench, const std::vector<Entry>& entries, const std::string& name, Task task,
                     const fs::path& out) {
  const auto drawn = kept_fields(bench, entries, name, task);
  if (drawn.names.empty()) return;
  const auto pde = make_pde(experiment_of(entries, name).pde);
  const auto cases = solved_cases(drawn);
  Figure figure{.title =
                    fmt::format("{} of {}: one case by every method (errors in one scale)", task_name(task), name)};
  auto& rows = figure.rows;
  rows.push_back({"the problem", problem_panels(cases.front(), *pde, task)});
  for (const auto& method : drawn.names) rows.push_back({.label = method});
  for (int64_t c = 0; c < pde->num_channels(); ++c) {
    if (!asked(cases.front(), c)) continue;
    const auto range = error_range(cases, c);
    for (size_t i = 0; i < cases.size(); ++i)
      for (auto& panel : answer_panels(cases[i], *pde, c, range)) rows[1 + i].panels.push_back(std::move(panel));
  }
  write_sheet(figure, out, fmt::format("{}-{}", task_name(task), name));
}

/// "lambda_train = 0.01" is {"lambda_train", 0.01}.
std::pair<std::string, double> parsed_setting(const std::string& setting) {
  const auto at = setting.find(" = ");
  require<UsageError>(at != std::string::npos, "setting '{}': expected 'name = number'", setting);
  return {setting.substr(0, at), std::stod(setting.substr(at + 3))};
}

/// Where zero stands on the logarithmic axis of a weight.
constexpr double kZeroDrawnAt = 1e-3;

struct Ablation {
  std::vector<Curve> curves;  ///< one per metric
  bool has_zero = false;
};

/// The first is the PDE error, with a chart of its own.
const Names& ablated_metrics(const std::string& task) {
  static const Names generation = {"pde_error", "solution_error", "mmse", "smse"}, tasks = {"pde_error", "mse_u"};
  return task == task_name(Task::generate) ? generation : tasks;
}

LineChart ablation_chart(const std::string& name, const Ablation& ablation, bool pde_errors) {
  LineChart chart{.title = fmt::format("{} and {}", pde_errors ? "PDE error" : "Errors against true data", name),
                  .x_label = ablation.has_zero ? fmt::format("{} (0 drawn at {})", name, kZeroDrawnAt) : name,
                  .y_label = pde_errors ? "pde_error" : "error, in variances",
                  .log_x = true,
                  .log_y = true};
  for (const auto& curve : ablation.curves)
    if (!curve.x.empty() && (curve.name == "pde_error") == pde_errors) chart.curves.push_back(curve);
  return chart;
}

void add_point(Ablation& ablation, double at, const Row& row) {
  const auto& metrics = ablated_metrics(row.labels.task);
  ablation.curves.resize(metrics.size());
  if (at == 0) ablation.has_zero = true;
  for (size_t i = 0; i < metrics.size(); ++i) {
    const double value = metric_of(row, metrics[i]);
    if (std::isnan(value)) continue;
    auto& curve = ablation.curves[i];
    curve.name = metrics[i];
    curve.x.push_back(at == 0 ? kZeroDrawnAt : at);
    curve.y.push_back(value);
    curve.error.push_back(error_of(row, metrics[i]));
  }
}

std::string family_of(const std::string& method) {
  if (method.starts_with("piddm")) return "PIDDM";
  return method == "classical" || method == "direct" ? "without a network" : "other methods";
}

std::optional<Figure> scatter_figure(const Report& report, const std::string& metric, Task task) {
  ScatterChart chart{.x_label = "seconds per sample",
                     .y_label = metric + kLeastNote,
                     .series = {{"PIDDM"}, {"other methods"}, {"without a network"}},
                     .log_x = true,
                     .log_y = true,
                     .frontier = true};
  for (const auto& row : report.rows) {
    const double value = metric_of(row, metric);
    if (row.labels.task != task_name(task) || std::isnan(value)) continue;
    const auto of_family = [&](const ScatterSeries& s) { return s.name == family_of(row.labels.method); };
    std::find_if(chart.series.begin(), chart.series.end(), of_family)
        ->points.push_back({row_name(row.labels), metric_of(row, "seconds_per_sample"), std::max(value, kLeastShown), 0,
                            value < kLeastShown ? 0 : error_of(row, metric)});
  }
  std::erase_if(chart.series, [](const auto& s) { return s.points.empty(); });
  if (chart.series.empty()) return {};
  return Figure{.title = task == Task::generate ? "Generation: error of the solution against wall time"
                                                : "Forward problem: error of the solution against wall time",
                .rows = {{.panels = {std::move(chart)}}}};
}

}  // namespace

void draw_sample_sheet(Workbench& bench, const std::vector<Entry>& entries, const std::string& name,
                       const fs::path& out, const std::string& file) {
  const auto drawn = kept_fields(bench, entries, name, Task::generate);
  if (drawn.names.empty()) return;
  const auto& experiment = experiment_of(entries, name);
  const auto pde = make_pde(experiment.pde);
  const auto truth = bench.held_out(experiment);
  std::vector<Tensor> judged;
  for (const auto& tensors : drawn.tensors) judged.push_back(tensors.at("x")[0]);
  const auto colors = sample_colors(truth, judged, *pde);
  const auto row_of = [&](const std::string& label, const Tensor& samples) {
    FigureRow row{.label = label};
    for (int64_t i = 0; i < std::min(kSamplesInARow, samples.size(0)); ++i)
      for (auto& panel : sample_panels(samples, i, *pde, colors)) row.panels.push_back(std::move(panel));
    for (auto& panel : scalar_panels(samples, *pde, colors)) row.panels.push_back(std::move(panel));
    return row;
  };
  Figure figure{.title = "Samples of " + name + ": channels and residual R, one scale per column"};
  figure.rows.push_back(row_of("true data", truth.slice(0, 0, drawn.tensors.front().at("x").size(0))));
  for (size_t i = 0; i < drawn.names.size(); ++i)
    figure.rows.push_back(row_of(drawn.names[i], drawn.tensors[i].at("x")));
  write_sheet(figure, out, file);
}

std::vector<NamedFigure> chart_generation(const Report& report) {
  const auto methods = values_of(report.rows, &Labels::method);
  if (methods.empty()) return {};
  const auto unit = std::find(methods.begin(), methods.end(), "teacher") == methods.end() ? methods.front() : "teacher";
  const auto units = pde_errors_of(unit, report);
  Bars bars;
  for (const auto& row : report.rows) {
    const auto& pde = row.labels.pde;
    if (!row.result.done() || is_decoded(row) || !units.contains(pde) || !report.floors.contains(pde)) continue;
    const auto floor = report.floors.at(pde).at("pde_error") / units.at(pde);
    bars.add(fmt::format("{} (floor {:.1g})", pde, floor), row_name(row.labels),
             metric_of(row, "pde_error") / units.at(pde), error_of(row, "pde_error") / units.at(pde));
  }
  return {{"pde_error",
           bars.draw("PDE error of generated samples, and the floor of true data", "pde_error over that of " + unit)}};
}

std::vector<NamedFigure> chart_tasks(const Report& report) {
  Bars bars;
  const bool several = values_of(report.rows, &Labels::pde).size() > 1;
  for (const auto& row : report.rows) {
    if (!row.result.done()) continue;
    const auto pde = make_pde({.name = row.labels.pde});
    const auto task = parse_task(row.labels.task);
    for (const auto& channel : pde->channels()) {
      if (task != Task::reconstruct && reveals(task, channel)) continue;
      const auto group = fmt::format("{}{} {}", several ? row.labels.pde + " " : "", row.labels.task, channel.name);
      const auto metric = "mse_" + channel.name;
      bars.add(group, row_name(row.labels), metric_of(row, metric), error_of(row, metric));
    }
  }
  return {{"error", bars.draw("Mean square error of what was asked for, in variances", "mse")}};
}

std::vector<NamedFigure> chart_ablation(const Report& report) {
  Names order;
  std::map<std::string, Ablation> ablations;
  for (const auto& row : report.rows) {
    const auto [name, value] = parsed_setting(row.labels.setting);
    append_new(order, name);
    add_point(ablations[name], value, row);
  }
  std::vector<Panel> charts;
  for (const auto& name : order)
    for (const bool pde_errors : {true, false})
      charts.emplace_back(ablation_chart(name, ablations.at(name), pde_errors));
  if (charts.empty()) return {};
  return {{"ablation", in_rows("Influence of the settings", std::move(charts), 2)}};
}

std::vector<NamedFigure> chart_pareto(const Report& report) {
  std::vector<NamedFigure> figures;
  for (const auto& [metric, task] : {std::pair("solution_error", Task::generate), {"mse_u", Task::forward}})
    if (auto figure = scatter_figure(report, metric, task)) figures.push_back({"pareto-" + task_name(task), *figure});
  return figures;
}

std::vector<fs::path> draw_report(const fs::path& report_file, double dpi, const std::string& extension) {
  const auto folder = report_file.parent_path();
  std::vector<fs::path> drawn;
  for (const auto& kept : kept_figures(folder)) drawn.push_back(draw_kept_figure(kept, dpi, extension));
  if (!fs::exists(report_file) || !is_table_report(report_file)) return drawn;
  const auto report = read_report_file(report_file);
  const auto charts = table_registry().at(report.experiment)().charts;
  if (!charts) return drawn;
  const Names extensions = extension.empty() ? Names{".png", ".svg"} : Names{extension};
  for (const auto& [name, figure] : charts(report))
    for (const auto& wanted : extensions) drawn.push_back(write_picture(figure, folder / (name + wanted), dpi));
  return drawn;
}

void sheet_generation(Workbench& bench, const std::vector<Entry>& entries, const fs::path& out) {
  for (const auto& pde : values_of(entries, &Labels::pde))
    draw_sample_sheet(bench, entries, pde, out, "samples-" + pde);
}

void sheet_tasks(Workbench& bench, const std::vector<Entry>& entries, const fs::path& out) {
  for (const auto& pde : values_of(entries, &Labels::pde))
    for (const auto& task : values_of(entries, &Labels::task))
      draw_task_sheet(bench, entries, pde, parse_task(task), out);
}

void sheet_forward(Workbench& bench, const std::vector<Entry>& entries, const fs::path& out) {
  const auto name = entries.front().labels.pde;
  const auto drawn = kept_fields(bench, entries, name, Task::forward);
  if (drawn.names.empty()) return;
  const auto pde = make_pde(entries.front().experiment.pde);
  const auto cases = solved_cases(drawn);
  std::vector<Tensor> answers;
  for (const auto& solved : cases) answers.push_back(solved.x);
  const auto residuals = sample_colors(cases.front().truth.unsqueeze(0), answers, *pde).residuals;
  const auto errors = error_range(cases, 0);
  const auto with_residuals = [&](const std::string& label, std::vector<Panel> panels, const Tensor& x) {
    for (auto& panel : residual_panels(x, *pde, residuals)) panels.push_back(std::move(panel));
    return FigureRow{label, std::move(panels)};
  };
  Figure figure{.title = "Forward problem of " + name};
  figure.rows.push_back(
      with_residuals("truth", problem_panels(cases.front(), *pde, Task::forward), cases.front().truth));
  for (size_t i = 0; i < cases.size(); ++i)
    figure.rows.push_back(with_residuals(drawn.names[i], answer_panels(cases[i], *pde, 0, errors), cases[i].x));
  write_sheet(figure, out, "forward");
}

}  // namespace piddm
