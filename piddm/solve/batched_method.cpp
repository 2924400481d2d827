#include "piddm/solve/batched_method.h"

#include "piddm/core/interrupt.h"
#include "piddm/core/stopwatch.h"
#include "piddm/solve/batching.h"

namespace piddm {

namespace {

void require_kind(const Model& model, ModelKind kind, const std::string& method) {
  if (model.kind == kind) return;
  if (kind == ModelKind::teacher)
    throw UsageError("[{}] this model is a student; take its teacher, or name no method", method);
  throw UsageError("[{}] this model is a teacher; distil it first, or name no method", method);
}

}  // namespace

BatchedMethod::BatchedMethod(std::string name, const Model& model, std::optional<ModelKind> kind, int64_t batch)
    : model_(model), name_(std::move(name)), batch_(batch) {
  if (kind) require_kind(model, *kind, name_);
  require<UsageError>(batch >= 0, "method.batch: must not be negative, got {}", batch);
  for (auto& parameter : model_.network->parameters()) parameter.set_requires_grad(false);
}

Samples BatchedMethod::generate(int64_t first, int64_t n, uint64_t seed) {
  return run(Stream::latents, first, n, seed, {});
}

Samples BatchedMethod::solve(const Observation& observation, uint64_t seed) {
  const auto known = make_target(observation, model_, name_, dtype());
  check(known);
  return run(Stream::tasks, 0, known.mask.size(0), seed, known);
}

Samples BatchedMethod::run(Stream stream, int64_t first, int64_t n, uint64_t seed, const Target& known) {
  const bool observed = !known.empty();
  const int64_t latents = choose_batch(batch_, model_, uses_gradient(observed), extra_bytes());
  const int64_t size = std::max<int64_t>(latents / latents_per_sample(observed), 1);
  const WorkMeter meter(*model_.network);
  const Stopwatch watch;
  uncounted_ = recomputed_ = unmetered_ = 0;
  progress_ = std::make_unique<Progress>(name_, (n + size - 1) / size * steps(observed));
  std::vector<Tensor> parts;
  for (int64_t at = 0; at < n; at += size) {
    const int64_t count = std::min(size, n - at);
    parts.push_back(sample({seed, stream, first + at, count, known.narrow(at, count)}).detach());
  }
  progress_.reset();
  const auto x = to_physical(torch::cat(parts)).to(torch::kCPU);
  const auto spent = meter.spent();
  const auto each = [&](int64_t count) { return static_cast<double>(count) / static_cast<double>(n); };
  return {x, each(spent.forward + unmetered_ - uncounted_ - recomputed_), each(spent.backward),
          watch.seconds() / static_cast<double>(n), each(recomputed_)};
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
