#include "piddm/plot/statistic_plots.h"

#include <functional>

#include "piddm/core/table.h"
#include "piddm/data/spectrum.h"
#include "piddm/plot/field_plots.h"
#include "piddm/plot/pde_panels.h"

namespace piddm {

namespace {

constexpr int64_t kCalibrationEntries = 1024;  // of a field, evenly spread: enough for shares to a per cent
constexpr size_t kChartColumns = 2;
constexpr double kLow = 0.05, kHigh = 0.95;

using Statistic = std::function<Tensor(const Tensor&)>;  ///< [N,H,W] -> [H,W]

Tensor of_channel(const Tensor& fields, int64_t channel) { return fields.select(1, channel).to(torch::kFloat64); }

void check_reference(const Dataset& data, const Tensor& reference) {
  require<DataError>(reference.dim() == 4 && reference.sizes().slice(1) == data.fields.sizes().slice(1),
                     "--reference: its fields are {}, the samples' {}", shape_string(reference),
                     shape_string(data.fields));
}

NumberMark mean_and_deviation(const std::string& name, const Tensor& fields) {
  const auto values = fields.mean({1, 2});
  return {name, values.mean().item<double>(), values.size(0) > 1 ? values.std().item<double>() : 0};
}

NumberStrip scalar_summary(const Dataset& data, int64_t channel, const Tensor& reference) {
  NumberStrip strip{.title = data.channels[static_cast<size_t>(channel)] + ", mean and deviation"};
  strip.marks.push_back(mean_and_deviation("samples", of_channel(data.fields, channel)));
  if (reference.defined()) strip.marks.push_back(mean_and_deviation("reference", of_channel(reference, channel)));
  return strip;
}

FigureRow statistic_row(const Dataset& data, const PdePtr& pde, const Tensor& reference, int64_t channel,
                        const std::string& name, const Statistic& statistic) {
  FigureRow row{.label = data.channels[static_cast<size_t>(channel)]};
  if (is_scalar(pde, static_cast<size_t>(channel))) {
    row.panels.emplace_back(scalar_summary(data, channel, reference));
    return row;
  }
  const auto ours = statistic(of_channel(data.fields, channel));
  auto panel = channel_panel_of(pde, channel, fmt::format("{} of {} samples", name, data.size()), ours);
  if (!reference.defined()) {
    row.panels.emplace_back(std::move(panel));
    return row;
  }
  const auto theirs = statistic(of_channel(reference, channel));
  auto other =
      channel_panel_of(pde, channel, fmt::format("{} of the reference, {} samples", name, reference.size(0)), theirs);
  panel.range = other.range = color_range(other);
  auto difference = channel_panel_of(
      pde, channel, fmt::format("difference, rms {:.2g}", root_mean_square(ours - theirs)), ours - theirs);
  difference.colors = Colors::diverging;
  for (auto* one : {&panel, &other, &difference}) row.panels.emplace_back(std::move(*one));
  return row;
}

Figure draw_statistic(const Dataset& data, const PdePtr& pde, const Tensor& reference, const std::string& title,
                      const std::string& name, const Statistic& statistic) {
  if (reference.defined()) check_reference(data, reference);
  Figure figure{.title = title};
  for (int64_t c = 0; c < data.fields.size(1); ++c)
    figure.rows.push_back(statistic_row(data, pde, reference, c, name, statistic));
  if (reference.defined() || figure.rows.size() < 2) return figure;
  std::vector<Panel> panels;  // a panel per channel: side by side
  for (auto& row : figure.rows) {
    auto& panel = panels.emplace_back(std::move(row.panels.front()));
    if (auto* field = std::get_if<FieldPanel>(&panel)) field->title = row.label + ", " + field->title;
  }
  return in_rows(title, std::move(panels), 4);
}

Curve spectrum_curve(const std::string& name, const Tensor& fields, bool along_x_only) {
  Curve curve{name};
  curve.y = power_spectrum(fields, along_x_only);
  for (size_t k = 1; k <= curve.y.size(); ++k) curve.x.push_back(static_cast<double>(k));
  return curve;
}

/// [N,K]: at most kCalibrationEntries of the entries, evenly spread.
Tensor spread_entries(const Tensor& fields) {
  const auto flat = fields.flatten(1);
  const int64_t stride = (flat.size(1) + kCalibrationEntries - 1) / kCalibrationEntries;
  return flat.slice(1, 0, flat.size(1), stride);
}

}  // namespace

Figure draw_mean(const Dataset& data, const PdePtr& pde, const Tensor& reference, const std::string& title) {
  return draw_statistic(data, pde, reference, title, "mean", [](const Tensor& x) { return x.mean(0); });
}

Figure draw_deviation(const Dataset& data, const PdePtr& pde, const Tensor& reference, const std::string& title) {
  require<DataError>(data.size() > 1 && (!reference.defined() || reference.size(0) > 1),
                     "a standard deviation needs at least 2 samples");
  return draw_statistic(data, pde, reference, title, "standard deviation", [](const Tensor& x) { return x.std(0); });
}

Figure draw_quantiles(const Dataset& data, const PdePtr& pde, const std::string& title) {
  Figure figure{.title = title};
  for (int64_t c = 0; c < data.fields.size(1); ++c) {
    const auto name = data.channels[static_cast<size_t>(c)];
    auto& row = figure.rows.emplace_back(FigureRow{.label = name});
    if (is_scalar(pde, static_cast<size_t>(c))) {
      row.panels.emplace_back(scalar_summary(data, c, {}));
      continue;
    }
    const auto x = of_channel(data.fields, c);
    const auto at = [&](double q) { return x.quantile(q, 0); };
    const ColorRange range{at(kLow).min().item<double>(), at(kHigh).max().item<double>()};
    for (const auto& [q, title_of] : {std::pair(kLow, "5th percentile"), {0.5, "median"}, {kHigh, "95th percentile"}}) {
      auto panel = panel_of(pde, title_of, at(q));
      panel.range = range;
      row.panels.emplace_back(std::move(panel));
    }
  }
  return figure;
}

Figure draw_spectra(const Dataset& data, const Pde& pde, const Tensor& reference, const std::string& reference_name) {
  pde.check_shape(reference);
  const bool along_x_only = has_time_axis(pde);
  std::vector<Panel> charts;
  for (int64_t c = 0; c < pde.num_channels(); ++c) {
    const auto& channel = pde.channels()[static_cast<size_t>(c)];
    if (channel.scalar) continue;
    const auto name = [&](const std::string& set, int64_t n) { return fmt::format("{}, {} samples", set, n); };
    charts.emplace_back(LineChart{
        .title = "Power spectrum of " + channel.name,
        .x_label = along_x_only ? "waves along x" : "waves across the domain",
        .y_label = "power",
        .curves = {spectrum_curve(name("data", data.size()), data.fields.select(1, c), along_x_only),
                   spectrum_curve(name(reference_name, reference.size(0)), reference.select(1, c), along_x_only)},
        .log_x = true,
        .log_y = true});
  }
  return in_rows(pde.name() + ": power at each wave number", std::move(charts), kChartColumns);
}

std::vector<double> central_coverage(const Tensor& samples, const Tensor& truth, const std::vector<double>& shares) {
  std::vector<double> out;
  for (const double p : shares) {
    const auto low = samples.quantile((1 - p) / 2, 0), high = samples.quantile((1 + p) / 2, 0);
    out.push_back(((truth >= low) & (truth <= high)).to(torch::kFloat64).mean().item<double>());
  }
  return out;
}

Figure draw_calibration(const Dataset& data, const PdePtr& pde, const Tensor& reference, const std::string& title) {
  check_reference(data, reference);
  require<DataError>(data.size() > 9, "calibration needs at least 10 samples, the file has {}", data.size());
  const std::vector<double> shares = {0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95};
  std::vector<Panel> charts;
  for (int64_t c = 0; c < data.fields.size(1); ++c) {
    if (pde && pde->channels()[static_cast<size_t>(c)].two_valued) continue;
    auto x = of_channel(data.fields, c), y = of_channel(reference, c);
    if (is_scalar(pde, static_cast<size_t>(c))) x = x.mean({1, 2}, true), y = y.mean({1, 2}, true);
    charts.emplace_back(
        LineChart{.title = "Calibration of " + data.channels[static_cast<size_t>(c)],
                  .x_label = "share of the samples in the interval",
                  .y_label = "share of the true values in it",
                  .curves = {{"samples", shares, central_coverage(spread_entries(x), spread_entries(y), shares)},
                             {"perfect", shares, shares}},
                  .y_range = ColorRange{0, 1}});
  }
  return in_rows(title, std::move(charts), kChartColumns);
}

}  // namespace piddm
