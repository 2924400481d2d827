#include "piddm/pde/physics_loss.h"

namespace piddm {

PhysicsLoss physics_loss(const Pde& pde, const Tensor& x) {
  const auto r = pde.residual(x);
  const auto errors = pde.equation_errors(r);
  return {mean_of(errors), errors, r.boundary.defined() ? r.boundary.square().mean(1) : Tensor()};
}

Tensor implied_error(const Pde& pde, const Tensor& x) {
  return pde.precondition(pde.residual(x)).square().mean({2, 3});
}

Tensor weighted(const PhysicsLoss& loss, double weight, double scale) {
  if (weight == 0 || !loss.boundary.defined()) return loss.pde_error;
  return loss.pde_error + loss.boundary * (weight / (scale * scale));
}

}  // namespace piddm
