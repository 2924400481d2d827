#include "piddm/numerics/fast_poisson.h"

#include "piddm/core/error.h"
#include "piddm/numerics/sine_transform.h"

namespace piddm {

namespace {

/// Of -d^2/dx^2 on n points of a side of this length, [n].
Tensor line_eigenvalues(int64_t n, double length, Walls walls) {
  return walls == Walls::on_points ? node_sine_eigenvalues(n, length / static_cast<double>(n + 1))
                                   : sine_eigenvalues(n, length / static_cast<double>(n));
}

}  // namespace

Tensor laplace_eigenvalues(const Box& box, Walls walls) {
  return line_eigenvalues(box.points.height(), box.lengths[0], walls).unsqueeze(1) +
         line_eigenvalues(box.points.width(), box.lengths[1], walls);
}

FastPoisson::FastPoisson(const Box& box, torch::ScalarType dtype, torch::Device device, Walls walls, double shift)
    : walls_(walls), inverse_((laplace_eigenvalues(box, walls) - shift).reciprocal().to(device, dtype)) {}

Tensor FastPoisson::solve(const Tensor& f, double a0) const {
  require<UsageError>(a0 > 0, "[fast poisson] a0 = {}: must be positive", a0);
  const Tensor u = walls_ == Walls::on_points ? node_sine_transform(node_sine_transform(f) * inverse_)
                                              : inverse_sine_transform(sine_transform(f) * inverse_);
  return a0 == 1 ? u : u / a0;
}

}  // namespace piddm
