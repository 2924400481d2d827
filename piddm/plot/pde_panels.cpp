#include "piddm/plot/pde_panels.h"

#include <cmath>

#include "piddm/core/table.h"

namespace piddm {

namespace {

constexpr double kShownShare = 0.995;    // of the points of a residual map, the largest ones take the end colours
constexpr double kFloatRounding = 6e-8;  // half a unit in the last place of float32
constexpr double kLikeRoundOff = 3;      // times what rounding does is still taken for it

/// Entries first..first+n-1 of an axis of `points`, each as wide as the spacing.
FieldAxis field_axis(const GridAxis& axis, int64_t n, int64_t points) {
  const auto at = axis.coordinates(points);
  const double step = axis.spacing(points), first = static_cast<double>(points - n) / 2;
  FieldAxis out{.label = axis.label()};
  out.low = at[0].item<double>() + (first - 0.5) * step;
  out.high = out.low + static_cast<double>(n) * step;
  return out;
}

double aspect_of(const GridAxes& axes) {
  const auto& [x, y] = axes;
  const bool plane = x.kind != AxisKind::time && y.kind != AxisKind::time && x.unit == y.unit;
  return plane && x.length > 0 && y.length > 0 ? x.length / y.length : 1;
}

/// R of each equation; of several pictures side by side their root mean square.
std::vector<Tensor> scaled_residuals(const Pde& pde, const Tensor& sample) {
  const auto r = pde.residual(sample.unsqueeze(0).to(torch::kFloat64));
  const auto equations = pde.equations();
  std::vector<Tensor> out;
  for (size_t i = 0; i < equations.size(); ++i) {
    const auto& field = r.fields.at(i);
    const auto map = field.interior[0][0] * equations[i].scale;
    out.push_back(field.pictures == 1 ? map : map.reshape({map.size(0), field.pictures, -1}).square().mean(1).sqrt());
  }
  return out;
}

/// Every value off by up to half a unit in the last place of float32, at random but always the same way.
Tensor rounded(const Pde& pde, const Tensor& sample) {
  const auto x = sample.to(torch::kCPU, torch::kFloat64);
  const auto error = uniform(0, Stream::noise, 0, x.size(0), {x.size(1), x.size(2)}, torch::kFloat64) * 2 - 1;
  auto out = x + x * error * kFloatRounding;
  for (int64_t c = 0; c < x.size(0); ++c) {
    const auto& channel = pde.channels()[static_cast<size_t>(c)];
    if (channel.scalar || channel.two_valued) out[c].copy_(x[c]);
  }
  return out;
}

}  // namespace

FieldPanel field_panel(const std::string& title, const Tensor& field, const GridAxes& axes, int64_t height,
                       int64_t width) {
  FieldPanel panel{.title = title, .field = field};
  panel.x = field_axis(axes[0], field.size(0), height);
  panel.y = field_axis(axes[1], field.size(1), width);
  panel.aspect = aspect_of(axes);
  return panel;
}

FieldPanel bare_panel(const std::string& title, const Tensor& field) {
  FieldPanel panel{.title = title, .field = field};
  panel.x = {"x, grid point", -0.5, static_cast<double>(field.size(0)) - 0.5};
  panel.y = {"y, grid point", -0.5, static_cast<double>(field.size(1)) - 0.5};
  return panel;
}

bool ResidualMap::is_round_off() const { return root_mean_square(map) <= kLikeRoundOff * round_off; }

std::vector<ResidualMap> residual_maps(const Pde& pde, const Tensor& sample) {
  const torch::NoGradGuard no_grad;
  const auto maps = scaled_residuals(pde, sample), rounded_maps = scaled_residuals(pde, rounded(pde, sample));
  const auto names = pde.several_equations();
  std::vector<ResidualMap> out;
  for (size_t i = 0; i < maps.size(); ++i)
    out.push_back({names.empty() ? "R" : "R of " + names[i], maps[i], root_mean_square(rounded_maps[i] - maps[i])});
  return out;
}

double root_mean_square(const Tensor& x) { return x.square().mean().sqrt().item<double>(); }

FieldPanel residual_panel(const ResidualMap& residual, const Pde& pde, const Tensor& sample,
                          const std::optional<ColorRange>& range) {
  const auto& [name, map, round_off] = residual;
  auto panel = field_panel(fmt::format("{}, rms {:.2g}", name, root_mean_square(map)), map, pde.axes(), sample.size(1),
                           sample.size(2));
  panel.colors = Colors::diverging;
  panel.range = range;
  if (residual.is_round_off()) {
    panel.title = fmt::format("{}: round-off {:.0e}", name, root_mean_square(map));
    if (!range) panel.range = {-kRoundOffColors * round_off, kRoundOffColors * round_off};
  }
  if (panel.range || !torch::isfinite(map).all().item<bool>()) return panel;
  const double shown = map.abs().flatten().quantile(kShownShare).item<double>();
  if (shown > 0) panel.range = {-shown, shown};
  return panel;
}

double scalar_of(const Tensor& field) { return field.to(torch::kFloat64).mean().item<double>(); }

}  // namespace piddm
