#include "piddm/eval/evaluate.h"

#include <cmath>

#include "piddm/data/statistics.h"
#include "piddm/eval/ensemble.h"

namespace piddm {

namespace {

constexpr int64_t kProbes = 4;

Tensor flat_sum(const Tensor& x) { return x.reshape({x.size(0), -1}).sum(1); }

Tensor checked(const Pde& pde, const Tensor& x, torch::Device device) {
  pde.check_shape(x);
  return x.to(device, torch::kFloat64);
}

/// Where the PDE's hard constraint changes random fields.
Tensor constrained_entries(const Pde& pde, const Normalizer& normalizer) {
  const auto noise =
      normal(0, Stream::masks, 0, kProbes, {pde.num_channels(), pde.grid(), pde.grid()}, torch::kFloat64);
  const auto x = normalizer.to_physical(noise);
  return pde.constrain(x).ne(x).any(0);
}

}  // namespace

/// Metrics and their intervals.
class Judge::Report {
 public:
  Report(int64_t n, const Bootstrap& bootstrap) : bootstrap_(bootstrap) { out["n"] = n; }

  /// sum(numerator)/sum(denominator), one entry a sample.
  void ratio(const std::string& key, const Tensor& numerator, const Tensor& denominator) {
    out[key] = (numerator.sum() / denominator.sum()).item<double>();
    if (bootstrap_.resamples > 0) set_interval(key, ratio_interval(numerator, denominator, bootstrap_));
  }
  void mean(const std::string& key, const Tensor& values) { ratio(key, values, torch::ones_like(values)); }
  void root_mean(const std::string& key, const Tensor& squares, double unit) {
    mean(key, squares);
    out[key] = std::sqrt(out[key].get<double>()) / unit;
    if (intervals.contains(key))
      for (auto& end : intervals[key]) end = std::sqrt(end.get<double>()) / unit;
  }

  void work(const Samples& samples) {
    out["nfe"] = samples.nfe;
    out["backward"] = samples.backward;
    out["seconds_per_sample"] = samples.seconds_per_sample;
  }

  void set_interval(const std::string& key, const Interval& interval) {
    intervals[key] = {interval.first, interval.second};
  }

  const Bootstrap& bootstrap() const { return bootstrap_; }

  json finish() {
    if (bootstrap_.resamples > 0) out["intervals"] = intervals;
    return out;
  }

  json out = json::object(), intervals = json::object();

 private:
  Bootstrap bootstrap_;
};

namespace {

void add_channels(json& out, const std::string& metric, const ChannelMetric& value,
                  const std::vector<std::string>& names) {
  out[metric] = value.mean;
  for (size_t c = 0; c < names.size(); ++c) out[metric + "_" + names[c]] = value.channel[c];
}

/// 1 at the entries of a channel that were asked for: those not given, or all where everything was.
Tensor asked_entries(const Tensor& mask) {
  const auto unknown = 1 - mask;
  return unknown.sum().item<double>() > 0 ? unknown : torch::ones_like(mask);
}

}  // namespace

Judge::Judge(PdePtr pde, Normalizer normalizer, const Tensor& held_out, const Tensor& mean_field, torch::Device device,
             int64_t solved)
    : pde_(std::move(pde)),
      normalizer_(std::move(normalizer)),
      held_out_(checked(*pde_, held_out, device)),
      held_out_z_(normalizer_.to_network(held_out_)),
      mean_field_(here(mean_field)),
      solved_(solved),
      reference_rms_(residual_statistics(*pde_, held_out_).reference_rms()),
      constrained_(constrained_entries(*pde_, normalizer_).to(held_out_.device())),
      distances_(pde_, normalizer_, held_out_) {}

void Judge::add_physics(Report& report, const Tensor& x) const {
  const auto statistics = residual_statistics(*pde_, x);
  report.mean("pde_error", statistics.pde_error);
  report.root_mean("rel_residual", statistics.residual, reference_rms_);
  if (statistics.boundary.defined()) report.mean("boundary_error", statistics.boundary);
  const auto some = x.slice(0, 0, solved_), exact = pde_->decode(some).x;
  const auto error = pde_->solution(normalizer_.to_network(some) - normalizer_.to_network(exact));
  report.mean("solution_error", error.square().mean({1, 2, 3}));
}

void Judge::add_moments(Report& report, const Tensor& z) const {
  const auto names = pde_->channel_names();
  add_channels(report.out, "mmse", mmse(z, held_out_z_), names);
  add_channels(report.out, "smse", smse(z, held_out_z_), names);
  const auto& bootstrap = report.bootstrap();
  if (bootstrap.resamples <= 0) return;
  const auto counts = bootstrap_counts(bootstrap_indices(z.size(0), bootstrap.resamples, bootstrap.seed));
  const auto replicates = moment_replicates(z, held_out_z_, counts);
  const auto add = [&](const std::string& key, const Tensor& values) {
    const auto value = report.out.at(key).get<double>();
    report.set_interval(key, distance_interval(to_vector(values), value, bootstrap.level));
  };
  for (const auto& [key, values] :
       {std::pair<std::string, Tensor>{"mmse", replicates.mmse}, {"smse", replicates.smse}}) {
    add(key, values.mean(0));
    for (size_t c = 0; c < names.size(); ++c) add(key + "_" + names[c], values[static_cast<int64_t>(c)]);
  }
}

void Judge::add_constraint(Report& report, const Tensor& x) const {
  const auto entries = constrained_.sum().item<double>();
  if (entries == 0) return;
  const auto moved = normalizer_.to_network(pde_->constrain(x)) - normalizer_.to_network(x);
  report.mean("constraint_error", flat_sum(moved.square() * constrained_) / entries);
}

json Judge::samples(const Samples& samples, const Bootstrap& bootstrap) const {
  pde_->check_shape(samples.x);
  const auto x = here(samples.x);
  Report report(x.size(0), bootstrap);
  report.out["n_reference"] = held_out_.size(0);
  add_moments(report, normalizer_.to_network(x));
  report.out.update(distances_.measure(x, bootstrap, report.intervals));
  add_physics(report, x);
  add_constraint(report, x);
  report.work(samples);
  return report.finish();
}

json Judge::task(const Samples& solved, const Tensor& truth, const Observation& observation,
                 const Bootstrap& bootstrap) const {
  for (const auto& fields : {solved.x, truth, observation.mask}) pde_->check_shape(fields);
  const auto x = here(solved.x), z = normalizer_.to_network(x);
  const auto true_x = here(truth), true_z = normalizer_.to_network(true_x);
  const auto mean_z = normalizer_.to_network(mean_field_.unsqueeze(0));
  const auto mask = here(observation.mask);
  Report report(x.size(0), bootstrap);
  for (int64_t c = 0; c < pde_->num_channels(); ++c) {
    const auto& channel = pde_->channels()[static_cast<size_t>(c)];
    const auto asked = asked_entries(mask.select(1, c));
    const auto squares = [&](const Tensor& a) { return flat_sum((a - true_z).select(1, c).square() * asked); };
    report.ratio("mse_" + channel.name, squares(z), flat_sum(asked));
    report.ratio("mean_field_mse_" + channel.name, squares(mean_z), flat_sum(asked));
    const auto length = [&](const Tensor& a) { return flat_sum(a.select(1, c).square()).sqrt(); };
    report.mean("rel_l2_" + channel.name, length(x - true_x) / length(true_x));
    if (channel.two_valued) {
      const auto [low, high] = *channel.two_valued;
      report.mean("misclassified", misclassified(x.select(1, c), true_x.select(1, c), low, high));
    }
  }
  const auto given = normalizer_.to_network(torch::where(mask > 0, here(observation.values), x));
  if (mask.sum().item<double>() > 0)
    report.ratio("constraint_error", flat_sum((z - given).square() * mask), flat_sum(mask));
  add_physics(report, x);
  report.work(solved);
  return report.finish();
}

json Judge::ensemble(const std::vector<Samples>& members, const Tensor& truth, const Observation& observation,
                     const Bootstrap& bootstrap) const {
  std::vector<Tensor> parts;
  for (const auto& member : members) {
    pde_->check_shape(member.x);
    require<DataError>(member.x.sizes() == truth.sizes(), "[ensemble] a member has {} cases, the truth has {}",
                       member.x.size(0), truth.size(0));
    parts.push_back(normalizer_.to_network(here(member.x)));
  }
  require<UsageError>(parts.size() >= 2, "[ensemble] needs at least 2 members, got {}", parts.size());
  const auto z = torch::stack(parts), true_z = normalizer_.to_network(here(truth));
  Report report(truth.size(0), bootstrap);
  report.out["members"] = parts.size();
  for (int64_t c = 0; c < pde_->num_channels(); ++c) {
    const auto unknown = 1 - here(observation.mask.select(1, c));
    if (unknown.sum().item<double>() == 0) continue;
    const auto scores = ensemble_scores(z.select(2, c), true_z.select(1, c), unknown);
    const auto& name = pde_->channels()[static_cast<size_t>(c)].name;
    report.ratio("crps_" + name, scores.crps, scores.asked);
    report.ratio("coverage_" + name, scores.coverage, scores.asked);
    report.ratio("spread_" + name, scores.spread, scores.asked);
    report.ratio("mean_mse_" + name, scores.mean_mse, scores.asked);
    report.out["coverage_nominal"] = scores.nominal_coverage;
  }
  return report.finish();
}

json Judge::floor(int64_t n, uint64_t seed) const {
  const auto split = sampling_floor(held_out_z_, n, held_out_.size(0), seed);
  Report report(n, {});
  report.out["n_reference"] = held_out_.size(0);
  report.out["n_true"] = held_out_.size(0);
  add_channels(report.out, "mmse", split.mmse, pde_->channel_names());
  add_channels(report.out, "smse", split.smse, pde_->channel_names());
  report.out.update(distances_.floor(n, seed));
  add_physics(report, held_out_);
  add_constraint(report, held_out_);
  return report.finish();
}

}  // namespace piddm
