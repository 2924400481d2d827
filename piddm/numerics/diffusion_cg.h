#pragma once
// -div(a grad u) = f on the cell-centred grid of a rectangle, u = 0 on the wall: the five-point operator
//   (A u)_P = sum_faces w (u_P - u_N)/h^2,   w = (a_P + a_N)/2 inside,   wall face 2 a_P (u_P - 0),
//   h = L/n of the axis across the face,
// by conjugate gradients, a kernel on plain pointers: each sample is solved by one thread in its own cache, with fused
// passes over the fields, in an order of summation that depends on the grid alone.
//
// Preconditioner: the same operator with a = 1, inverted exactly by a sine transform along W (two half-size products,
// parity_transform.h) and tridiagonal systems along H. The error falls by (sqrt(q)-1)/(sqrt(q)+1) per iteration,
// q = max a/min a, whatever the grid. Stopping rule and refinement are those of conjugate_gradient.h, except that a run
// hands over its last iterate, not its best one.

#include "piddm/numerics/box.h"
#include "piddm/numerics/conjugate_gradient.h"

namespace piddm {

/// u for a > 0, f and an optional first guess, all [B,1,H,W] float64 on the CPU. A NumericsError where a sample does
/// not converge.
CgResult solve_diffusion(const Tensor& a, const Tensor& f, const Tensor& start = {}, const CgOptions& options = {},
                         const Lengths& lengths = {1, 1});

/// u after `iterations` >= 0 of the same, a differentiable map (conjugate_gradient_steps; diffusion_corrector.cpp); a >
/// 0, f and u are [B,1,H,W] float32 or float64 on the CPU. Nothing but them is kept for the gradient, which runs the
/// iterations again and then backwards through them, at about twice their cost. First derivatives with respect to all
/// three; a UsageError where more are asked for. The same bits for any batch split and number of threads.
Tensor correct_diffusion(const Tensor& a, const Tensor& f, const Tensor& u, int64_t iterations,
                         const Lengths& lengths = {1, 1});

}  // namespace piddm
