#include "piddm/model/flow.h"

#include "piddm/core/interrupt.h"

namespace piddm {

Integration flow(const Model& model, const Tensor& noise, const IntegratorOptions& options,
                 const std::function<void()>& after_step) {
  auto& network = *model.network;
  const double t_end = model.process->t_end();
  const auto v = [&](const Tensor& x, const Tensor& t) {
    throw_if_interrupted("sampling");
    return network(x, t);
  };
  if (options.kind == IntegratorKind::adaptive || options.steps < 1) {
    auto result = integrate(v, noise, options, t_end);
    after_step();
    return result;
  }
  const int64_t evaluations = evaluations_per_step(options.kind);
  const std::string name = options.kind == IntegratorKind::heun ? "heun step" : "euler step";
  const auto step = [&](const Tensor& x, const Tensor& times) { return fixed_step(options.kind, v, x, times); };
  const auto times = step_times(TimeGrid(options.steps, options.spacing, t_end), noise);
  auto x = noise;
  for (int64_t i = 0; i < options.steps; ++i) {
    throw_if_interrupted("sampling");
    x = network.recorded_step(name, x, times[i], evaluations, step);
    after_step();
  }
  return {x, options.steps * evaluations, options.steps, 0};
}

}  // namespace piddm
