#include "piddm/solve/methods/piddm.h"

#include <cmath>

#include "piddm/core/interrupt.h"
#include "piddm/core/log.h"
#include "piddm/core/progress.h"
#include "piddm/core/stopwatch.h"
#include "piddm/numerics/smooth_fill.h"

namespace piddm {

namespace {

/// The samples `rows` of a target.
Target selected(const Target& target, const Tensor& rows) {
  const auto part = [&](const Tensor& x) { return x.index_select(0, rows); };
  return {part(target.values), part(target.mask), part(target.weight), part(target.exact), part(target.sigma)};
}

/// Rows whose sum of squares is the mean of x^2.
Tensor mean_rows(const Tensor& x) {
  const auto flat = x.flatten(1);
  return flat / std::sqrt(static_cast<double>(flat.size(1)));
}

constexpr double kPreconditionedLambda = 10, kPlainLambda = 1, kAnnealed = 10;

bool preconditioned(const PiddmOptions& options, const Pde& pde) {
  return options.precondition && pde.has_preconditioner();
}

void report_evaluations(const Tensor& evaluations) {
  spdlog::info("[piddm] evaluations a case: {} to {}, median {}", evaluations.min().item<int64_t>(),
               evaluations.max().item<int64_t>(), evaluations.median().item<int64_t>());
}

}  // namespace

PiddmMethod::PiddmMethod(const Model& model, const PiddmOptions& options)
    : model_(model), student_(model), rows_(model.pde, model.normalizer), options_(options) {
  require<UsageError>(model.kind == ModelKind::student,
                      "[piddm] this model is a teacher; distil it first, or use the method teacher");
  require<UsageError>(options.batch >= 1, "method.batch: must be at least 1, got {}", options.batch);
  require<UsageError>(options.starts >= 1, "method.starts: must be at least 1, got {}", options.starts);
  require<UsageError>(options.reach >= 0, "method.reach: must not be negative, got {}", options.reach);
  require<UsageError>(options.spread >= 0, "method.spread: must not be negative, got {}", options.spread);
  require<UsageError>(options.anneal >= 0 && options.anneal < 1, "method.anneal: must be in [0,1), got {}",
                      options.anneal);
  require<UsageError>(options.boundary >= 0, "method.boundary: must not be negative, got {}", options.boundary);
  if (options.lambda < 0) options_.lambda = preconditioned(options_, *model.pde) ? kPreconditionedLambda : kPlainLambda;
  for (auto& parameter : model_.network->parameters()) parameter.set_requires_grad(false);
}

Samples PiddmMethod::generate(int64_t first, int64_t n, uint64_t seed) {
  const bool refine = options_.refine.iterations > 0;
  const RowFunction f = [&](const Tensor& e, const Tensor&) { return physics_rows(student_(e), false); };
  const WorkMeter meter(student_.network());
  const Stopwatch watch;
  Progress progress(refine ? "refined samples" : "one-step samples", n);
  std::vector<Tensor> parts;
  tangents_ = 0;
  for (int64_t at = 0; at < n; at += options_.batch) {
    throw_if_interrupted("generating");
    const int64_t count = std::min(options_.batch, n - at);
    const auto end = minimize_squares(f, model_.latents(seed, Stream::latents, first + at, count), options_.refine);
    tangents_ += end.tangents;
    torch::NoGradGuard no_grad;
    parts.push_back(student_(end.x));
    progress.advance(count);
  }
  return finish(parts, meter, watch.seconds(), refine);
}

Samples PiddmMethod::solve(const Observation& observation, uint64_t seed) {
  const auto target = make_target(observation, model_, name());
  const int64_t n = target.mask.size(0), cases = std::max<int64_t>(options_.batch / options_.starts, 1);
  const WorkMeter meter(student_.network());
  const Stopwatch watch;
  Progress progress("solving", n);
  std::vector<Tensor> parts;
  evaluations_ = torch::zeros({n}, torch::kLong);
  tangents_ = 0;
  for (int64_t at = 0; at < n; at += cases) {
    const auto part = target.narrow(at, std::min(cases, n - at));
    const auto e = best_latents(part, seed, at);
    torch::NoGradGuard no_grad;
    const auto z = output(e, part);
    parts.push_back(options_.hard ? completed(z, part) : z);
    progress.advance(part.mask.size(0));
  }
  if (options_.task.tolerance > 0) report_evaluations(evaluations_);
  return finish(parts, meter, watch.seconds(), options_.task.iterations > 0);
}

LatentResult PiddmMethod::search(const Tensor& e, const Target& target) const {
  const int64_t cases = target.mask.size(0), starts = options_.starts;
  const auto stage = [&](const Tensor& from, double lambda, int64_t iterations) {
    const RowFunction f = [&](const Tensor& x, const Tensor& rows_of) {
      const bool all = starts == 1 && rows_of.size(0) == cases;
      return rows(x, all ? target : selected(target, rows_of.div(starts, "floor")), lambda);
    };
    auto options = options_.task;
    options.iterations = iterations;
    return minimize_squares(f, from, options);
  };
  const auto first = static_cast<int64_t>(options_.anneal * static_cast<double>(options_.task.iterations));
  if (first == 0 || options_.task.optimizer == LatentOptimizer::gauss_newton)
    return stage(e, options_.lambda, options_.task.iterations);
  const auto fitted = stage(e, options_.lambda / kAnnealed, first);
  auto end = stage(fitted.x, options_.lambda, options_.task.iterations - first);
  end.evaluations += fitted.evaluations;
  end.tangents += fitted.tangents;
  return end;
}

Tensor PiddmMethod::best_latents(const Target& target, uint64_t seed, int64_t first) {
  const int64_t cases = target.mask.size(0), starts = options_.starts;
  const auto end = search(starts_of(target, seed, first), target);
  tangents_ += end.tangents;
  const int64_t tried = options_.candidates > starts ? options_.candidates : 0;
  evaluations_.narrow(0, first, cases).copy_(end.evaluations.view({cases, starts}).sum(1) + tried);
  const auto value = end.value.to(target.mask.device()).nan_to_num(INFINITY).view({cases, starts});
  const auto best = torch::arange(cases, value.options().dtype(torch::kLong)) * starts + value.argmin(1);
  return end.x.index_select(0, best);
}

Tensor PiddmMethod::starts_of(const Target& target, uint64_t seed, int64_t first) const {
  constexpr int64_t kDraw = int64_t{1} << 32;  // case numbers are below this
  const torch::NoGradGuard no_grad;
  const int64_t cases = target.mask.size(0), starts = options_.starts, tried = std::max(options_.candidates, starts);
  std::vector<Tensor> latents, values;
  for (int64_t j = 0; j < tried; ++j) {
    latents.push_back(options_.spread * model_.latents(seed, Stream::tasks, first + j * kDraw, cases));
    if (tried > starts) values.push_back(task_loss(latents.back(), target).nan_to_num(INFINITY));
  }
  auto all = torch::stack(latents, 1).flatten(0, 1);
  if (tried == starts) return all;
  const auto best = std::get<1>(torch::stack(values, 1).topk(starts, 1, /*largest=*/false));
  return all.index_select(0, (torch::arange(cases, best.options()).unsqueeze(1) * tried + best).flatten());
}

Tensor PiddmMethod::output(const Tensor& e, const Target&) const { return student_(e); }

Tensor PiddmMethod::completed(const Tensor& z, const Target& target) const {
  const auto& pde = *model_.pde;
  const auto share = target.exact.mean({2, 3}, true);
  const auto in_part = ((share > 0) & (share < 1)).to(z.scalar_type());  // [B,C,1,1]
  for (int64_t c = 0; c < pde.num_channels(); ++c)
    if (pde.channels()[static_cast<size_t>(c)].scalar) in_part.select(1, c).zero_();
  if (options_.reach == 0 || in_part.sum().item<double>() == 0) return target.mixed(z);
  const auto x = z + in_part * smooth_fill(target.values - z, target.exact, options_.reach);
  return target.mixed(model_.normalizer.to_network(admissible(model_.normalizer.to_physical(x))));
}

Tensor PiddmMethod::admissible(const Tensor& x) const {
  const auto& pde = *model_.pde;
  auto out = model_.heads.constrained ? pde.constrain(x) : x.clone();
  for (int64_t c = 0; c < pde.num_channels(); ++c)
    if (const auto& values = pde.channels()[static_cast<size_t>(c)].two_valued)
      out.select(1, c).clamp_(values->first, values->second);
  return out;
}

Tensor PiddmMethod::rows(const Tensor& e, const Target& target, double lambda) const {
  const auto z = output(e, target);
  const auto known = target.mask.sum({1, 2, 3}, true).clamp_min(1);
  auto misfit = ((target.weight / known).sqrt() * (z - target.values)).flatten(1);
  if (lambda == 0) return misfit;
  const auto physics = physics_rows(options_.hard ? target.mixed(z) : z, preconditioned(options_, *model_.pde));
  return torch::cat({misfit, std::sqrt(lambda) * physics}, 1);
}

Tensor PiddmMethod::physics_rows(const Tensor& z, bool precondition) const {
  const auto& pde = *model_.pde;
  const auto h = rows_(z);
  const auto inside = rows_.interior(h), edge = rows_.boundary(h);
  const auto rows =
      mean_rows(precondition ? pde.precondition(inside) / (pde.residual_scale() * model_.normalizer.std(0)) : inside);
  // lambda |rows|^2 is lambda ||R||^2 + boundary ||B||^2
  const double weight = options_.lambda > 0 ? options_.boundary / options_.lambda : 0;
  return weight == 0 || edge.size(3) == 0 ? rows : torch::cat({rows, std::sqrt(weight) * mean_rows(edge)}, 1);
}

Samples PiddmMethod::finish(const std::vector<Tensor>& parts, const WorkMeter& meter, double seconds,
                            bool optimised) const {
  const auto x = model_.normalizer.to_physical(torch::cat(parts)).to(torch::kCPU);
  const auto n = static_cast<double>(x.size(0));
  const auto spent = meter.spent();
  return {x, static_cast<double>(spent.forward + tangents_) / n - (optimised ? 1 : 0),
          static_cast<double>(spent.backward) / n, seconds / n};
}

}  // namespace piddm
