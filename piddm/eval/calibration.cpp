#include "piddm/eval/calibration.h"

#include <cmath>

#include "piddm/core/error.h"
#include "piddm/eval/ensemble.h"

namespace piddm {

namespace {

/// [n]: relative L2 of x [n,H,W], or the share of entries on the wrong side of the middle of two values.
Tensor errors(const Tensor& x, const Tensor& truth, const Channel& channel) {
  if (!channel.two_valued) return (x - truth).flatten(1).norm(2, 1) / truth.flatten(1).norm(2, 1);
  const double middle = (channel.two_valued->first + channel.two_valued->second) / 2;
  return (x > middle).logical_xor(truth > middle).to(torch::kFloat64).flatten(1).mean(1);
}

/// Members [K,n,H,W] and truth [n,H,W]; `asked` is 1 where an entry is unknown.
ChannelCalibration judged(const Tensor& members, const Tensor& truth, const Tensor& asked, const Channel& channel,
                          double std) {
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
  return out;
}

}  // namespace

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
  known.values = truth + known.sigma * noise.to(truth.scalar_type());
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
                                  model.pde->channels()[static_cast<size_t>(c)], model.normalizer.std(c)));
  return out;
}

}  // namespace piddm
