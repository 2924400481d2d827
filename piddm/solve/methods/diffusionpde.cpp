#include "piddm/solve/methods/diffusionpde.h"

namespace piddm {

DiffusionPdeMethod::DiffusionPdeMethod(const Model& model, const DiffusionPdeOptions& options)
    : BatchedMethod("diffusionpde", model, ModelKind::teacher, options.batch), options_(in_bounds(options)) {
  if (options.guidance.eta < 0) options_.guidance.eta = model.training.lambda;
}

DiffusionPdeOptions DiffusionPdeMethod::matched(DiffusionPdeOptions options) {
  options.guidance.steps = compute_share(options.guidance.steps, 4, 5);
  return options;
}

Tensor DiffusionPdeMethod::sample(const Batch& batch) {
  const auto z = guided_sample(model_, noise(batch), batch.known, options_.guidance, name(), [this] { advance(); });
  return options_.hard ? batch.known.mixed(z) : z;
}

}  // namespace piddm
