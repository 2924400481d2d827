#include "piddm/plot/field_plots.h"

#include <cmath>

#include "piddm/core/table.h"
#include "piddm/data/spectrum.h"

namespace piddm {

namespace {

constexpr int kShownTimes = 5, kChartColumns = 2;

double rms(const Tensor& x) { return x.square().mean().sqrt().item<double>(); }

constexpr double kShownShare = 0.995;  // of the points of a residual map, the largest ones take the end colours

std::string residual_title(const Tensor& residual, const Tensor& boundary) {
  auto title = fmt::format("R, rms {}, max {}", format_number(rms(residual)),
                           format_number(residual.abs().max().item<double>()));
  if (boundary.defined()) title += fmt::format("; boundary {}", format_number(rms(boundary)));
  return title;
}

Panel channel_panel(const std::string& title, const Tensor& field, const GridAxes& axes) {
  return {.title = title, .field = field, .x_label = axes[0].label(), .y_label = axes[1].label()};
}

Panel difference_panel(const std::string& title, const Tensor& field, const GridAxes& axes) {
  auto panel = channel_panel(title, field, axes);
  panel.colors = Colors::diverging;
  return panel;
}

void add_references(std::vector<Panel>& row, const Pde& pde, const Tensor& x, const GridAxes& axes) {
  const auto decoded = pde.solve(pde.admissible(pde.coefficients(x)).coefficients);
  for (int64_t c = 0; c < pde.num_solution_channels(); ++c) {
    const auto name = pde.channels()[static_cast<size_t>(c)].name;
    row.push_back(channel_panel(name + "*(a)", decoded[0][c], axes));
    row.push_back(difference_panel(fmt::format("{0} - {0}*(a)", name), x[0][c] - decoded[0][c], axes));
  }
}

std::vector<Panel> sample_row(const Dataset& data, const PdePtr& pde, int64_t sample, bool references) {
  const GridAxes axes = pde ? pde->axes() : GridAxes{{{"x"}, {"y"}}};
  const auto x = data.fields.narrow(0, sample, 1).to(torch::kFloat64);
  std::vector<Panel> row;
  for (size_t c = 0; c < data.channels.size(); ++c)
    row.push_back(channel_panel(data.channels[c], x[0][static_cast<int64_t>(c)], axes));
  if (!pde) return row;
  if (references) add_references(row, *pde, x, axes);
  const auto r = pde->residual(x);
  const auto scaled = r.fields.front().interior[0][0] * pde->equations().front().scale;
  row.push_back(difference_panel(residual_title(scaled, r.boundary), scaled, axes));
  const double shown = scaled.abs().flatten().quantile(kShownShare).item<double>();
  if (shown > 0) row.back().range = {-shown, shown};
  return row;
}

Curve spectrum_curve(const std::string& name, const Tensor& fields, bool along_x_only) {
  Curve curve{name};
  curve.y = power_spectrum(fields, along_x_only);
  for (size_t k = 1; k <= curve.y.size(); ++k) curve.x.push_back(static_cast<double>(k));
  return curve;
}

Canvas trajectory_chart(const Tensor& u, const std::string& title, const std::string& name) {
  const int64_t nx = u.size(0), nt = u.size(1);
  std::vector<Curve> curves;
  for (int i = 0; i < kShownTimes; ++i) {
    const int64_t at = (nt - 1) * i / (kShownTimes - 1);
    Curve curve{fmt::format("t = {:.2f} T", static_cast<double>(at) / static_cast<double>(nt - 1))};
    for (int64_t k = 0; k < nx; ++k) {
      curve.x.push_back(static_cast<double>(k));
      curve.y.push_back(u[k][at].item<double>());
    }
    curves.push_back(std::move(curve));
  }
  return line_chart(curves, title, "x, grid point", name);
}

}  // namespace

Canvas draw_samples(const Dataset& data, const PdePtr& pde, const std::vector<int64_t>& samples,
                    const std::string& title, bool references) {
  const torch::NoGradGuard no_grad;
  std::vector<std::vector<Panel>> rows;
  std::vector<std::string> labels;
  for (const int64_t sample : samples) {
    rows.push_back(sample_row(data, pde, sample, references));
    labels.push_back(fmt::format("sample {}", sample));
  }
  return contact_sheet(rows, title, labels);
}

Canvas draw_trajectories(const Dataset& data, const Pde& pde, const std::vector<int64_t>& samples) {
  require<UsageError>(has_time_axis(pde), "[{}] its fields have no time axis; plot samples or spectra", pde.name());
  std::vector<Canvas> charts;
  for (const int64_t sample : samples)
    for (int64_t c = 0; c < pde.num_solution_channels(); ++c)
      charts.push_back(trajectory_chart(data.fields[sample][c].to(torch::kFloat64),
                                        fmt::format("{}, sample {}", pde.name(), sample),
                                        data.channels[static_cast<size_t>(c)]));
  return arrange_pictures(charts, std::min<int>(kChartColumns, static_cast<int>(charts.size())));
}

Canvas draw_spectra(const Dataset& data, const Pde& pde, const Tensor& reference, const std::string& reference_name) {
  pde.check_shape(reference);
  const bool along_x_only = has_time_axis(pde);
  std::vector<Canvas> charts;
  for (int64_t c = 0; c < pde.num_channels(); ++c) {
    const auto& channel = pde.channels()[static_cast<size_t>(c)];
    if (channel.scalar) continue;
    const auto name = [&](const std::string& set, int64_t n) { return fmt::format("{}, {} samples", set, n); };
    charts.push_back(
        line_chart({spectrum_curve(name("data", data.size()), data.fields.select(1, c), along_x_only),
                    spectrum_curve(name(reference_name, reference.size(0)), reference.select(1, c), along_x_only)},
                   fmt::format("{}: power spectrum of {}", pde.name(), channel.name),
                   along_x_only ? "waves along x" : "waves across the domain", "power", true, true));
  }
  return arrange_pictures(charts, std::min<int>(kChartColumns, static_cast<int>(charts.size())));
}

}  // namespace piddm
