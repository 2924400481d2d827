#include "piddm/eval/summary.h"

namespace piddm {

void PhysicsSummary::add(const Samples& samples) {
  const auto n = static_cast<double>(samples.x.size(0));
  parts_.push_back(residual_statistics(pde_, samples.x));
  work_.nfe += n * samples.nfe;
  work_.backward += n * samples.backward;
  work_.recomputed += n * samples.recomputed;
  work_.seconds_per_sample += n * samples.seconds_per_sample;
  n_ += samples.x.size(0);
}

Scores PhysicsSummary::scores() const {
  const auto statistics = join_statistics(parts_);
  const auto n = static_cast<double>(n_);
  Scores scores;
  for (const auto& [name, value] : residual_scores(pde_, statistics)) scores.values[name] = value;
  if (statistics.boundary.defined()) scores.values["boundary_error"] = statistics.mean_boundary_error();
  scores.values["nfe"] = work_.nfe / n;
  scores.values["backward"] = work_.backward / n;
  if (work_.recomputed > 0) scores.values["recomputed"] = work_.recomputed / n;
  scores.values["seconds_per_sample"] = work_.seconds_per_sample / n;
  return scores;
}

Scores physics_summary(const Samples& samples, const Pde& pde) {
  PhysicsSummary summary(pde);
  summary.add(samples);
  return summary.scores();
}

Scores error_summary(const Tensor& x, const Tensor& truth, const Pde& pde, const Normalizer& normalizer) {
  const auto error =
      (normalizer.to_network(x.to(torch::kFloat64)) - normalizer.to_network(truth.to(torch::kFloat64))).square();
  Scores scores;
  for (int64_t c = 0; c < pde.num_channels(); ++c)
    scores.values["mse_" + pde.channels()[static_cast<size_t>(c)].name] = error.select(1, c).mean().item<double>();
  return scores;
}

Scores spread_summary(const Tensor& deviation, const Pde& pde, const Normalizer& normalizer) {
  Scores scores;
  for (int64_t c = 0; c < pde.num_channels(); ++c)
    scores.values["spread_" + pde.channels()[static_cast<size_t>(c)].name] =
        (deviation.select(1, c) / normalizer.scale(c)).square().mean().sqrt().item<double>();
  return scores;
}

}  // namespace piddm
