#include "piddm/plot/field_plots.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "piddm/core/table.h"
#include "piddm/plot/pde_panels.h"

namespace piddm {

namespace {

constexpr size_t kMostRows = 8;
constexpr double kPageRoom = 930, kSheetMargins = 100, kLeastSheet = 200, kMostSheet = 420;

FieldPanel difference_panel(const PdePtr& pde, int64_t channel, const std::string& title, const Tensor& field) {
  auto panel = channel_panel_of(pde, channel, title, field);
  panel.colors = Colors::diverging;
  return panel;
}

NumberStrip scalar_strip(const Dataset& data, const PdePtr& pde, int64_t channel, std::vector<NumberMark> marks) {
  const auto c = static_cast<size_t>(channel);
  NumberStrip strip{.title = pde ? pde->channels()[c].label() : data.channels[c], .marks = std::move(marks)};
  if (pde) strip.label = pde->channels()[c].unit;
  const auto values = data.fields.select(1, channel).to(torch::kFloat64).mean({1, 2});
  for (int64_t i = 0; i < values.size(0); ++i) strip.points.push_back(values[i].item<double>());
  return strip;
}

void add_references(FigureRow& row, const PdePtr& pde, const Tensor& x) {
  const auto decoded = pde->solve(pde->admissible(pde->coefficients(x)).coefficients);
  for (int64_t c = 0; c < pde->num_solution_channels(); ++c) {
    const auto name = pde->channels()[static_cast<size_t>(c)].name;
    row.panels.push_back(channel_panel_of(pde, c, name + "*(a)", decoded[0][c]));
    row.panels.push_back(difference_panel(pde, c, fmt::format("{0} - {0}*(a)", name), x[0][c] - decoded[0][c]));
  }
}

FigureRow sample_row(const Dataset& data, const PdePtr& pde, int64_t sample, bool references) {
  const auto x = data.fields.narrow(0, sample, 1).to(torch::kFloat64);
  FigureRow row{.label = fmt::format("sample {}", sample)};
  for (size_t c = 0; c < data.channels.size(); ++c) {
    const auto channel = static_cast<int64_t>(c);
    if (is_scalar(pde, c))
      row.panels.push_back(scalar_strip(data, pde, channel, {{"", scalar_of(x[0][channel])}}));
    else
      row.panels.push_back(
          channel_panel_of(pde, channel, pde ? pde->channels()[c].label() : data.channels[c], x[0][channel]));
  }
  if (!pde) return row;
  if (references) add_references(row, pde, x);
  std::string boundary;  // beside the first equation
  if (const auto edge = pde->residual(x).boundary; edge.defined())
    boundary = fmt::format("; boundary {:.2g}", root_mean_square(edge));
  for (const auto& residual : residual_maps(*pde, x[0])) {
    auto panel = residual_panel(residual, *pde, x[0]);
    panel.title += std::exchange(boundary, "");
    row.panels.push_back(std::move(panel));
  }
  return row;
}

/// Coordinates of the entries a mask selects.
std::vector<std::pair<double, double>> sensors_of(const FieldPanel& panel, const Tensor& mask) {
  std::vector<std::pair<double, double>> sensors;
  const double dx = (panel.x.high - panel.x.low) / static_cast<double>(mask.size(0));
  const double dy = (panel.y.high - panel.y.low) / static_cast<double>(mask.size(1));
  const auto known = mask.to(torch::kCPU, torch::kFloat64).nonzero();
  if (known.size(0) == mask.numel()) return sensors;  // all of it: no sensors, a known field
  for (int64_t i = 0; i < known.size(0); ++i)
    sensors.emplace_back(panel.x.low + (known[i][0].item<double>() + 0.5) * dx,
                         panel.y.low + (known[i][1].item<double>() + 0.5) * dy);
  return sensors;
}

FigureRow truth_row(const Dataset& data, const PdePtr& pde, const Truth& truth, int64_t sample, int64_t channel) {
  const auto& name = data.channels[static_cast<size_t>(channel)];
  const auto x = data.fields[sample][channel].to(torch::kFloat64),
             y = truth.fields[sample][channel].to(torch::kFloat64);
  FigureRow row{.label = fmt::format("case {}: {}", sample, name)};
  if (is_scalar(pde, static_cast<size_t>(channel))) {
    row.panels.push_back(scalar_strip(data, pde, channel, {{"true", scalar_of(y)}, {"sample", scalar_of(x)}}));
    return row;
  }
  auto of_truth = channel_panel_of(pde, channel, name + ", truth", y);
  auto of_sample = channel_panel_of(pde, channel, name + ", sample", x);
  of_truth.range = of_sample.range = color_range(of_truth);
  if (truth.mask.defined()) {
    of_truth.sensors = sensors_of(of_truth, truth.mask[sample][channel]);
    if (!of_truth.sensors.empty()) of_truth.title += fmt::format(" and {} sensors", of_truth.sensors.size());
  }
  row.panels.emplace_back(std::move(of_truth));
  row.panels.emplace_back(std::move(of_sample));
  row.panels.emplace_back(
      difference_panel(pde, channel, fmt::format("sample - truth, rms {:.2g}", root_mean_square(x - y)), x - y));
  return row;
}

struct Sheet {
  int64_t columns, lines;
};

Sheet sheet_of(size_t count) {
  const auto columns = static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(count))));
  return {columns, (static_cast<int64_t>(count) + columns - 1) / columns};
}

/// Maps [h,w] in lines from the top left, NaN between them.
Tensor tiled(const std::vector<Tensor>& maps, const Sheet& sheet) {
  const int64_t h = maps.front().size(0), w = maps.front().size(1), gap = std::max<int64_t>(1, h / 16);
  auto out = torch::full({sheet.columns * (h + gap) - gap, sheet.lines * (w + gap) - gap}, NAN, torch::kFloat64);
  for (size_t i = 0; i < maps.size(); ++i) {
    const auto column = static_cast<int64_t>(i) % sheet.columns, line = static_cast<int64_t>(i) / sheet.columns;
    out.narrow(0, column * (h + gap), h).narrow(1, (sheet.lines - 1 - line) * (w + gap), w).copy_(maps[i]);
  }
  return out;
}

FieldPanel sheet_panel(const std::string& title, const std::vector<Tensor>& maps, const std::vector<int64_t>& samples) {
  const auto sheet = sheet_of(maps.size());
  FieldPanel panel{.title = title, .field = tiled(maps, sheet), .gaps = true};
  panel.x = {"samples in lines, x to the right", 0, static_cast<double>(sheet.columns), {{0.5, "+0"}}};
  panel.y = {"first sample of the line", 0, static_cast<double>(sheet.lines)};
  for (int64_t i = 1; i < sheet.columns; ++i)
    panel.x.ticks.push_back({static_cast<double>(i) + 0.5, fmt::format("+{}", i)});
  for (int64_t i = sheet.lines - 1; i >= 0; --i)
    panel.y.ticks.push_back({static_cast<double>(sheet.lines - 1 - i) + 0.5,
                             std::to_string(samples[static_cast<size_t>(i * sheet.columns)])});
  return panel;
}

/// Every residual field of the samples on a sheet of its own; round-off keeps to the pale middle of the colours.
std::vector<Panel> residual_sheets(const Dataset& data, const Pde& pde, const std::vector<int64_t>& samples) {
  std::vector<std::vector<ResidualMap>> fields;  // by sample
  for (const int64_t sample : samples) fields.push_back(residual_maps(pde, data.fields[sample]));
  std::vector<Panel> panels;
  for (size_t i = 0; i < fields.front().size(); ++i) {
    std::vector<Tensor> maps;
    double round_off = 0;
    bool nothing_else = true;
    for (const auto& of_sample : fields) {
      maps.push_back(of_sample[i].map);
      round_off = std::max(round_off, of_sample[i].round_off);
      nothing_else = nothing_else && of_sample[i].is_round_off();
    }
    auto panel = sheet_panel(fields.front()[i].name + (nothing_else ? ": round-off" : ""), maps, samples);
    panel.colors = Colors::diverging;
    if (nothing_else) panel.range = {-kRoundOffColors * round_off, kRoundOffColors * round_off};
    panels.emplace_back(std::move(panel));
  }
  return panels;
}

}  // namespace

bool is_scalar(const PdePtr& pde, size_t channel) { return pde && pde->channels()[channel].scalar; }

FieldPanel panel_of(const PdePtr& pde, const std::string& title, const Tensor& field) {
  return pde ? field_panel(title, field, pde->axes(), field.size(0), field.size(1)) : bare_panel(title, field);
}

FieldPanel channel_panel_of(const PdePtr& pde, int64_t channel, const std::string& title, const Tensor& field) {
  auto panel = panel_of(pde, title, field);
  if (pde) panel.unit = pde->channels()[static_cast<size_t>(channel)].unit;
  return panel;
}

Figure draw_samples(const Dataset& data, const PdePtr& pde, const std::vector<int64_t>& samples,
                    const std::string& title, bool references) {
  const torch::NoGradGuard no_grad;
  if (samples.size() > kMostRows && !references) return draw_contact_sheet(data, pde, samples, title);
  Figure figure{.title = title};
  for (const int64_t sample : samples) figure.rows.push_back(sample_row(data, pde, sample, references));
  return figure;
}

Figure draw_against_truth(const Dataset& data, const PdePtr& pde, const Truth& truth,
                          const std::vector<int64_t>& samples, const std::string& title) {
  require<DataError>(truth.fields.dim() == 4 && truth.fields.sizes().slice(1) == data.fields.sizes().slice(1),
                     "--reference: its fields are {}, the samples' {}", shape_string(truth.fields),
                     shape_string(data.fields));
  Figure figure{.title = title};
  for (const int64_t sample : samples) {
    require<DataError>(sample < truth.fields.size(0), "--reference: has {} samples, no sample {}", truth.fields.size(0),
                       sample);
    for (int64_t c = 0; c < data.fields.size(1); ++c) figure.rows.push_back(truth_row(data, pde, truth, sample, c));
  }
  return figure;
}

Figure draw_contact_sheet(const Dataset& data, const PdePtr& pde, const std::vector<int64_t>& samples,
                          const std::string& title) {
  const torch::NoGradGuard no_grad;
  std::vector<Panel> panels;
  for (size_t c = 0; c < data.channels.size(); ++c) {
    const auto channel = static_cast<int64_t>(c);
    if (is_scalar(pde, c)) {
      panels.emplace_back(scalar_strip(data, pde, channel, {}));
      continue;
    }
    std::vector<Tensor> maps;
    for (const int64_t sample : samples) maps.push_back(data.fields[sample][channel]);
    panels.emplace_back(sheet_panel(data.channels[c], maps, samples));
  }
  if (pde)
    for (auto& panel : residual_sheets(data, *pde, samples)) panels.push_back(std::move(panel));
  const size_t columns = panels.size() <= 3 ? panels.size() : 2;
  for (auto& panel : panels)
    if (auto* field = std::get_if<FieldPanel>(&panel))
      field->width = std::clamp(kPageRoom / static_cast<double>(columns) - kSheetMargins, kLeastSheet, kMostSheet);
  return in_rows(title, std::move(panels), columns);
}

}  // namespace piddm
