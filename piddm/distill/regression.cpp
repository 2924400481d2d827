#include "piddm/distill/regression.h"

#include <cmath>

namespace piddm {

Regression::Regression(const Student& student, const Model& model, PairSource& pairs, const StudentLossOptions& options,
                       int64_t batch, uint64_t seed)
    : StudentObjective(student, model, options), pool_(pairs, batch, seed) {
  const auto count = std::llround(options.fresh * static_cast<double>(batch));
  if (options.physics() && count > 0) fresh_.emplace(model, seed, count, 1);
}

void Regression::prepare(int64_t step) {
  const auto pairs = pool_.batch(step);
  const auto latents = fresh_ ? torch::cat({pairs.latents, fresh_->normal(step, 0)}) : pairs.latents;
  if (!latents_.defined()) latents_ = torch::empty_like(latents), targets_ = torch::empty_like(pairs.targets);
  latents_.copy_(latents);
  targets_.copy_(pairs.targets);
  prepared_ = step;
}

Loss Regression::loss(int64_t step) {
  if (prepared_ != step) prepare(step);
  const auto x = student_.soft(latents_);
  const auto paired = x.narrow(0, 0, targets_.size(0));
  return with_physics("sample", distance(paired, targets_), x, step);
}

}  // namespace piddm
