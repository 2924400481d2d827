#include "piddm/tables/pictures.h"

#include <algorithm>
#include <cmath>

#include "piddm/plot/bar_chart.h"
#include "piddm/plot/plot.h"
#include "piddm/plot/scatter_chart.h"
#include "piddm/tables/field_panels.h"

namespace piddm {

namespace fs = std::filesystem;

namespace {

using Names = std::vector<std::string>;

constexpr int64_t kSamplesInARow = 2;
constexpr int64_t kCaseShown = 0;

/// Errors below this, in units of a variance or of another method's error, are as good as none and drawn here.
constexpr double kLeastShown = 1e-6;
constexpr const char* kLeastNote = " (1e-6: that or less)";

std::string row_name(const Entry& entry) {
  const auto& [pde, task, method, setting] = entry.labels;
  return method + (setting.empty() ? "" : ", " + setting);
}

void append_new(Names& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

Names values_of(const std::vector<Entry>& entries, std::string Labels::*label) {
  Names names;
  for (const auto& entry : entries) append_new(names, entry.labels.*label);
  return names;
}

/// NaN where the row has none.
double metric_of(const Row& row, const std::string& metric) { return row.metric(metric).value_or(NAN); }

/// The deviation over seeds, or half the bootstrap interval; 0 where the row has neither.
double error_of(const Row& row, const std::string& metric) {
  if (const auto deviation = row.deviation.find(metric)) return *deviation;
  const auto found = row.result.scores.intervals.find(metric);
  if (found == row.result.scores.intervals.end()) return 0;
  const double width = found->second.second - found->second.first;
  return std::isfinite(width) ? width / 2 : 0;
}

void write_both(const Canvas& picture, const fs::path& out, const std::string& name) {
  picture.write_png(out / (name + ".png"));
  picture.write_svg(out / (name + ".svg"));
}

/// Bars by method: add(group, method, ...) in any order, groups and methods stand in the order they came.
class Bars {
 public:
  void add(const std::string& group, const std::string& series, double value, double error = 0) {
    append_new(groups_, group);
    append_new(names_, series);
    bars_[{group, series}] = {std::max(value, kLeastShown), value < kLeastShown ? 0 : error};
  }
  Canvas draw(const std::string& title, const std::string& y_label) const {
    std::vector<BarSeries> series;
    for (const auto& name : names_) {
      series.push_back({name});
      for (const auto& group : groups_) {
        const auto found = bars_.find({group, name});
        const auto [value, error] = found == bars_.end() ? std::pair(double{NAN}, 0.0) : found->second;
        series.back().values.push_back(value);
        series.back().errors.push_back(error);
      }
    }
    return bar_chart(groups_, series, title, y_label + kLeastNote, true);
  }

 private:
  Names groups_, names_;
  std::map<std::pair<std::string, std::string>, std::pair<double, double>> bars_;
};

/// The method's pde_error by PDE.
std::map<std::string, double> pde_errors_of(const std::string& method, const std::vector<Entry>& entries,
                                            const Report& report) {
  std::map<std::string, double> errors;
  for (size_t i = 0; i < entries.size(); ++i)
    if (const double error = metric_of(report.rows.at(i), "pde_error"); entries[i].labels.method == method && error > 0)
      errors[entries[i].labels.pde] = error;
  return errors;
}

void draw_pde_errors(const std::vector<Entry>& entries, const Report& report, const fs::path& out) {
  const auto methods = values_of(entries, &Labels::method);
  const auto unit = std::find(methods.begin(), methods.end(), "teacher") == methods.end() ? methods.front() : "teacher";
  const auto units = pde_errors_of(unit, entries, report);
  Bars bars;
  for (size_t i = 0; i < entries.size(); ++i) {
    const auto& row = report.rows.at(i);
    const auto pde = entries[i].labels.pde;
    if (!row.result.done() || entries[i].decode || !units.contains(pde)) continue;
    const auto floor = report.floors.at(pde).at("pde_error") / units.at(pde);
    bars.add(fmt::format("{} (floor {:.1g})", pde, floor), row_name(entries[i]),
             metric_of(row, "pde_error") / units.at(pde), error_of(row, "pde_error") / units.at(pde));
  }
  write_both(bars.draw("PDE error of generated samples, and the floor of true data", "pde_error over that of " + unit),
             out, "pde_error");
}

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
    drawn.names.push_back(row_name(entry));
    drawn.tensors.push_back(std::move(fields));
  }
  return drawn;
}

const Experiment& experiment_of(const std::vector<Entry>& entries, const std::string& pde) {
  return std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.labels.pde == pde; })
      ->experiment;
}

/// Bars of every channel a task asks for: "forward u".
void draw_task_errors(const std::vector<Entry>& entries, const Report& report, const fs::path& out) {
  Bars bars;
  const bool several = values_of(entries, &Labels::pde).size() > 1;
  for (size_t i = 0; i < entries.size(); ++i) {
    const auto& row = report.rows.at(i);
    if (!row.result.done()) continue;
    const auto pde = make_pde(entries[i].experiment.pde);
    const auto task = entries[i].task;
    for (const auto& channel : pde->channels()) {
      if (task != Task::reconstruct && reveals(task, channel)) continue;
      const auto group =
          fmt::format("{}{} {}", several ? entries[i].labels.pde + " " : "", task_name(task), channel.name);
      const auto metric = "mse_" + channel.name;
      bars.add(group, row_name(entries[i]), metric_of(row, metric), error_of(row, metric));
    }
  }
  write_both(bars.draw("Mean square error of what was asked for, in variances", "mse"), out, "error");
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
  std::vector<std::vector<Panel>> rows = {problem_panels(cases.front(), *pde, task)};
  rows.resize(1 + cases.size());
  for (int64_t c = 0; c < pde->num_channels(); ++c) {
    if (!asked(cases.front(), c)) continue;
    const auto range = error_range(cases, c);
    for (size_t i = 0; i < cases.size(); ++i)
      for (auto& panel : answer_panels(cases[i], *pde, c, range)) rows[1 + i].push_back(std::move(panel));
  }
  Names labels = {"the problem"};
  labels.insert(labels.end(), drawn.names.begin(), drawn.names.end());
  contact_sheet(rows, fmt::format("{} of {}: one case by every method (errors in one scale)", task_name(task), name),
                labels)
      .write_png(out / fmt::format("{}-{}.png", task_name(task), name));
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

const Names& ablated_metrics(Task task) {
  static const Names generation = {"pde_error", "solution_error", "mmse", "smse"}, tasks = {"pde_error", "mse_u"};
  return task == Task::generate ? generation : tasks;
}

Canvas ablation_chart(const std::string& name, Ablation ablation) {
  std::erase_if(ablation.curves, [](const Curve& curve) { return curve.x.empty(); });
  return line_chart(ablation.curves, "Influence of " + name,
                    ablation.has_zero ? fmt::format("{} (0 drawn at {})", name, kZeroDrawnAt) : name, "error", true,
                    true);
}

void add_point(Ablation& ablation, double at, Task task, const Row& row) {
  const auto& metrics = ablated_metrics(task);
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

void draw_scatter(const std::vector<Entry>& entries, const Report& report, const std::string& metric, Task task,
                  const fs::path& out) {
  std::vector<ScatterSeries> series = {{"PIDDM"}, {"other methods"}, {"without a network"}};
  for (size_t i = 0; i < entries.size(); ++i) {
    const auto& row = report.rows.at(i);
    if (entries[i].task != task || !row.result.done()) continue;
    const double value = metric_of(row, metric);
    const auto of_family = [&](const ScatterSeries& s) { return s.name == family_of(entries[i].labels.method); };
    std::find_if(series.begin(), series.end(), of_family)
        ->points.push_back({row_name(entries[i]), metric_of(row, "seconds_per_sample"), std::max(value, kLeastShown), 0,
                            value < kLeastShown ? 0 : error_of(row, metric)});
  }
  std::erase_if(series, [](const ScatterSeries& s) { return s.points.empty(); });
  if (series.empty()) return;
  const auto title = fmt::format("{}: {} against wall time", task_name(task), metric);
  write_both(scatter_chart(series, title, "seconds per sample", metric + kLeastNote,
                           {.log_x = true, .log_y = true, .frontier = true}),
             out, "pareto-" + task_name(task));
}

}  // namespace

void draw_sample_sheet(Workbench& bench, const std::vector<Entry>& entries, const std::string& name,
                       const fs::path& file) {
  const auto drawn = kept_fields(bench, entries, name, Task::generate);
  if (drawn.names.empty()) return;
  const auto& experiment = experiment_of(entries, name);
  const auto pde = make_pde(experiment.pde);
  const auto truth = bench.held_out(experiment);
  std::vector<Tensor> judged;
  for (const auto& tensors : drawn.tensors) judged.push_back(tensors.at("x")[0]);
  const auto colors = sample_colors(truth, judged, *pde);
  const auto row_of = [&](const Tensor& samples) {
    std::vector<Panel> row;
    for (int64_t i = 0; i < std::min(kSamplesInARow, samples.size(0)); ++i)
      for (auto& panel : sample_panels(samples[i], *pde, colors)) row.push_back(std::move(panel));
    return row;
  };
  std::vector<std::vector<Panel>> rows = {row_of(truth)};
  Names labels = {"true data"};
  labels.insert(labels.end(), drawn.names.begin(), drawn.names.end());
  for (const auto& tensors : drawn.tensors) rows.push_back(row_of(tensors.at("x")));
  contact_sheet(rows, "Samples of " + name + ": channels and residual R (one scale)", labels).write_png(file);
}

void draw_generation(Workbench& bench, const std::vector<Entry>& entries, const Report& report, const fs::path& out) {
  draw_pde_errors(entries, report, out);
  for (const auto& pde : values_of(entries, &Labels::pde))
    draw_sample_sheet(bench, entries, pde, out / ("samples-" + pde + ".png"));
}

void draw_tasks(Workbench& bench, const std::vector<Entry>& entries, const Report& report, const fs::path& out) {
  draw_task_errors(entries, report, out);
  for (const auto& pde : values_of(entries, &Labels::pde))
    for (const auto& task : values_of(entries, &Labels::task))
      draw_task_sheet(bench, entries, pde, parse_task(task), out);
}

void draw_ablation(Workbench&, const std::vector<Entry>& entries, const Report& report, const fs::path& out) {
  Names order;
  std::map<std::string, Ablation> ablations;
  for (size_t i = 0; i < entries.size(); ++i) {
    const auto [name, value] = parsed_setting(entries[i].labels.setting);
    append_new(order, name);
    add_point(ablations[name], value, entries[i].task, report.rows.at(i));
  }
  std::vector<Canvas> charts;
  for (const auto& name : order) charts.push_back(ablation_chart(name, ablations.at(name)));
  if (!charts.empty()) write_both(arrange_pictures(charts, static_cast<int>(charts.size())), out, "ablation");
}

void draw_forward(Workbench& bench, const std::vector<Entry>& entries, const Report&, const fs::path& out) {
  const auto name = entries.front().labels.pde;
  const auto drawn = kept_fields(bench, entries, name, Task::forward);
  if (drawn.names.empty()) return;
  const auto pde = make_pde(entries.front().experiment.pde);
  const auto cases = solved_cases(drawn);
  std::vector<Tensor> residuals;
  for (const auto& solved : cases) residuals.push_back(residual_map(solved.x, *pde));
  const auto residual_range = shared_range(residuals), errors = error_range(cases, 0);
  std::vector<std::vector<Panel>> rows = {problem_panels(cases.front(), *pde, Task::forward)};
  rows.front().push_back(residual_panel(cases.front().truth, *pde, residual_range));
  for (const auto& solved : cases) {
    rows.push_back(answer_panels(solved, *pde, 0, errors));
    rows.back().push_back(residual_panel(solved.x, *pde, residual_range));
  }
  Names labels = {"truth"};
  labels.insert(labels.end(), drawn.names.begin(), drawn.names.end());
  contact_sheet(rows, "Forward problem of " + name, labels).write_png(out / "forward.png");
}

void draw_pareto(Workbench&, const std::vector<Entry>& entries, const Report& report, const fs::path& out) {
  draw_scatter(entries, report, "solution_error", Task::generate, out);
  draw_scatter(entries, report, "mse_u", Task::forward, out);
}

}  // namespace piddm
