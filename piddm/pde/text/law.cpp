#include "piddm/pde/text/law.h"

#include <algorithm>
#include <cmath>

#include "piddm/core/error.h"
#include "piddm/pde/text/evaluation.h"

namespace piddm {
namespace {

constexpr uint64_t kGoldenRatio = 0x9E3779B97F4A7C15;  // 2^64 over it: seeds of neighbours have nothing in common

SeriesAxis series_axis(const SpaceAxis& axis, LawText::Family family) {
  if (!axis.present) return {};
  SeriesAxis out{.length = axis.length, .coordinates = axis.coordinates(Site::points), .count = axis.points};
  if (!axis.walls()) {
    out.functions = SeriesAxis::Functions::fourier;
    out.count = axis.points - (axis.points + 1) % 2;
  } else if (family == LawText::Family::sine) {
    out.functions = SeriesAxis::Functions::sine;
    if (axis.kind == AxisText::Kind::nodes) out.count = axis.points - 2;
  }
  return out;
}

/// exp(log low + u (log high - log low)) and its like.
Tensor scalar_of(const LawText& law, uint64_t seed, int64_t first, int64_t count) {
  const std::vector<int64_t> one = {1, 1, 1};
  if (law.kind == LawText::Kind::normal)
    return normal(seed, Stream::coefficients, first, count, one, torch::kFloat64) * law.high + law.low;
  const Tensor unit = uniform(seed, Stream::coefficients, first, count, one, torch::kFloat64);
  if (law.kind == LawText::Kind::uniform) return unit * (law.high - law.low) + law.low;
  const double low = std::log(law.low), high = std::log(law.high);
  return torch::exp(unit * (high - low) + low).clamp(law.low, law.high);
}

}  // namespace

TextLaw::TextLaw(const TextGrid& grid) : grid_(grid) {
  for (const auto& coefficient : grid_.text().coefficients) {
    const auto& law = coefficient.law;
    series_.emplace_back();
    if (law.kind == LawText::Kind::field)
      series_.back().emplace(
          std::array{series_axis(grid_.axes()[0], law.family), series_axis(grid_.axes()[1], law.family)}, law.alpha,
          law.tau, law.scale);
  }
}

bool TextLaw::complete() const {
  const auto& all = grid_.text().coefficients;
  return std::none_of(all.begin(), all.end(), [](const auto& c) { return c.law.kind == LawText::Kind::data; });
}

Tensor TextLaw::draw(size_t which, uint64_t seed, int64_t first, int64_t count) const {
  const auto& law = grid_.text().coefficients[which].law;
  seed += which * kGoldenRatio;
  if (law.kind != LawText::Kind::field) return scalar_of(law, seed, first, count);
  const Tensor g = series_[which]->sample(seed, first, count);
  return TextEvaluation(grid_, {{"g", {g}}}, {}, g.options())(law.map).value;
}

Tensor TextLaw::sample(uint64_t seed, int64_t first, int64_t count) const {
  const auto& text = grid_.text();
  for (const auto& coefficient : text.coefficients)
    require<UsageError>(coefficient.law.kind != LawText::Kind::data,
                        "[{}] the text gives no law of {}: it comes from data; give a data file, or a law such as "
                        "\"field: gauss(alpha=2, tau=3)\" or \"uniform(0, 1)\"",
                        text.name, coefficient.field.name);
  const int64_t x = grid_.axes()[0].points, y = grid_.axes()[1].points;
  std::vector<Tensor> all;
  for (size_t i = 0; i < text.coefficients.size(); ++i)
    all.push_back(draw(i, seed, first, count).expand({count, 1, x, y}));
  if (all.empty()) return torch::zeros({count, 0, x, y}, torch::kFloat64);
  const Tensor a = torch::cat(all, 1);
  require<NumericsError>(all_finite(a), "[{}] a law gave coefficients that are not finite; look at its map", text.name);
  return a;
}

}  // namespace piddm
