#include "piddm/distill/regression.h"

namespace piddm {

Loss Regression::loss(int64_t step) {
  const auto pairs = pool_.batch(step);
  const auto x = student_(pairs.latents);
  return with_physics("sample", distance(x, pairs.targets), x, step);
}

}  // namespace piddm
