#pragma once
// Direct solver of -a0 (Laplace u + s u) = f on the unit square, u = 0 on the walls: sine transform, division by the
// eigenvalues of the five-point stencil, and back. Exact up to round-off; eight half-size GEMMs per sample.
//
//   Walls::between_points   cell centres (i+1/2) h, h = 1/n: the wall lies half a cell outside (ghost value -u)
//   Walls::on_points        the n inner nodes (i+1) h, h = 1/(n+1), of a grid whose outer nodes lie on the wall

#include "piddm/core/tensor.h"

namespace piddm {

enum class Walls { between_points, on_points };

class FastPoisson {
 public:
  FastPoisson(int64_t n, torch::ScalarType dtype = torch::kFloat64, torch::Device device = torch::kCPU,
              Walls walls = Walls::between_points, double shift = 0);

  /// u for f = [...,n,n] of this dtype and device; differentiable.
  Tensor solve(const Tensor& f, double a0 = 1) const;

 private:
  Walls walls_;
  Tensor inverse_;  // 1/(lambda_k + lambda_l - s), [n,n]
};

/// The eigenvalues lambda_k + lambda_l of -Laplace, float64 [n,n].
Tensor laplace_eigenvalues(int64_t n, Walls walls);

}  // namespace piddm
