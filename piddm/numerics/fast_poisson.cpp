#include "piddm/numerics/fast_poisson.h"

#include "piddm/core/error.h"
#include "piddm/numerics/sine_transform.h"

namespace piddm {

FastPoisson::FastPoisson(int64_t n, torch::ScalarType dtype, torch::Device device)
    : sine_(sine_matrix(n, dtype, device)) {
  const Tensor lambda = sine_eigenvalues(n, 1.0 / static_cast<double>(n));
  inverse_ = (lambda.unsqueeze(1) + lambda).reciprocal().to(device, dtype);
}

Tensor FastPoisson::solve(const Tensor& f, double a0) const {
  require<UsageError>(a0 > 0, "[fast poisson] a0 = {}: must be positive", a0);
  const Tensor modes = apply_both_axes(sine_, f, sine_.t()) * inverse_;
  const Tensor u = apply_both_axes(sine_.t(), modes, sine_);
  return a0 == 1 ? u : u / a0;
}

}  // namespace piddm
