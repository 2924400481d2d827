#include "piddm/solve/piddm.h"

#include "piddm/core/interrupt.h"
#include "piddm/core/progress.h"
#include "piddm/core/stopwatch.h"
#include "piddm/pde/physics_loss.h"

namespace piddm {

namespace {

// b [B] as [B,1,...], to go with samples like x.
Tensor per_sample(const Tensor& b, const Tensor& x) {
  std::vector<int64_t> shape(static_cast<size_t>(x.dim()), 1);
  shape[0] = -1;
  return b.view(shape);
}

// Keeps the best iterate of every sample.
class Best {
 public:
  explicit Best(const Tensor& x) : x_(x.clone()), value_(torch::full({x.size(0)}, INFINITY, x.options())) {}
  void update(const Tensor& x, const Tensor& value) {
    const auto better = value < value_;  // false for NaN
    x_ = torch::where(per_sample(better, x), x, x_);
    value_ = torch::where(better, value, value_);
  }
  const Tensor& x() const { return x_; }

 private:
  Tensor x_, value_;
};

// e <- e - step grad, or Adam with the usual constants; the loss of each sample depends on that sample only.
Tensor descend(const BatchObjective& objective, const Tensor& x0, const LatentOptions& options) {
  auto x = x0.clone(), m = torch::zeros_like(x0), s = torch::zeros_like(x0);
  Best best(x0);
  for (int64_t k = 1; k <= options.iterations; ++k) {
    const auto [value, gradient] = objective(x);
    best.update(x, value);
    const auto g = torch::where(torch::isfinite(gradient), gradient, torch::zeros_like(gradient));
    if (options.optimizer == LatentOptimizer::gd) {
      x = x - options.step * g;
    } else {
      m = 0.9 * m + 0.1 * g;
      s = 0.999 * s + 0.001 * g.square();
      x = x - options.step * (m / (1 - std::pow(0.9, k))) / ((s / (1 - std::pow(0.999, k))).sqrt() + 1e-8);
    }
  }
  return best.x();
}

}  // namespace

Tensor minimize_latents(const std::function<Tensor(const Tensor&)>& loss, const Tensor& x0,
                        const LatentOptions& options) {
  require<UsageError>(options.iterations >= 0, "method: iterations must not be negative, got {}", options.iterations);
  if (options.iterations == 0) return x0;
  const auto objective = with_gradient([&](const Tensor& x) {
    throw_if_interrupted("optimising latents");
    return loss(x);
  });
  if (options.optimizer != LatentOptimizer::lbfgs) return descend(objective, x0, options);
  return minimize_lbfgs(objective, x0, {.iterations = options.iterations, .max_evaluations = options.iterations}).x;
}

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
  model_.pde->check_shape(observation.values);
  model_.pde->check_shape(observation.mask);
  const auto mask = observation.mask.to(model_.device(), torch::kFloat32);
  const auto known = torch::where(mask > 0, observation.values.to(mask.options()), torch::zeros_like(mask));
  require<DataError>(all_finite(known), "[piddm] an observed value is not finite");
  const auto observed = model_.normalizer.to_network(known);

  const int64_t n = mask.size(0);
  const WorkMeter meter(student_.network());
  const Stopwatch watch;
  Progress progress("solving", n);
  std::vector<Tensor> parts;
  for (int64_t at = 0; at < n; at += options_.batch) {
    const int64_t count = std::min(options_.batch, n - at);
    const auto x = observed.narrow(0, at, count), m = mask.narrow(0, at, count);
    const auto e = minimize_latents([&](const Tensor& latent) { return task_loss(latent, x, m); },
                                    model_.latents(seed, Stream::tasks, at, count), options_.task);
    torch::NoGradGuard no_grad;
    const auto z = student_(e);
    parts.push_back(options_.hard ? m * x + (1 - m) * z : z);
    progress.advance(count);
  }
  return finish(parts, meter, watch.seconds(), options_.task.iterations > 0);
}

Tensor PiddmMethod::task_loss(const Tensor& e, const Tensor& observed, const Tensor& mask) const {
  const auto z = student_(e);
  const auto misfit = (mask * (z - observed).square()).sum({1, 2, 3}) / mask.sum({1, 2, 3}).clamp_min(1);
  if (options_.lambda == 0) return misfit;
  return misfit + options_.lambda * residual_norm(options_.hard ? mask * observed + (1 - mask) * z : z);
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
