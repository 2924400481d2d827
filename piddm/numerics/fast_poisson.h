#pragma once
// Direct solver of -a0 (Laplace u + s u) = f on a rectangle, u = 0 on the walls: sine transform, division by the
// eigenvalues of the five-point stencil, and back. Exact up to round-off; eight half-size GEMMs per sample. Along an
// axis of length L with n points:
//
//   Walls::between_points   cell centres (i+1/2) h, h = L/n: the wall lies half a cell outside (ghost value -u)
//   Walls::on_points        the n inner nodes (i+1) h, h = L/(n+1), of a grid whose outer nodes lie on the wall

#include "piddm/core/tensor.h"
#include "piddm/numerics/box.h"

namespace piddm {

enum class Walls { between_points, on_points };

class FastPoisson {
 public:
  FastPoisson(const Box& box, torch::ScalarType dtype = torch::kFloat64, torch::Device device = torch::kCPU,
              Walls walls = Walls::between_points, double shift = 0);

  /// u for f = [...,H,W] of this dtype and device; differentiable.
  Tensor solve(const Tensor& f, double a0 = 1) const;

 private:
  Walls walls_;
  Tensor inverse_;  // 1/(lambda_k + lambda_l - s), [H,W]
};

/// The eigenvalues lambda_k + lambda_l of -Laplace, float64 [H,W].
Tensor laplace_eigenvalues(const Box& box, Walls walls);

}  // namespace piddm
