#include "piddm/tables/field_panels.h"

#include <algorithm>
#include <cmath>

namespace piddm {

namespace {

constexpr int64_t kRangeSamples = 64;  // true samples whose values set the colours

double rms(const Tensor& x) { return x.square().mean().sqrt().item<double>(); }

const Channel& channel_of(const Pde& pde, int64_t channel) { return pde.channels()[static_cast<size_t>(channel)]; }

}  // namespace

Tensor residual_map(const Tensor& x, const Pde& pde) {
  const torch::NoGradGuard no_grad;
  const auto r = pde.residual(x.unsqueeze(0).to(torch::kFloat64));
  return r.fields.front().interior[0][0] * pde.equations().front().scale;
}

ColorRange channel_range(const Tensor& field, const Channel& channel) {
  if (channel.two_valued) return std::minmax(channel.two_valued->first, channel.two_valued->second);
  return {field.min().item<double>(), field.max().item<double>()};
}

ColorRange shared_range(const std::vector<Tensor>& maps) {
  std::vector<double> sizes;
  for (const auto& map : maps)
    if (const double size = rms(map); std::isfinite(size)) sizes.push_back(size);
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
  std::vector<Tensor> maps;
  for (const auto& x : judged) maps.push_back(residual_map(x, pde));
  colors.residual = shared_range(maps);
  return colors;
}

Panel residual_panel(const Tensor& x, const Pde& pde, const ColorRange& range) {
  const auto map = residual_map(x, pde);
  return {fmt::format("R, rms {:.2g}", rms(map)), map, range, Colors::diverging};
}

std::vector<Panel> sample_panels(const Tensor& x, const Pde& pde, const SampleColors& colors) {
  std::vector<Panel> panels;
  for (int64_t c = 0; c < pde.num_channels(); ++c)
    panels.push_back({channel_of(pde, c).name, x[c], colors.channels[static_cast<size_t>(c)]});
  panels.push_back(residual_panel(x, pde, colors.residual));
  return panels;
}

bool asked(const SolvedCase& solved, int64_t channel) { return solved.mask[channel].min().item<double>() == 0; }

Panel given_panel(const SolvedCase& solved, const Pde& pde, int64_t channel) {
  const auto truth = solved.truth[channel];
  return {.title = channel_of(pde, channel).name + " given",
          .field = torch::where(solved.mask[channel] > 0, truth, torch::full_like(truth, NAN)),
          .range = channel_range(truth, channel_of(pde, channel)),
          .gaps = true};
}

Panel true_panel(const SolvedCase& solved, const Pde& pde, int64_t channel) {
  const auto truth = solved.truth[channel];
  return {channel_of(pde, channel).name + " true", truth, channel_range(truth, channel_of(pde, channel))};
}

std::vector<Panel> answer_panels(const SolvedCase& solved, const Pde& pde, int64_t channel,
                                 const std::optional<ColorRange>& errors) {
  const auto truth = solved.truth[channel];
  const auto& name = channel_of(pde, channel).name;
  const auto error = solved.x[channel] - truth;
  return {{name + " found", solved.x[channel], channel_range(truth, channel_of(pde, channel))},
          {fmt::format("{} error, rms {:.2g}", name, rms(error)), error, errors, Colors::diverging}};
}

}  // namespace piddm
