#include "piddm/tables/field_panels.h"

#include <algorithm>
#include <cmath>

#include "piddm/plot/pde_panels.h"

namespace piddm {

namespace {

constexpr int64_t kRangeSamples = 64;  // true samples whose values set the colours

const Channel& channel_of(const Pde& pde, int64_t channel) { return pde.channels()[static_cast<size_t>(channel)]; }

FieldPanel channel_panel(const Pde& pde, const std::string& title, const Tensor& field,
                         const std::optional<ColorRange>& range) {
  auto panel = field_panel(title, field, pde.axes(), field.size(0), field.size(1));
  panel.range = range;
  return panel;
}

}  // namespace

ColorRange channel_range(const Tensor& field, const Channel& channel) {
  if (channel.two_valued) return std::minmax(channel.two_valued->first, channel.two_valued->second);
  return {field.min().item<double>(), field.max().item<double>()};
}

ColorRange shared_range(const std::vector<Tensor>& maps) {
  std::vector<double> sizes;
  for (const auto& map : maps)
    if (const double size = root_mean_square(map); std::isfinite(size)) sizes.push_back(size);
  if (sizes.empty()) return {-1, 1};
  std::sort(sizes.begin(), sizes.end());
  const double end = 2 * sizes[sizes.size() / 2];
  return {-end, end};
}

SampleColors sample_colors(const Tensor& truth, const std::vector<Tensor>& judged, const Pde& pde) {
  SampleColors colors;
  const auto shown = truth.slice(0, 0, kRangeSamples);
  for (int64_t c = 0; c < pde.num_channels(); ++c)
    colors.channels.push_back(channel_range(shown.select(1, c), channel_of(pde, c)));
  std::vector<std::vector<Tensor>> maps;
  for (const auto& x : judged) {
    const auto fields = residual_maps(pde, x);
    maps.resize(fields.size());
    for (size_t i = 0; i < fields.size(); ++i) maps[i].push_back(fields[i].map);
  }
  for (const auto& of_field : maps) colors.residuals.push_back(shared_range(of_field));
  return colors;
}

std::vector<Panel> residual_panels(const Tensor& x, const Pde& pde, const std::vector<ColorRange>& ranges) {
  std::vector<Panel> panels;
  for (const auto& residual : residual_maps(pde, x))
    panels.emplace_back(residual_panel(
        residual, pde, x, panels.size() < ranges.size() ? std::optional(ranges[panels.size()]) : std::nullopt));
  return panels;
}

std::vector<Panel> sample_panels(const Tensor& samples, int64_t index, const Pde& pde, const SampleColors& colors) {
  std::vector<Panel> panels;
  for (int64_t c = 0; c < pde.num_channels(); ++c)
    if (!channel_of(pde, c).scalar)
      panels.emplace_back(
          channel_panel(pde, channel_of(pde, c).name, samples[index][c], colors.channels[static_cast<size_t>(c)]));
  for (auto& panel : residual_panels(samples[index], pde, colors.residuals)) panels.push_back(std::move(panel));
  return panels;
}

std::vector<Panel> scalar_panels(const Tensor& samples, const Pde& pde, const SampleColors& colors) {
  std::vector<Panel> panels;
  for (int64_t c = 0; c < pde.num_channels(); ++c) {
    if (!channel_of(pde, c).scalar) continue;
    NumberStrip strip{.title = fmt::format("{} of {} samples", channel_of(pde, c).name, samples.size(0)),
                      .range = colors.channels[static_cast<size_t>(c)]};
    const auto values = samples.select(1, c).to(torch::kFloat64).mean({1, 2});
    for (int64_t i = 0; i < values.size(0); ++i) strip.points.push_back(values[i].item<double>());
    if (values.size(0) > 1) strip.marks = {{"mean", values.mean().item<double>(), values.std().item<double>()}};
    panels.emplace_back(std::move(strip));
  }
  return panels;
}

bool asked(const SolvedCase& solved, int64_t channel) { return solved.mask[channel].min().item<double>() == 0; }

Panel given_panel(const SolvedCase& solved, const Pde& pde, int64_t channel) {
  const auto truth = solved.truth[channel];
  const auto& about = channel_of(pde, channel);
  if (about.scalar) return NumberStrip{.title = about.name + " given", .marks = {{"given", scalar_of(truth)}}};
  auto panel = channel_panel(pde, about.name + " given",
                             torch::where(solved.mask[channel] > 0, truth, torch::full_like(truth, NAN)),
                             channel_range(truth, about));
  panel.gaps = true;
  return panel;
}

Panel true_panel(const SolvedCase& solved, const Pde& pde, int64_t channel) {
  const auto truth = solved.truth[channel];
  const auto& about = channel_of(pde, channel);
  if (about.scalar) return NumberStrip{.title = about.name + " true", .marks = {{"true", scalar_of(truth)}}};
  return channel_panel(pde, about.name + " true", truth, channel_range(truth, about));
}

std::vector<Panel> answer_panels(const SolvedCase& solved, const Pde& pde, int64_t channel,
                                 const std::optional<ColorRange>& errors) {
  const auto truth = solved.truth[channel], found = solved.x[channel];
  const auto& about = channel_of(pde, channel);
  if (about.scalar)
    return {NumberStrip{.title = about.name + " found",
                        .marks = {{"true", scalar_of(truth)}, {"found", scalar_of(found)}}}};
  const auto error = found - truth;
  const auto title = fmt::format("{} error, rms {:.2g}", about.name, root_mean_square(error));
  auto error_panel = channel_panel(pde, title, error, errors);
  error_panel.colors = Colors::diverging;
  return {channel_panel(pde, about.name + " found", found, channel_range(truth, about)), std::move(error_panel)};
}

}  // namespace piddm
