#include "piddm/solve/methods/diffusionpde.h"

namespace piddm {

DiffusionPdeMethod::DiffusionPdeMethod(const Model& model, const DiffusionPdeOptions& options)
    : BatchedMethod("diffusionpde", model, ModelKind::teacher, options.batch), options_(options) {
  require<UsageError>(options.steps >= 1, "method.steps: must be at least 1, got {}", options.steps);
  require<UsageError>(options.zeta >= 0, "method.zeta: must not be negative, got {}", options.zeta);
  require<UsageError>(options.switch_at >= 0 && options.switch_at <= 1,
                      "method.switch_at: must be between 0 and 1, got {}", options.switch_at);
  if (options.eta < 0) options_.eta = trained_lambda(model);
}

Tensor DiffusionPdeMethod::sample(const Batch& batch) {
  const auto& o = options_;
  const GuidanceOptions guidance{o.steps,       o.zeta,      o.eta,         o.boundary, o.data_penalty,
                                 o.pde_penalty, o.switch_at, o.late_factor, o.heun,     o.spacing};
  const auto z = guided_sample(model_, noise(batch), batch.known, guidance, name(), [this] { advance(); });
  return o.hard ? with_known(batch.known, z) : z;
}

}  // namespace piddm
