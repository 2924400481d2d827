#pragma once
// The physics of a final sample as it enters losses: the residual inside, and the violation of boundary and initial
// conditions.

#include "piddm/pde/pde.h"

namespace piddm {

struct PhysicsLoss {
  Tensor pde_error;               ///< [B], mean of R^2 over the scored points and the equations
  std::vector<Tensor> equations;  ///< [B], that of each equation
  /// [B], mean square violation of boundary and initial conditions; undefined where the stencil has them.
  Tensor boundary;
};

/// Both from one evaluation of the residual of x = [B,C,H,W], physical units. Differentiable.
PhysicsLoss physics_loss(const Pde& pde, const Tensor& x);

/// [B,C_u], mean square of L^-1 r: the error of each solution channel behind the residual, by the PDE's fast solver
/// (Pde::precondition), physical units. The residual is ruled by the finest scales, this by the coarse ones.
Tensor implied_error(const Pde& pde, const Tensor& x);

/// pde_error + weight * boundary / scale^2, [B].
Tensor weighted(const PhysicsLoss& loss, double weight, double scale);

}  // namespace piddm
