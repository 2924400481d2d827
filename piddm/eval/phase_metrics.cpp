#include "piddm/eval/phase_metrics.h"

#include <cmath>

#include "piddm/eval/metrics.h"
#include "piddm/eval/phases.h"

namespace piddm {

namespace {

constexpr int kSplits = 40;

double mean_value(const Tensor& values) { return values.mean().item<double>(); }

}  // namespace

PhaseMetrics::PhaseMetrics(const std::vector<Channel>& channels, const Tensor& reference) {
  for (size_t c = 0; c < channels.size(); ++c)
    if (channels[c].two_valued) two_valued_.emplace_back(static_cast<int64_t>(c), channels[c]);
  reference_ = series_of(reference);
}

std::vector<PhaseMetrics::Series> PhaseMetrics::series_of(const Tensor& x) const {
  std::vector<Series> out;
  for (const auto& [c, channel] : two_valued_) {
    const auto a = x.select(1, c);
    const auto [low, high] = *channel.two_valued;
    out.push_back(
        {"_" + channel.name, between_values(a, low, high), interface_length(a, low, high), islands(a, low, high)});
  }
  if (out.empty()) return out;
  const auto over_channels = [&](Tensor Series::*member) {
    std::vector<Tensor> parts;
    for (const auto& series : out) parts.push_back(series.*member);
    return mean_of(parts);
  };
  const Series whole{"", over_channels(&Series::between), over_channels(&Series::interface),
                     over_channels(&Series::islands)};
  if (out.size() == 1) return {whole};
  out.insert(out.begin(), whole);
  return out;
}

void PhaseMetrics::measure(const Tensor& x, const Bootstrap& bootstrap, Scores& scores) const {
  const auto measured = series_of(x);
  for (size_t i = 0; i < measured.size(); ++i) {
    const auto& got = measured[i];
    const auto& truth = reference_[i];
    const auto add = [&](const std::string& key, const Tensor& values, double unit) {
      scores.values[key + got.suffix] = mean_value(values) / unit;
      if (bootstrap.resamples > 0)
        scores.intervals[key + got.suffix] = ratio_interval(values, torch::full_like(values, unit), bootstrap);
    };
    add("between", got.between, 1);
    add("interface", got.interface, 1);
    add("interface_ratio", got.interface, mean_value(truth.interface));
    add("islands", got.islands, 1);
    add("islands_ratio", got.islands, mean_value(truth.islands));
  }
}

void PhaseMetrics::floor(int64_t n, uint64_t seed, Scores& scores) const {
  for (const auto& truth : reference_) {
    const int64_t total = truth.islands.size(0);
    const auto factor = [&](const Tensor& values) {
      const auto part = [&](const Tensor& indices) { return mean_value(values.index_select(0, indices)); };
      return std::exp(split_floor(total, n, total, 0.5, seed, kSplits, [&](const Tensor& a, const Tensor& b) {
        return std::abs(std::log(part(a) / part(b)));
      }));
    };
    scores.values["between" + truth.suffix] = mean_value(truth.between);
    scores.values["interface" + truth.suffix] = mean_value(truth.interface);
    scores.values["interface_ratio" + truth.suffix] = factor(truth.interface);
    scores.values["islands" + truth.suffix] = mean_value(truth.islands);
    scores.values["islands_ratio" + truth.suffix] = factor(truth.islands);
  }
}

}  // namespace piddm
