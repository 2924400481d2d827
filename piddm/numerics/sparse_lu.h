#pragma once
// Sparse direct solver on the CPU: Eigen's supernodal LU with partial pivoting and columns ordered by COLAMD. On one
// thread, so that the same numbers give the same bits. The pattern of a matrix is analysed once and kept for others.

#include <memory>

#include "piddm/core/tensor.h"

namespace piddm {

class SparseLu {
 public:
  /// The pattern of a matrix [n,n]: rows and columns [m] int64 of its entries. Entries may repeat: they add up.
  SparseLu(int64_t n, const Tensor& rows, const Tensor& columns);
  SparseLu(SparseLu&&) noexcept;
  SparseLu& operator=(SparseLu&&) noexcept;
  ~SparseLu();

  /// Of the matrix with these entries, [m] float64. A NumericsError where it is singular: its condition number in the
  /// 1-norm, as Hager (1984) estimates it, is above 1e15.
  void factorise(const Tensor& values);

  /// A^-1 b and A^-T b of right-hand sides [n] or [k,n], float64 on the CPU. May be called from several threads.
  Tensor solve(const Tensor& b) const;
  Tensor transposed_solve(const Tensor& b) const;

  /// That estimate: never above the condition number, usually within a factor of 3.
  double condition() const;

 private:
  struct Factors;
  std::unique_ptr<Factors> factors_;
};

}  // namespace piddm
