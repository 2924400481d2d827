#include "piddm/solve/methods/piddm.h"

#include <cmath>

#include "piddm/core/log.h"
#include "piddm/numerics/smooth_fill.h"

namespace piddm {

namespace {

/// Rows whose sum of squares is the mean of x^2.
Tensor mean_rows(const Tensor& x) {
  const auto flat = x.flatten(1);
  return flat / std::sqrt(static_cast<double>(flat.size(1)));
}

/// Rows whose sum of squares is the mean over the fields of the mean of their squares.
Tensor mean_rows(const std::vector<Tensor>& fields) {
  if (fields.size() == 1) return mean_rows(fields.front());
  std::vector<Tensor> rows;
  for (const auto& field : fields) rows.push_back(mean_rows(field) / std::sqrt(static_cast<double>(fields.size())));
  return torch::cat(rows, 1);
}

constexpr double kPreconditionedLambda = 10, kPlainLambda = 1, kAnnealed = 10;

bool preconditioned(const PiddmOptions& options, const Pde& pde) {
  return options.precondition && pde.has_preconditioner();
}

void report_evaluations(const Tensor& evaluations, int64_t first) {
  spdlog::info("[piddm] cases {} to {}: {} to {} evaluations per case, median {}", first,
               first + evaluations.size(0) - 1, evaluations.min().item<int64_t>(), evaluations.max().item<int64_t>(),
               evaluations.median().item<int64_t>());
}

HeadOptions relaxed(HeadOptions heads) {
  heads.sharp = false;
  return heads;
}

}  // namespace

PiddmMethod::PiddmMethod(const Model& model, const PiddmOptions& options)
    : BatchedMethod("piddm", model, ModelKind::student, options.batch),
      student_(model),
      relaxed_(model, relaxed(model.heads)),
      rows_(model.pde, model.normalizer),
      options_(in_bounds(options)) {
  require<UsageError>(!options.randomize || (options.starts == 1 && options.candidates == 1),
                      "randomize: a draw has one start; set starts=1 and candidates=1");
  if (options.lambda < 0) options_.lambda = preconditioned(options_, *model.pde) ? kPreconditionedLambda : kPlainLambda;
}

Evaluations PiddmMethod::evaluations(const PiddmOptions& o, Task task) {
  return {1, static_cast<double>(task == Task::generate ? o.refine.iterations : o.task.iterations * o.starts)};
}

std::optional<Suitability> PiddmMethod::suits(const Problem&) {
  return Suitability{Merit::searched, "the model is a student, no posterior: its latent searched on data and equation"};
}

PiddmOptions PiddmMethod::within(PiddmOptions options, Task task, int64_t evaluations) {
  if (task == Task::generate)
    options.refine.iterations = evaluations > 1 ? evaluations : 0;
  else
    options.task.iterations = std::max<int64_t>(1, evaluations / options.starts);
  return options;
}

Tensor PiddmMethod::sample(const Batch& batch) {
  const bool observed = !batch.known.empty();
  const auto e = observed ? best_latents(batch) : refined_latents(batch);
  const torch::NoGradGuard no_grad;
  const auto z = (observed ? relaxed_ : student_)(e);
  if (iterations(observed) > 0) uncounted_ += model_.heads.evaluations * batch.count;
  advance();
  return observed && options_.hard ? completed(z, batch.known) : z;
}

Tensor PiddmMethod::refined_latents(const Batch& batch) {
  const RowFunction f = [&](const Tensor& e, const Tensor&) { return physics_rows(student_(e), false); };
  const auto& refine = options_.refine;
  if (refine.tolerance == 0 && refine.optimizer != LatentOptimizer::gauss_newton) {  // nothing to be told but the end
    const auto loss = [&](const Tensor& e) { return f(e, {}).square().sum(1); };
    return minimize_latents(loss, noise(batch), refine);
  }
  const auto end = minimize_squares(f, noise(batch), refine);
  unmetered_ += end.tangents;
  return end.x;
}

PiddmMethod::Anchor PiddmMethod::Anchor::select(const Tensor& starts) const {
  const auto part = [&](const Tensor& x) { return x.defined() ? x.index_select(0, starts) : x; };
  return {part(e), part(physics)};
}

PiddmMethod::Anchor PiddmMethod::anchor_of(const Batch& batch, const Tensor& start) const {
  if (!options_.randomize) return {};
  const torch::NoGradGuard no_grad;
  const auto like = physics_rows(batch.known.values.narrow(0, 0, 1), preconditioned(options_, *model_.pde));
  return {start.detach(), normal(batch.seed, Stream::physics_noise, batch.first, batch.count, {like.size(1)},
                                 like.scalar_type(), like.device())};
}

LatentResult PiddmMethod::search(const Tensor& e, const Target& target, const Anchor& anchor) const {
  const int64_t cases = target.mask.size(0), starts = options_.starts;
  const auto stage = [&](const Tensor& from, double lambda, int64_t iterations) {
    const RowFunction f = [&](const Tensor& x, const Tensor& rows_of) {
      const bool all = starts == 1 && rows_of.size(0) == cases;
      if (all) return rows(x, target, lambda, anchor);
      return rows(x, target.select(rows_of.div(starts, "floor")), lambda, anchor.select(rows_of));
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

Tensor PiddmMethod::best_latents(const Batch& batch) {
  const int64_t cases = batch.count, starts = options_.starts;
  const auto target = options_.randomize ? batch.known.perturbed(batch.seed, batch.first) : batch.known;
  const auto start = starts_of(batch);
  const auto end = search(start, target, anchor_of(batch, start));
  unmetered_ += end.tangents;
  const int64_t tried = options_.candidates > starts ? options_.candidates : 0;
  if (batch.first == 0) case_evaluations_.clear();
  case_evaluations_.push_back(end.evaluations.view({cases, starts}).sum(1) + tried);
  if (options_.task.tolerance > 0) report_evaluations(case_evaluations_.back(), batch.first);
  const auto value = end.value.to(batch.known.mask.device()).nan_to_num(INFINITY).view({cases, starts});
  const auto best = torch::arange(cases, value.options().dtype(torch::kLong)) * starts + value.argmin(1);
  return end.x.index_select(0, best);
}

Tensor PiddmMethod::starts_of(const Batch& batch) const {
  const torch::NoGradGuard no_grad;
  const int64_t starts = options_.starts, tried = std::max(options_.candidates, starts);
  std::vector<Tensor> latents, values;
  for (int64_t j = 0; j < tried; ++j) {
    latents.push_back(options_.randomize ? noise(batch, j) : options_.spread * noise(batch, j));
    if (tried > starts) values.push_back(task_loss(latents.back(), batch.known).nan_to_num(INFINITY));
  }
  auto all = torch::stack(latents, 1).flatten(0, 1);
  if (tried == starts) return all;
  const auto best = std::get<1>(torch::stack(values, 1).topk(starts, 1, /*largest=*/false));
  return all.index_select(0, (torch::arange(batch.count, best.options()).unsqueeze(1) * tried + best).flatten());
}

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

Tensor PiddmMethod::misfit_rows(const Tensor& z, const Target& target) const {
  const auto n = target.known_values();
  const auto entries = ((target.weight / n.view({-1, 1, 1, 1})).sqrt() * (z - target.values)).flatten(1);
  const auto& f = target.functionals;
  if (f.empty()) return entries;
  const auto of_rows = (f.trust / n.index_select(0, f.sample)).sqrt() * (f.apply(z) - f.value);
  return torch::cat({entries, f.padded(of_rows, z.size(0))}, 1);
}

Tensor PiddmMethod::unit(const Target& target) const {
  const auto n = target.known_values(), one = torch::ones_like(n);
  const auto of_exact = options_.randomize ? n / (2 * kExactSigma * kExactSigma) : one;
  return torch::where(target.noisy(), n / (2 * kBalancedSigma * kBalancedSigma), of_exact).sqrt().unsqueeze(1);
}

Tensor PiddmMethod::rows(const Tensor& e, const Target& target, double lambda, const Anchor& anchor) const {
  const auto z = relaxed_(e);
  std::vector<Tensor> all = {misfit_rows(z, target)};
  if (lambda > 0)
    all.push_back(std::sqrt(lambda) *
                  physics_rows(options_.hard ? target.mixed(z) : z, preconditioned(options_, *model_.pde)));
  if (options_.randomize || target.noisy().any().item<bool>())
    for (auto& part : all) part = unit(target) * part;
  if (anchor.e.defined()) {
    if (lambda > 0) all.back() = all.back() + std::sqrt(0.5) * anchor.physics;
    all.push_back(std::sqrt(0.5) * (e - anchor.e).flatten(1));
  }
  return all.size() == 1 ? all.front() : torch::cat(all, 1);
}

Tensor PiddmMethod::physics_rows(const Tensor& z, bool precondition) const {
  const auto h = rows_(z);
  const auto edge = rows_.boundary(h);
  const auto rows = precondition ? mean_rows(rows_.implied_error(h, &Normalizer::std)) : mean_rows(rows_.equations(h));
  // lambda |rows|^2 is lambda ||R||^2 + boundary ||B||^2
  const double weight = options_.lambda > 0 ? options_.boundary / options_.lambda : 0;
  return weight == 0 || edge.size(3) == 0 ? rows : torch::cat({rows, std::sqrt(weight) * mean_rows(edge)}, 1);
}

}  // namespace piddm
