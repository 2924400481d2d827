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
  const auto times = step_times(TimeGrid(options.steps, options.spacing, t_end), noise);
  auto x = noise;
  for (int64_t i = 0; i < options.steps; ++i) {
    throw_if_interrupted("sampling");
    const auto kind = step_kind(options, i);
    const auto step = [&](const Tensor& x_t, const Tensor& row) { return fixed_step(kind, v, x_t, row); };
    x = network.recorded_step(kind == IntegratorKind::heun ? "heun step" : "euler step", x, times[i],
                              evaluations_of_step(kind), step);
    after_step();
  }
  return {x, evaluations_of(options.kind, options.steps), options.steps, 0};
}

}  // namespace piddm
