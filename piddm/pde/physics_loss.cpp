#include "piddm/pde/physics_loss.h"

namespace piddm {

PhysicsLoss physics_loss(const Pde& pde, const Tensor& x) {
  const auto r = pde.residual(x);
  return {(r.interior * pde.residual_scale()).square().mean({1, 2, 3}),
          r.boundary.defined() ? r.boundary.square().mean(1) : Tensor()};
}

Tensor implied_error(const Pde& pde, const Tensor& x) {
  return pde.precondition(pde.residual(x).interior).square().mean({1, 2, 3});
}

Tensor weighted(const PhysicsLoss& loss, double weight, double scale) {
  if (weight == 0 || !loss.boundary.defined()) return loss.pde_error;
  return loss.pde_error + loss.boundary * (weight / (scale * scale));
}

}  // namespace piddm
