#include "piddm/solve/methods/cocogen.h"

#include "piddm/solve/methods/divergence.h"

namespace piddm {

CocogenMethod::CocogenMethod(const Model& model, const CocogenOptions& options)
    : BatchedMethod("cocogen", model, ModelKind::teacher, options.batch), options_(in_bounds(options)) {
  require<UsageError>(options.last <= options.steps, "last: must be at most steps ({}), got {}", options.steps,
                      options.last);
}

namespace {

/// The sum of r^2 over all samples and equations.
Tensor square_sum(const Pde& pde, const Residual& r) {
  const auto equations = pde.equations();
  Tensor sum = r.fields[0].interior.square().sum();
  for (size_t i = 1; i < equations.size(); ++i)
    sum = sum + (r.fields[i].interior * (equations[i].scale / equations[0].scale)).square().sum();
  return sum;
}

}  // namespace

Tensor CocogenMethod::corrected(const Tensor& z, const Target& known) const {
  const torch::AutoGradMode with_gradient(true);
  const auto leaf = z.detach().requires_grad_(true);
  const auto square = square_sum(*model_.pde, model_.pde->residual(model_.normalizer.to_physical(leaf)));
  const auto g = torch::autograd::grad({square}, {leaf})[0];
  const int64_t solution = model_.pde->num_solution_channels();
  const auto g_u = g.narrow(1, 0, solution);
  const auto largest = g_u.abs().flatten(1).amax(1).clamp_min(1e-30).view({-1, 1, 1, 1});
  auto step = torch::zeros_like(g);
  step.narrow(1, 0, solution).copy_(g_u * (options_.correction / largest));
  return known.mixed(z - step);
}

CocogenOptions CocogenMethod::within(const CocogenOptions& options, Task /*task*/, int64_t evaluations) {
  auto o = with_steps(options, evaluations);
  o.last = std::min(o.last, o.steps);
  return o;
}

std::vector<SearchFamily> CocogenMethod::search(const Model&, Task) {
  return {{.name = "corrections",
           .axes = {{.key = "last", .choices = {0, 10, 20, 50}},
                    {.key = "after", .low = 1, .high = 1000, .whole = true},
                    {.key = "correction", .low = 1e-5, .high = 3e-2},
                    {.key = "spacing", .choices = {"uniform", "quadratic"}}}}};
}

Tensor CocogenMethod::sample(const Batch& batch) {
  const torch::NoGradGuard no_grad;
  const auto e = noise(batch);
  const TeacherSteps steps(model_, options_.steps, options_.spacing);
  DivergenceGuard guard(name(), e);
  auto x = e;
  for (int64_t i = 0; i < options_.steps; ++i) {
    if (!batch.known.empty())
      x = torch::where(batch.known.mask > 0, model_.process->diffuse(batch.known.values, e, steps.time(i, x)), x);
    const auto v = steps.velocity(x, i);
    auto next = steps.euler(x, v, i);
    if (i >= options_.steps - options_.last) next = corrected(next, {});
    x = guard.step(next, steps.clean(x, v, i));
    advance();
  }
  x = batch.known.mixed(guard.finish(x));
  for (int64_t k = 0; k < options_.after; ++k) {
    x = corrected(x, batch.known);
    advance();
  }
  return x;
}

}  // namespace piddm
