#include "piddm/solve/methods/direct.h"

#include "piddm/core/interrupt.h"
#include "piddm/core/progress.h"
#include "piddm/core/stopwatch.h"

namespace piddm {

namespace {

// Gradients of means over thousands of entries are small; these let L-BFGS go on to round-off.
constexpr double kGradientTolerance = 1e-13, kChangeTolerance = 1e-15;

Tensor mean_square(const Tensor& x) { return x.square().mean({1, 2, 3}); }

}  // namespace

DirectMethod::DirectMethod(const Model& model, const DirectOptions& options)
    : model_(model), rows_(model.pde, model.normalizer), options_(options) {
  require<UsageError>(options.batch >= 1, "method.batch: must be at least 1, got {}", options.batch);
  require<UsageError>(options.iterations >= 1, "method.iterations: must be at least 1, got {}", options.iterations);
  require<UsageError>(options.lambda >= 0 && options.ridge >= 0, "method.lambda and method.ridge must not be negative");
}

std::string DirectMethod::refusal(Task task, const Pde&) {
  return task == Task::generate ? "it knows no law to draw from; it only fits observations" : "";
}

Samples DirectMethod::generate(int64_t, int64_t, uint64_t) {
  throw UsageError("[direct] {}", refusal(Task::generate, *model_.pde));
}

Tensor DirectMethod::minimum(const Target& target) const {
  const auto& pde = *model_.pde;
  const Tensor start = torch::zeros_like(target.values), free = 1 - (options_.hard ? target.exact : 0 * target.exact);
  const bool fast = options_.precondition && pde.has_preconditioner() && pde.solution(free).mean().item<double>() > 0.5;
  const Tensor unit = LinearizedRows(rows_, options_.hard ? target.mixed(start) : start, free).mean_square_row().sqrt();
  const auto physics = [&](const Tensor& z) {
    const auto h = rows_(z);
    const auto inside = rows_.interior(h), edge = rows_.boundary(h);
    const auto error = fast ? pde.precondition(inside) / (pde.residual_scale() * model_.normalizer.scale(0))
                            : inside / unit.clamp_min(1e-300);
    return edge.size(3) == 0 ? mean_square(error) : mean_square(error) + mean_square(edge);
  };
  const auto loss = [&](const Tensor& z) {
    throw_if_interrupted("optimising fields");
    auto value = target.misfit(z);
    if (options_.lambda > 0) value = value + options_.lambda * physics(options_.hard ? target.mixed(z) : z);
    return options_.ridge > 0 ? value + options_.ridge * mean_square(z) : value;
  };
  if (options_.optimizer != LatentOptimizer::lbfgs)
    return minimize_latents(loss, start, {options_.optimizer, options_.iterations, options_.step});
  return minimize_lbfgs(with_gradient(loss), start,
                        {.iterations = options_.iterations,
                         .history = 20,
                         .tolerance_grad = kGradientTolerance,
                         .tolerance_change = kChangeTolerance,
                         .max_evaluations = options_.iterations})
      .x;
}

Samples DirectMethod::solve(const Observation& observation, uint64_t) {
  const auto target = make_target(observation, model_, name(), torch::kFloat64);
  check_given_coefficients(target, model_, name());
  const int64_t n = target.mask.size(0);
  const Stopwatch watch;
  Progress progress("fitting fields", n);
  std::vector<Tensor> parts;
  for (int64_t at = 0; at < n; at += options_.batch) {
    const auto part = target.narrow(at, std::min(options_.batch, n - at));
    const auto z = minimum(part);
    parts.push_back(options_.hard ? part.mixed(z) : z);
    progress.advance(part.mask.size(0));
  }
  const auto x = model_.normalizer.to_physical(torch::cat(parts)).to(torch::kCPU);
  return {x, 0, 0, watch.seconds() / static_cast<double>(n)};
}

}  // namespace piddm
