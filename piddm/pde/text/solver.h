#pragma once
// Solutions of the discrete equations of a PDE's text, to round-off: a steady problem by Newton's method, one in time
// step by step, each an implicit step on the same residual that the data are judged by.
//
// The Jacobian is exact (system.h) and kept as long as it shortens the residual tenfold per iteration, from one step to
// the next too. Linear systems:
//
//   one space axis, on the CPU   sparse LU, each sample
//   else                         conjugate gradients where the matrix is symmetric, else GMRES, with the fast solver of
//                                c0 + kx d_xx + ky d_yy, the means of the matrix' own entries, for each field; on the
//                                CPU sparse LU for a sample that does not converge
//
// On the CPU the same bits for any batch split and number of threads.

#include <memory>
#include <vector>

#include "piddm/numerics/conjugate_gradient.h"
#include "piddm/numerics/separable_solver.h"
#include "piddm/numerics/sparse_lu.h"
#include "piddm/pde/pde.h"
#include "piddm/pde/text/system.h"

namespace piddm {

class TextSolver {
 public:
  explicit TextSolver(std::shared_ptr<const TextSystem> system);

  /// u = [B,F,L,X,Y] float64 for coefficients [B,C_a,X,Y] float64. `start` is a first guess of a steady problem. A
  /// NumericsError names sample, step and residual of what does not converge.
  Tensor solve(const Tensor& coefficients, const Tensor& start = {}, SolveReport* report = nullptr) const;

  const TextSystem& system() const { return *system_; }
  bool direct() const;  ///< sparse LU on the CPU

  // --- for linear_solves.h ---
  std::unique_ptr<SparseLu> sparse_factors() const;   ///< of nothing yet
  Tensor sparse_values(const Tensor& entries) const;  ///< of one sample's entries [P,F,X,Y], as they take them
  const SeparableSolver& separable(int64_t field) const { return separable_[static_cast<size_t>(field)]; }
  const Tensor& own() const { return own_; }

  /// Of each field, what separable(f).solve takes: from entries [B,P,F,X,Y], or from J itself.
  std::vector<Tensor> inverse_eigenvalues(const Tensor& entries) const;
  std::vector<Tensor> inverse_eigenvalues(const LinearMap& product) const;

 private:
  Tensor solve_block(const Tensor& coefficients, const Tensor& start, int64_t first, SolveReport& report) const;

  std::shared_ptr<const TextSystem> system_;
  std::vector<SeparableSolver> separable_;
  Tensor own_, along_x_, along_y_, same_;  // masks of the pattern: own unknown, neighbours along an axis, same field
  Tensor inner_;                           // [X,Y] float64: rows whose means count
  Tensor sparse_places_, sparse_rows_, sparse_columns_;  // entries of the table that are one of the matrix'
};

}  // namespace piddm
