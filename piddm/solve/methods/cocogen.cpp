#include "piddm/solve/methods/cocogen.h"

#include "piddm/solve/methods/divergence.h"

namespace piddm {

CocogenMethod::CocogenMethod(const Model& model, const CocogenOptions& options)
    : BatchedMethod("cocogen", model, ModelKind::teacher, options.batch), options_(options) {
  require<UsageError>(options.steps >= 1, "method.steps: must be at least 1, got {}", options.steps);
  require<UsageError>(options.last >= 0 && options.last <= options.steps,
                      "method.last: must be between 0 and steps, got {}", options.last);
  require<UsageError>(options.after >= 0, "method.after: must not be negative, got {}", options.after);
}

Tensor CocogenMethod::corrected(const Tensor& z, const Known& known) const {
  const torch::AutoGradMode with_gradient(true);
  const auto leaf = z.detach().requires_grad_(true);
  const auto r = model_.pde->residual(model_.normalizer.to_physical(leaf)).interior;
  const auto g = torch::autograd::grad({r.square().sum()}, {leaf})[0];
  const int64_t solution = model_.pde->num_solution_channels();
  const auto g_u = g.narrow(1, 0, solution);
  const auto largest = g_u.abs().flatten(1).amax(1).clamp_min(1e-30).view({-1, 1, 1, 1});
  auto step = torch::zeros_like(g);
  step.narrow(1, 0, solution).copy_(g_u * (options_.correction / largest));
  return with_known(known, z - step);
}

Tensor CocogenMethod::sample(const Batch& batch) {
  const torch::NoGradGuard no_grad;
  const auto e = noise(batch);
  const auto& process = *model_.process;
  const TimeGrid times(options_.steps, options_.spacing, process.t_end());
  DivergenceGuard guard(name(), e);
  auto x = e;
  for (int64_t i = 0; i < options_.steps; ++i) {
    const auto t = torch::full({1}, times.at(i), x.options());
    if (batch.known) x = torch::where(batch.known->mask > 0, process.diffuse(batch.known->values, e, t), x);
    const auto v = (*model_.network)(x, t);
    auto next = x - v * times.step(i);
    if (i >= options_.steps - options_.last) next = corrected(next, std::nullopt);
    x = guard.step(next, process.clean(x, v, t));
    advance();
  }
  x = with_known(batch.known, guard.finish(x));
  for (int64_t k = 0; k < options_.after; ++k) {
    x = corrected(x, batch.known);
    advance();
  }
  return x;
}

}  // namespace piddm
