#include "piddm/distill/regression.h"

#include <cmath>

namespace piddm {

Regression::Regression(const Student& student, const Model& model, PairSource& pairs, const StudentLossOptions& options,
                       int64_t batch, uint64_t seed)
    : StudentObjective(student, model, options), pool_(pairs, batch, seed) {
  const auto count = std::llround(options.fresh * static_cast<double>(batch));
  if (options.physics() && count > 0) fresh_.emplace(model, seed, count, 1);
}

Loss Regression::loss(int64_t step) {
  const auto pairs = pool_.batch(step);
  const auto x = student_(fresh_ ? torch::cat({pairs.latents, fresh_->normal(step, 0)}) : pairs.latents);
  const auto paired = x.narrow(0, 0, pairs.targets.size(0));
  return with_physics("sample", distance(paired, pairs.targets), x, step);
}

}  // namespace piddm
