#pragma once
// Fourier modes on nested periodic grids of [0,1): n points x_j = j/n inside m = factor * n points. Modes are those of
// torch::fft::rfft and rfft2 with norm "forward": u(x) = sum_k u_k exp(2 pi i k x).

#include "piddm/core/tensor.h"
#include "piddm/numerics/grid_size.h"

namespace piddm {

/// How many times finer than it needs to be a solver runs, to prove that it need not.
struct Refinement {
  int64_t points = 1, steps = 1;
};

/// The smallest multiple of n that is at least 2 n and at least `least`.
int64_t nested_grid(int64_t n, double least);

/// The last mode that products of two fields leave unaliased on m points (rule of two thirds): the largest K, 3 K < m.
inline int64_t last_unaliased_mode(int64_t m) { return (m - 1) / 3; }

/// k of the modes of m points: 0..m/2 (rfft axis), or 0, 1, .., -1 (the other axis). float64 [.].
Tensor half_wavenumbers(int64_t m, torch::Device device = torch::kCPU);
Tensor full_wavenumbers(int64_t m, torch::Device device = torch::kCPU);

/// Modes [...,m/2+1] of the trigonometric interpolant of u = [...,n] on the grid of m >= n points; a mode n/2 counts as
/// a cosine. Differentiable.
Tensor interpolant_modes(const Tensor& u, int64_t m);

/// The same in two dimensions: u = [...,H,W] to [...,M_H,M_W/2+1].
Tensor interpolant_modes_2d(const Tensor& u, const GridSize& m);

/// Values [...,n] (or [...,H,W]) at the coarse points of modes [...,m/2+1] (or [...,M_H,M_W/2+1]) on m = factor * n
/// points; each axis has its own factor.
Tensor values_at(const Tensor& modes, int64_t m, int64_t n);
Tensor values_at_2d(const Tensor& modes, const GridSize& m, const GridSize& n);

}  // namespace piddm
