#pragma once
// Direct solver of -a0 Laplace u = f on the cell-centred grid h = 1/n of the unit square, u = 0 on the walls (ghost
// value -u): sine transform, division by the eigenvalues, and back. Exact up to round-off; four GEMMs a sample.

#include "piddm/core/tensor.h"

namespace piddm {

class FastPoisson {
 public:
  FastPoisson(int64_t n, torch::ScalarType dtype = torch::kFloat64, torch::Device device = torch::kCPU);

  /// u for f = [...,n,n] of this dtype and device.
  Tensor solve(const Tensor& f, double a0 = 1) const;

 private:
  Tensor sine_;     // [n,n]
  Tensor inverse_;  // 1/(lambda_k + lambda_l), [n,n]
};

}  // namespace piddm
