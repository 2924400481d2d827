#include "piddm/numerics/fast_poisson.h"

#include "piddm/core/error.h"
#include "piddm/numerics/sine_transform.h"

namespace piddm {

Tensor laplace_eigenvalues(int64_t n, Walls walls) {
  const Tensor lambda = walls == Walls::on_points ? node_sine_eigenvalues(n, 1.0 / static_cast<double>(n + 1))
                                                  : sine_eigenvalues(n, 1.0 / static_cast<double>(n));
  return lambda.unsqueeze(1) + lambda;
}

FastPoisson::FastPoisson(int64_t n, torch::ScalarType dtype, torch::Device device, Walls walls, double shift)
    : walls_(walls), inverse_((laplace_eigenvalues(n, walls) - shift).reciprocal().to(device, dtype)) {}

Tensor FastPoisson::solve(const Tensor& f, double a0) const {
  require<UsageError>(a0 > 0, "[fast poisson] a0 = {}: must be positive", a0);
  const Tensor u = walls_ == Walls::on_points ? node_sine_transform(node_sine_transform(f) * inverse_)
                                              : inverse_sine_transform(sine_transform(f) * inverse_);
  return a0 == 1 ? u : u / a0;
}

}  // namespace piddm
