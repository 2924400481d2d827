#include "piddm/eval/summary.h"

#include "piddm/data/statistics.h"

namespace piddm {

json physics_summary(const Samples& samples, const Pde& pde) {
  const auto statistics = residual_statistics(pde, samples.x);
  json out = {{"pde_error", statistics.mean_pde_error()}, {"rel_residual", statistics.rel_residual()}};
  if (statistics.boundary.defined()) out["boundary_error"] = statistics.mean_boundary_error();
  out.update({{"nfe", samples.nfe}, {"backward", samples.backward}});
  if (samples.recomputed > 0) out["recomputed"] = samples.recomputed;
  out["seconds_per_sample"] = samples.seconds_per_sample;
  return out;
}

json error_summary(const Tensor& x, const Tensor& truth, const Pde& pde, const Normalizer& normalizer) {
  const auto error =
      (normalizer.to_network(x.to(torch::kFloat64)) - normalizer.to_network(truth.to(torch::kFloat64))).square();
  json out = json::object();
  for (int64_t c = 0; c < pde.num_channels(); ++c)
    out["mse_" + pde.channels()[static_cast<size_t>(c)].name] = error.select(1, c).mean().item<double>();
  return out;
}

}  // namespace piddm
