#pragma once
// -div(a grad u) = f on the cell-centred grid h = 1/n of the unit square, u = 0 on the wall: the five-point operator
//   (A u)_P = h^-2 sum_faces w (u_P - u_N),   w = (a_P + a_N)/2 inside,   wall face 2 a_P (u_P - 0)
// by conjugate gradients, a kernel on plain pointers: each sample is solved by one thread in its own cache, with fused
// passes over the fields, in an order of summation that depends on n alone.
//
// Preconditioner: the same operator with a = 1, inverted exactly by a sine transform along W (two half-size products,
// parity_transform.h) and tridiagonal systems along H. The error falls by (sqrt(q)-1)/(sqrt(q)+1) per iteration,
// q = max a/min a, whatever n. Stopping rule and refinement are those of conjugate_gradient.h, except that a run hands
// over its last iterate, not its best one.

#include "piddm/numerics/conjugate_gradient.h"

namespace piddm {

/// u for a > 0, f and an optional first guess, all [B,1,n,n] float64 on the CPU. A NumericsError where a sample does
/// not converge.
CgResult solve_diffusion(const Tensor& a, const Tensor& f, const Tensor& start = {}, const CgOptions& options = {});

}  // namespace piddm
