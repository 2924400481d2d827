#include "piddm/solve/piddm.h"

#include "piddm/core/interrupt.h"
#include "piddm/core/progress.h"
#include "piddm/core/stopwatch.h"
#include "piddm/pde/physics_loss.h"

namespace piddm {

PiddmMethod::PiddmMethod(const Model& model, const PiddmOptions& options)
    : model_(model), student_(model), options_(options) {
  require<UsageError>(model.kind == ModelKind::student,
                      "[piddm] this model is a teacher; distil it first, or use the method teacher");
  require<UsageError>(options.batch >= 1, "method.batch: must be at least 1, got {}", options.batch);
  for (auto& parameter : model_.network->parameters()) parameter.set_requires_grad(false);
}

Samples PiddmMethod::generate(int64_t first, int64_t n, uint64_t seed) {
  const bool refine = options_.refine.iterations > 0;
  const auto loss = [&](const Tensor& e) { return plain_norm(student_(e)); };
  const WorkMeter meter(student_.network());
  const Stopwatch watch;
  Progress progress(refine ? "refined samples" : "one-step samples", n);
  std::vector<Tensor> parts;
  for (int64_t at = 0; at < n; at += options_.batch) {
    throw_if_interrupted("generating");
    const int64_t count = std::min(options_.batch, n - at);
    const auto e = minimize_latents(loss, model_.latents(seed, Stream::latents, first + at, count), options_.refine);
    torch::NoGradGuard no_grad;
    parts.push_back(student_(e));
    progress.advance(count);
  }
  return finish(parts, meter, watch.seconds(), refine);
}

Samples PiddmMethod::solve(const Observation& observation, uint64_t seed) {
  const auto target = make_target(observation, model_, name());
  const int64_t n = target.mask.size(0);
  const WorkMeter meter(student_.network());
  const Stopwatch watch;
  Progress progress("solving", n);
  std::vector<Tensor> parts;
  for (int64_t at = 0; at < n; at += options_.batch) {
    const int64_t count = std::min(options_.batch, n - at);
    const auto part = target.narrow(at, count);
    const auto e = minimize_latents([&](const Tensor& latent) { return task_loss(latent, part); },
                                    model_.latents(seed, Stream::tasks, at, count), options_.task);
    torch::NoGradGuard no_grad;
    const auto z = student_(e);
    parts.push_back(options_.hard ? part.mixed(z) : z);
    progress.advance(count);
  }
  return finish(parts, meter, watch.seconds(), options_.task.iterations > 0);
}

Tensor PiddmMethod::task_loss(const Tensor& e, const Target& target) const {
  const auto z = student_(e);
  const auto misfit = target.misfit(z);
  if (options_.lambda == 0) return misfit;
  return misfit + options_.lambda * residual_norm(options_.hard ? target.mixed(z) : z);
}

Tensor PiddmMethod::plain_norm(const Tensor& z) const {
  const auto physics = physics_loss(*model_.pde, model_.normalizer.to_physical(z));
  // lambda times this is lambda ||R||^2 + boundary ||B||^2
  const double weight = options_.lambda > 0 ? options_.boundary / options_.lambda : 0;
  return weighted(physics, weight, model_.normalizer.std(0));
}

Tensor PiddmMethod::residual_norm(const Tensor& z) const {
  if (!options_.precondition || !model_.pde->has_preconditioner()) return plain_norm(z);
  const auto x = model_.normalizer.to_physical(z);
  const auto error = model_.pde->precondition(model_.pde->residual(x).interior);
  return (error / model_.normalizer.std(0)).square().mean({1, 2, 3});
}

Samples PiddmMethod::finish(const std::vector<Tensor>& parts, const WorkMeter& meter, double seconds,
                            bool optimised) const {
  const auto x = model_.normalizer.to_physical(torch::cat(parts)).to(torch::kCPU);
  const auto n = static_cast<double>(x.size(0));
  const auto spent = meter.spent();
  return {x, static_cast<double>(spent.forward) / n - (optimised ? 1 : 0), static_cast<double>(spent.backward) / n,
          seconds / n};
}

}  // namespace piddm
