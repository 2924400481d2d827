#include "piddm/solve/batched_method.h"

#include "piddm/core/interrupt.h"
#include "piddm/core/stopwatch.h"
#include "piddm/solve/batching.h"

namespace piddm {

namespace {

void require_kind(const Model& model, ModelKind kind, const std::string& method) {
  if (model.kind == kind) return;
  require<UsageError>(model.kind != ModelKind::posterior,
                      "[{}] this model is a posterior, which answers by itself; name no method", method);
  if (kind == ModelKind::teacher)
    throw UsageError("[{}] this model is a student; take its teacher, or name no method", method);
  throw UsageError("[{}] this model is a teacher; distil it first, or name no method", method);
}

}  // namespace

BatchedMethod::BatchedMethod(std::string name, const Model& model, std::optional<ModelKind> kind, int64_t batch)
    : model_(model), name_(std::move(name)), batch_(batch) {
  if (kind) require_kind(model, *kind, name_);
  require<UsageError>(batch >= 0, "batch: must not be negative, got {}", batch);
  for (auto& parameter : model_.network->parameters()) parameter.set_requires_grad(false);
}

Samples BatchedMethod::generate(int64_t first, int64_t n, uint64_t seed) {
  return run(Stream::latents, first, n, seed, {});
}

Samples BatchedMethod::solve(const Observation& observation, uint64_t seed) {
  const auto known = make_target(observation, model_, name_, dtype());
  require<UsageError>(known.functionals.empty() || takes_functionals(),
                      "[{}] knows entries of the grid only, not averages, fluxes or places between the entries: take "
                      "another method, or kind = cell for the nearest entry",
                      name_);
  check(known);
  return run(Stream::tasks, 0, known.mask.size(0), seed, known);
}

/// The work since it was made.
class BatchedMethod::Meter {
 public:
  explicit Meter(BatchedMethod& method) : method_(method), network_(*method.model_.network) {
    method.uncounted_ = method.recomputed_ = method.unmetered_ = 0;
  }

  Samples samples(const Tensor& z) const {
    const auto x = method_.to_physical(z).to(torch::kCPU);
    const auto spent = network_.spent();
    const auto n = static_cast<double>(x.size(0));
    const auto each = [&](int64_t count) { return static_cast<double>(count) / n; };
    return {x,
            each(spent.forward + method_.unmetered_ - method_.uncounted_ - method_.recomputed_),
            each(spent.backward),
            watch_.seconds() / n,
            each(method_.recomputed_),
            precision_in_use()};
  }

 private:
  /// A CPU has no other than fp32.
  std::string precision_in_use() const {
    const auto& model = method_.model_;
    const auto precision = model.device().is_cuda() ? model.network->precision() : Precision::fp32;
    return enum_names(precision).at(static_cast<size_t>(precision));
  }

  BatchedMethod& method_;
  WorkMeter network_;
  Stopwatch watch_;
};

void BatchedMethod::generate(int64_t first, int64_t n, uint64_t seed, const std::function<void(Samples&)>& sink) {
  std::optional<Meter> meter(*this);
  each_batch(Stream::latents, first, n, seed, {}, [&](const Tensor& z) {
    auto samples = meter->samples(z);
    sink(samples);
    meter.emplace(*this);
  });
}

Samples BatchedMethod::run(Stream stream, int64_t first, int64_t n, uint64_t seed, const Target& known) {
  const Meter meter(*this);
  std::vector<Tensor> parts;
  each_batch(stream, first, n, seed, known, [&](const Tensor& z) { parts.push_back(z); });
  return meter.samples(torch::cat(parts));
}

void BatchedMethod::each_batch(Stream stream, int64_t first, int64_t n, uint64_t seed, const Target& known,
                               const std::function<void(const Tensor& z)>& sink) {
  const bool observed = !known.empty();
  const int64_t latents = choose_batch(batch_, model_, uses_gradient(observed), extra_bytes());
  const int64_t size = std::max<int64_t>(latents / latents_per_sample(observed), 1);
  if (batch_ > 0 || latents_per_sample(observed) > 1)
    require_batch(batch_ > 0 ? "batch" : "starts", std::min(size, n) * latents_per_sample(observed), model_,
                  uses_gradient(observed), extra_bytes());
  progress_ = std::make_unique<Progress>(name_, (n + size - 1) / size * steps(observed));
  for (int64_t at = 0; at < n; at += size) {
    const int64_t count = std::min(size, n - at);
    throw_if_interrupted("sampling");
    sink(sample({seed, stream, first + at, count, known.narrow(at, count)}).detach());
  }
  progress_.reset();
}

Tensor BatchedMethod::noise(const Batch& batch, int64_t draw) const {
  constexpr int64_t kDraw = int64_t{1} << 32;  // sample numbers are below this
  return model_.latents(batch.seed, batch.stream, batch.first + draw * kDraw, batch.count);
}

void BatchedMethod::advance() {
  throw_if_interrupted("sampling");
  progress_->advance();
}

}  // namespace piddm
