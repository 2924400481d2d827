#include "piddm/solve/methods/dflow.h"

#include "piddm/core/log.h"
#include "piddm/solve/methods/equation_rows.h"

namespace piddm {

DflowMethod::DflowMethod(const Model& model, const DflowOptions& options)
    : BatchedMethod("dflow", model, ModelKind::teacher, options.batch),
      options_(in_bounds(options)),
      trajectory_(model, options.steps, options.segment, options.spacing) {
  require<UsageError>(options.task.iterations >= 1, "task.iterations: must be at least 1, got {}",
                      options.task.iterations);
  if (options.lambda < 0) options_.lambda = model.training.lambda;
}

Evaluations DflowMethod::evaluations(const DflowOptions& o, Task) {
  constexpr double kRepeats = 1.3;  // segments are computed twice
  return {0, kRepeats * static_cast<double>(o.steps) * static_cast<double>(o.task.iterations)};
}

DflowOptions DflowMethod::matched(DflowOptions options) {
  options.task.iterations = compute_share(options.task.iterations, 2, 5);
  return options;
}

Tensor DflowMethod::loss(const Tensor& z, const Target& known) const {
  const auto mixed = options_.hard ? known.mixed(z) : z;
  const double beside = options_.lambda > 0 ? options_.boundary / options_.lambda : 0;
  const auto residual = options_.lambda * residual_norm(model_, mixed, beside);
  return known.empty() ? residual : known.misfit(z) + residual;
}

Evaluation DflowMethod::evaluate(const Tensor& noise, const Target& known) {
  return trajectory_.evaluate(noise, [&](const Tensor& z) { return loss(z, known); });
}

Tensor DflowMethod::sample(const Batch& batch) {
  bool finite = true;
  const int64_t before = trajectory_.recomputed();
  const BatchObjective objective = [&](const Tensor& e) {
    auto evaluation = evaluate(e, batch.known);
    finite = finite && all_finite(evaluation.value);
    advance();
    return evaluation;
  };
  const auto e = minimize_latents(objective, noise(batch), options_.task);
  recomputed_ += trajectory_.recomputed() - before;
  if (!finite) spdlog::warn("[dflow] some trajectories were not finite; the best noise found before is kept");
  const WorkMeter output(*model_.network);
  const auto z = trajectory_.end(e);
  uncounted_ += output.spent().forward;
  return options_.hard ? batch.known.mixed(z) : z;
}

int64_t DflowMethod::extra_bytes() const {
  const int64_t state = 4 * model_.pde->num_channels() * model_.pde->grid().points();
  const int64_t segment = options_.segment == 0 ? options_.steps : options_.segment;
  return options_.steps / segment * state + (segment - 1) * model_.bytes_per_sample(true);
}

}  // namespace piddm
