#pragma once
// Helmholtz on a rectangle:  Laplace u + k^2 u = a,  u = 0 on the wall;  parameter k, 1 by default.
//
// Grid, stencil, residual unit and direct solver are those of poisson.h with s = k^2. Law of a: as Poisson's, and then
// the outer ring of a set to 0 (no equation looks at it). A k whose square is an eigenvalue of the discrete -Laplace
// (to 1e-5) is refused: there the solution does not exist or is not unique. That of the unit square is near 2 pi^2,
// k = 4.44.

#include "piddm/pde/poisson.h"

namespace piddm {

class Helmholtz : public Poisson {
 public:
  explicit Helmholtz(PdeOptions options);

  Tensor sample_coefficients(uint64_t seed, int64_t first, int64_t count) const override;
};

}  // namespace piddm
