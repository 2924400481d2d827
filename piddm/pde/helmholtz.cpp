#include "piddm/pde/helmholtz.h"

namespace piddm {

Helmholtz::Helmholtz(PdeOptions options) : Poisson(std::move(options)) {
  const double k = parameter("k", 1, 0, 100, "wave number");
  set_shift(k * k, fmt::format("k = {}", k));
}

Tensor Helmholtz::sample_coefficients(uint64_t seed, int64_t first, int64_t count) const {
  return without_ring(Poisson::sample_coefficients(seed, first, count));
}

}  // namespace piddm
