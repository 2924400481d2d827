#pragma once
// Direct solver of a separable equation on a rectangle, by fast diagonalisation (Lynch, Rice and Thomas, 1964):
//
//   (c0 + kx (Ax (x) I) + ky (I (x) Ay)) u = f,     that is   c0 u + kx Ax u + ky u Ay^T = f   for u, f = [...,H,W]
//
// Ax [H,H] and Ay [W,W] are any real matrices with real eigenvalues and a full set of eigenvectors, A = V diag(l) V^-1:
// one-dimensional differences with whatever rows at the walls. They need not be symmetric. Then
//
//   u = Vx ((Vx^-1 f Vy^-T) / (c0 + kx lx_i + ky ly_j)) Vy^T
//
// Four GEMMs for a solve; on the CPU a sample's bits depend neither on its batch nor on the number of threads. The
// eigenvectors are computed once, on one thread. A matrix that a diagonal scaling makes symmetric (tridiagonal with
// positive products of opposite entries, periodic or not) gets those of the symmetric one, the others general ones.
//
// An eigenvalue of the whole that cancels to 1e-12 of its terms, |c0| + |kx lx_i| + |ky ly_j|, is taken for zero and
// its component left out of u, so that a singular equation (all walls Neumann or periodic, c0 = 0) gets a pseudo-
// inverse. Eigenvalues of Ax, of Ay below 1e-12 of their largest are zero.

#include "piddm/core/tensor.h"

namespace piddm {

/// A number for all samples or one for each of them, [B].
class PerSample {
 public:
  PerSample(double value) : value_(torch::full({}, value, torch::kFloat64)) {}  // NOLINT
  PerSample(Tensor values) : value_(std::move(values)) {}                       // NOLINT

  /// float64 [1,1,1,1] or [B,1,1,1].
  Tensor on(torch::Device device) const;

 private:
  Tensor value_;
};

class SeparableSolver {
 public:
  /// Ax [H,H], Ay [W,W] float64 on the CPU; of a line, W = 1, Ay is any [1,1], such as zero. A NumericsError where the
  /// eigenvalues are not real or the eigenvectors do not give the matrix back to 1e-8 of its size.
  SeparableSolver(const Tensor& ax, const Tensor& ay, torch::ScalarType dtype = torch::kFloat64,
                  torch::Device device = torch::kCPU);

  /// The same for fields of another dtype, another device.
  SeparableSolver to(torch::ScalarType dtype, torch::Device device) const;

  /// 1/(c0 + kx lx_i + ky ly_j), 0 where that is left out: [B,1,H,W] (or [1,1,H,W]) of the fields' dtype and device.
  /// For many solves with the same numbers.
  Tensor inverse_eigenvalues(const PerSample& c0, const PerSample& kx, const PerSample& ky) const;

  /// u for f = [B,C,H,W]; differentiable in f.
  Tensor solve(const Tensor& f, const Tensor& inverse) const;
  Tensor solve(const Tensor& f, const PerSample& c0, const PerSample& kx, const PerSample& ky) const {
    return solve(f, inverse_eigenvalues(c0, kx, ky));
  }

  /// The same with Ax^T and Ay^T: the adjoint of `solve`.
  Tensor transposed_solve(const Tensor& f, const Tensor& inverse) const;
  Tensor transposed_solve(const Tensor& f, const PerSample& c0, const PerSample& kx, const PerSample& ky) const {
    return transposed_solve(f, inverse_eigenvalues(c0, kx, ky));
  }

  /// lx [H] and ly [W], float64 on the CPU, in ascending order.
  const Tensor& x_eigenvalues() const { return x_axis_.values; }
  const Tensor& y_eigenvalues() const { return y_axis_.values; }

 private:
  struct Axis {
    Tensor values, vectors, inverse;  // l [n], V, V^-1 [n,n]: float64 on the CPU
  };
  struct Factors {
    Tensor values, vectors, inverse, vectors_t, inverse_t;  // l float64, the others of the fields' dtype
  };
  SeparableSolver() = default;
  static Axis diagonalise(const Tensor& a);
  static Factors factors(const Axis& axis, torch::ScalarType dtype, torch::Device device);

  Axis x_axis_, y_axis_;
  Factors x_, y_;  // on the fields' device
};

}  // namespace piddm
