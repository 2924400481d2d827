#include "piddm/eval/summary.h"

#include "piddm/data/statistics.h"

namespace piddm {

Scores physics_summary(const Samples& samples, const Pde& pde) {
  const auto statistics = residual_statistics(pde, samples.x);
  Scores scores;
  scores.values["pde_error"] = statistics.mean_pde_error();
  scores.values["rel_residual"] = statistics.rel_residual();
  if (statistics.boundary.defined()) scores.values["boundary_error"] = statistics.mean_boundary_error();
  scores.values["nfe"] = samples.nfe;
  scores.values["backward"] = samples.backward;
  if (samples.recomputed > 0) scores.values["recomputed"] = samples.recomputed;
  scores.values["seconds_per_sample"] = samples.seconds_per_sample;
  return scores;
}

Scores error_summary(const Tensor& x, const Tensor& truth, const Pde& pde, const Normalizer& normalizer) {
  const auto error =
      (normalizer.to_network(x.to(torch::kFloat64)) - normalizer.to_network(truth.to(torch::kFloat64))).square();
  Scores scores;
  for (int64_t c = 0; c < pde.num_channels(); ++c)
    scores.values["mse_" + pde.channels()[static_cast<size_t>(c)].name] = error.select(1, c).mean().item<double>();
  return scores;
}

}  // namespace piddm
