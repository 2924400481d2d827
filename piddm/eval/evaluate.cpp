#include "piddm/eval/evaluate.h"

#include <cmath>

#include "piddm/data/statistics.h"
#include "piddm/eval/ensembles/ensemble.h"
#include "piddm/eval/metrics.h"

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
  const auto noise = normal(0, Stream::masks, 0, kProbes, pde.sample_shape(), torch::kFloat64);
  const auto x = normalizer.to_physical(noise);
  return pde.constrain(x).ne(x).any(0);
}

}  // namespace

/// Metrics and their intervals.
class Judge::Report {
 public:
  Report(int64_t n, const Bootstrap& bootstrap) : bootstrap_(bootstrap) { scores.n = n; }

  /// sum(numerator)/sum(denominator), one entry per sample.
  void ratio(const std::string& key, const Tensor& numerator, const Tensor& denominator) {
    scores.values[key] = (numerator.sum() / denominator.sum()).item<double>();
    if (bootstrap_.resamples > 0) scores.intervals[key] = ratio_interval(numerator, denominator, bootstrap_);
  }
  void mean(const std::string& key, const Tensor& values) { ratio(key, values, torch::ones_like(values)); }
  void root_mean(const std::string& key, const Tensor& squares, double unit) {
    mean(key, squares);
    const auto root = [&](double square) { return std::sqrt(square) / unit; };
    scores.values[key] = root(scores.values[key]);
    if (const auto found = scores.intervals.find(key); found != scores.intervals.end())
      found->second = {root(found->second.first), root(found->second.second)};
  }

  const Bootstrap& bootstrap() const { return bootstrap_; }

  Scores scores;

 private:
  Bootstrap bootstrap_;
};

namespace {

void add_work(Scores& scores, const Samples& samples) {
  scores.values["nfe"] = samples.nfe;
  scores.values["backward"] = samples.backward;
  scores.values["seconds_per_sample"] = samples.seconds_per_sample;
}

void add_channels(Scores& scores, const std::string& metric, const ChannelMetric& value,
                  const std::vector<std::string>& names) {
  scores.values[metric] = value.mean;
  for (size_t c = 0; c < names.size(); ++c) scores.values[metric + "_" + names[c]] = value.channel[c];
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
      distances_(pde_, normalizer_, held_out_),
      phases_(pde_->channels(), held_out_) {}

void Judge::add_physics(Report& report, const Tensor& x) const {
  const auto statistics = residual_statistics(*pde_, x);
  report.mean("pde_error", statistics.pde_error());
  report.root_mean("rel_residual", statistics.residual(reference_rms_), reference_rms_[0]);
  const auto equations = pde_->several_equations();
  for (size_t i = 0; i < equations.size(); ++i) {
    report.mean("pde_error_" + equations[i], statistics.equations[i].pde_error);
    report.root_mean("rel_residual_" + equations[i], statistics.equations[i].residual, reference_rms_[i]);
  }
  if (statistics.boundary.defined()) report.mean("boundary_error", statistics.boundary);
  const auto some = x.slice(0, 0, solved_), exact = pde_->decode(some).x;
  const auto error = pde_->solution(normalizer_.to_network(some) - normalizer_.to_network(exact));
  report.mean("solution_error", error.square().mean({1, 2, 3}));
  const auto solutions = pde_->several_solutions();
  for (size_t c = 0; c < solutions.size(); ++c)
    report.mean("solution_error_" + solutions[c], error.select(1, static_cast<int64_t>(c)).square().mean({1, 2}));
}

void Judge::add_moments(Report& report, const Tensor& z) const {
  const auto names = pde_->channel_names();
  add_channels(report.scores, "mmse", mmse(z, held_out_z_), names);
  add_channels(report.scores, "smse", smse(z, held_out_z_), names);
  const auto& bootstrap = report.bootstrap();
  if (bootstrap.resamples <= 0) return;
  const auto counts = bootstrap_counts(bootstrap_indices(z.size(0), bootstrap.resamples, bootstrap.seed));
  const auto replicates = moment_replicates(z, held_out_z_, counts);
  const auto add = [&](const std::string& key, const Tensor& values) {
    report.scores.intervals[key] = distance_interval(to_vector(values), report.scores.at(key), bootstrap.level);
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

Scores Judge::samples(const Samples& samples, const Bootstrap& bootstrap) const {
  pde_->check_shape(samples.x);
  const auto x = here(samples.x);
  Report report(x.size(0), bootstrap);
  report.scores.n_reference = held_out_.size(0);
  add_moments(report, normalizer_.to_network(x));
  distances_.measure(x, bootstrap, report.scores);
  phases_.measure(x, bootstrap, report.scores);
  if (test_) test_->measure(x, bootstrap, report.scores);
  add_physics(report, x);
  add_constraint(report, x);
  add_work(report.scores, samples);
  return std::move(report.scores);
}

Scores Judge::task(const Samples& solved, const Tensor& truth, const Observation& observation,
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
  add_work(report.scores, solved);
  return std::move(report.scores);
}

Scores Judge::ensemble(const std::vector<Samples>& members, const Tensor& truth, const Observation& observation,
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
  report.scores.members = static_cast<int64_t>(parts.size());
  for (int64_t c = 0; c < pde_->num_channels(); ++c) {
    const auto unknown = 1 - here(observation.mask.select(1, c));
    if (unknown.sum().item<double>() == 0) continue;
    const auto scores = ensemble_scores(z.select(2, c), true_z.select(1, c), unknown);
    const auto& name = pde_->channels()[static_cast<size_t>(c)].name;
    report.ratio("crps_" + name, scores.crps, scores.asked);
    report.ratio("coverage_" + name, scores.coverage, scores.asked);
    report.ratio("spread_" + name, scores.spread, scores.asked);
    report.ratio("mean_mse_" + name, scores.mean_mse, scores.asked);
    report.scores.values["coverage_nominal"] = scores.nominal_coverage;
  }
  return std::move(report.scores);
}

Scores Judge::floor(int64_t n, uint64_t seed) const {
  const auto split = sampling_floor(held_out_z_, n, held_out_.size(0), seed);
  Report report(n, {});
  report.scores.n_reference = held_out_.size(0);
  report.scores.n_true = held_out_.size(0);
  add_channels(report.scores, "mmse", split.mmse, pde_->channel_names());
  add_channels(report.scores, "smse", split.smse, pde_->channel_names());
  distances_.floor(n, seed, report.scores);
  phases_.floor(n, seed, report.scores);
  if (test_) test_->floor(n, seed, report.scores);
  add_physics(report, held_out_);
  add_constraint(report, held_out_);
  return std::move(report.scores);
}

}  // namespace piddm
