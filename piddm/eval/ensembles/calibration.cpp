#include "piddm/eval/ensembles/calibration.h"

#include <cmath>
#include <limits>

#include "piddm/core/error.h"
#include "piddm/eval/ensembles/conformal.h"
#include "piddm/eval/ensembles/ensemble.h"
#include "piddm/eval/ensembles/exact_posterior.h"
#include "piddm/solve/data_fit.h"

namespace piddm {

namespace {

/// [n]: relative L2 of x [n,H,W], or the share of entries on the wrong side of the middle of two values.
Tensor errors(const Tensor& x, const Tensor& truth, const Channel& channel) {
  if (!channel.two_valued) return (x - truth).flatten(1).norm(2, 1) / truth.flatten(1).norm(2, 1);
  const double middle = (channel.two_valued->first + channel.two_valued->second) / 2;
  return (x > middle).logical_xor(truth > middle).to(torch::kFloat64).flatten(1).mean(1);
}

constexpr double kResolution = 1e-6;  // of values, in standard deviations of their channel

/// Intervals, the factor they call for, and ranks.
void judge_intervals(ChannelCalibration& out, const Tensor& members, const Tensor& truth, const Tensor& asked,
                     const CalibrationOptions& o, double std) {
  const auto sorted = std::get<0>(members.sort(0));
  const auto open = open_entries(sorted, truth, asked, kResolution * std);
  out.ranks = rank_tests(members, truth, open, o.seed);
  if (out.cells || open.sum().item<double>() == 0) return;
  double factor = 0;
  for (const auto& [name, value] : o.factors)
    if (name == out.channel) factor = value;
  for (const double share : kIntervalShares) {
    const auto scores = interval_scores(sorted, truth, share, kResolution * std);
    out.covered.push_back(covered_share(scores, open));
    if (factor > 0) out.covered_widened.push_back(covered_share(scores, open, factor));
    if (share == kStatedShare && members.size(0) >= kFewestMembers && truth.size(0) >= kFewestCases)
      out.factor = conformal_factor(scores, open);
  }
}

/// Members [K,n,H,W] and truth [n,H,W]; `asked` is 1 where an entry is unknown.
ChannelCalibration judged(const Tensor& members, const Tensor& truth, const Tensor& asked, const Channel& channel,
                          const CalibrationOptions& o, double std) {
  ChannelCalibration out{.channel = channel.name,
                         .cells = channel.two_valued.has_value(),
                         .one = errors(members[0], truth, channel).mean().item<double>(),
                         .mean = errors(members.mean(0), truth, channel).mean().item<double>()};
  if (members.size(0) < 2 || asked.sum().item<double>() == 0) return out;
  const auto scores = ensemble_scores(members, truth, asked);
  const double ratio = scores.mean(scores.spread) / scores.mean(scores.mean_mse);
  out.asked = true;
  out.crps = scores.mean(scores.crps) / std;
  out.coverage = scores.mean(scores.coverage);
  out.nominal = scores.nominal_coverage;
  out.spread_skill = std::sqrt((1 + 1 / static_cast<double>(members.size(0))) * ratio);
  judge_intervals(out, members, truth, asked, o, std);
  return out;
}

GaussianGap gap_of(const Tensor& members, const Tensor& draws, const Tensor& asked, const Tensor& mean,
                   const Tensor& deviation, double std) {
  const auto average = [&](const Tensor& x) { return (x * asked).sum().item<double>() / asked.sum().item<double>(); };
  const auto distance = [&](const Tensor& x) { return average(wasserstein(x, mean, deviation)) / std; };
  return {.mean = std::sqrt(average((members.mean(0) - mean).square())) / std,
          .spread = std::sqrt(average(members.var(0)) / average(deviation.square())),
          .wasserstein = distance(members),
          .floor = distance(draws)};
}

/// What is known without a network of the answers x [K,n,C,H,W] to Poisson and Helmholtz.
void add_exact(Calibration& out, const Tensor& x, const Tensor& truth, const Observation& known, const Model& model,
               const CalibrationOptions& o) {
  out.no_exact = ExactPosterior::refusal(*model.pde, known);
  if (!out.no_exact.empty() || o.members < 2) return;
  std::vector<double> scales;
  for (int64_t c = 0; c < model.pde->num_channels(); ++c) scales.push_back(model.normalizer.std(c));
  const auto exact = ExactPosterior(dynamic_cast<const Poisson&>(*model.pde), scales).of(known);
  auto shape = x[0][0].sizes().vec();
  shape.insert(shape.begin(), o.members);
  const auto noise = normal(o.seed, Stream::splits, 0, truth.size(0), shape, torch::kFloat64).transpose(0, 1);
  const auto draws = exact.mean + exact.deviation * noise;
  for (int64_t c = 0; c < model.pde->num_channels(); ++c) {
    const auto n = static_cast<size_t>(c);
    const auto of = [&](const Tensor& fields, int64_t axis) {
      return fields.select(axis, c).to(torch::kFloat64).contiguous();
    };
    const auto asked = 1 - of(known.mask, 1);
    out.exact.push_back(judged(of(draws, 2), of(truth, 1), asked, model.pde->channels()[n], o, scales[n]));
    out.exact.back().ranks.clear();  // entries were drawn one by one: no samples
    if (out.channels[n].asked)
      out.channels[n].gap = gap_of(of(x, 2), of(draws, 2), asked, of(exact.mean, 1), of(exact.deviation, 1), scales[n]);
  }
}

/// Share of the cases whose data `solve` warns of, given the means of their answers.
double warned_share(const Observation& known, const Tensor& means, const Model& model) {
  const int64_t cases = means.size(0);
  const auto fits = case_fits(sensor_fits(known, means, *model.pde), cases);
  int64_t warned = 0;
  for (int64_t i = 0; i < cases; ++i) {
    Observation one;
    one.values = known.values.narrow(0, i, 1);
    one.mask = known.mask.narrow(0, i, 1);
    if (!unusual_values(one, model.normalizer, *model.pde).empty() ||
        !poor_fits({fits[static_cast<size_t>(i)]}).empty())
      ++warned;
  }
  return static_cast<double>(warned) / static_cast<double>(cases);
}

}  // namespace

double ChannelCalibration::at(const std::vector<double>& shares, double share) {
  for (size_t i = 0; i < shares.size(); ++i)
    if (kIntervalShares.at(i) == share) return shares[i];
  return std::numeric_limits<double>::quiet_NaN();
}

Observation noisy_observation(const CalibrationOptions& o, const Tensor& truth, const Model& model) {
  require<UsageError>(std::isfinite(o.noise) && o.noise >= 0, "noise: must not be negative, got {}", o.noise);
  auto known = observe(o.task, truth, *model.pde, o.seed, o.reveal);
  if (o.noise == 0) return known;
  const auto shape = truth.sizes().slice(1).vec();
  const auto noise = normal(o.seed, Stream::observation_noise, 0, truth.size(0), shape, torch::kFloat64);
  known.sigma = torch::zeros_like(known.mask);
  for (int64_t c = 0; c < truth.size(1); ++c)
    if (!model.pde->channels()[static_cast<size_t>(c)].scalar)
      known.sigma.select(1, c).copy_(o.noise * model.normalizer.std(c) * known.mask.select(1, c));
  known.values = truth + o.noise_factor * known.sigma * noise.to(truth.scalar_type());
  return known;
}

Calibration calibrate(Method& method, const Model& model, const Tensor& truth, const CalibrationOptions& o) {
  const auto known = noisy_observation(o, truth, model);
  const auto each = [&](const Tensor& x) { return x.defined() ? x.repeat_interleave(o.members, 0) : x; };
  Observation repeated;
  repeated.values = each(known.values);
  repeated.mask = each(known.mask);
  repeated.sigma = each(known.sigma);
  const auto samples = method.solve(repeated, o.seed);
  const int64_t cases = truth.size(0);
  const auto x = samples.x.to(torch::kFloat64).unflatten(0, {cases, o.members}).transpose(0, 1);
  Calibration out{.channels = {}, .nfe = samples.nfe, .seconds = samples.seconds_per_sample};
  for (int64_t c = 0; c < model.pde->num_channels(); ++c)
    out.channels.push_back(judged(x.select(2, c).contiguous(), truth.select(1, c).to(torch::kFloat64),
                                  1 - known.mask.select(1, c).to(torch::kFloat64),
                                  model.pde->channels()[static_cast<size_t>(c)], o, model.normalizer.std(c)));
  add_exact(out, x, truth, known, model, o);
  out.warned = warned_share(known, x.mean(0), model);
  return out;
}

}  // namespace piddm
