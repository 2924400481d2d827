#pragma once
// An orthonormal transform M [n,n] whose rows (modes) are alternately symmetric and antisymmetric about the middle of
// the grid, M[r, n-1-i] = (-1)^r M[r,i]: true of the sine and cosine transforms in sine_transform.h. Sums and
// differences of mirrored points are formed first; the even modes then see the sums alone and the odd modes the
// differences alone, which halves the products. One thread, plain pointers, always summed in the same order.

#include <vector>

#include "piddm/core/tensor.h"
#include "piddm/numerics/serial_gemm.h"

namespace piddm {

template <class T>
class ParityTransform {
 public:
  /// `matrix` is M, float64 [n,n] on the CPU.
  explicit ParityTransform(const Tensor& matrix);

  int64_t size() const { return n_; }

  /// modes = M x, x [n,m]; and back, x = M^T modes. `work` holds n*m numbers; both fields may be the same.
  void rows_to_modes(int64_t m, MatrixView<const T> x, MatrixView<T> modes, T* work) const;
  void modes_to_rows(int64_t m, MatrixView<const T> modes, MatrixView<T> x, T* work) const;

  /// modes = x M^T, x [p,n]; and back, x = modes M. `work` holds p*n numbers; both fields may be the same.
  void columns_to_modes(int64_t p, MatrixView<const T> x, MatrixView<T> modes, T* work) const;
  void modes_to_columns(int64_t p, MatrixView<const T> modes, MatrixView<T> x, T* work) const;

  /// The same without sorting the modes: all even ones (0, 2, ...) come first, then the odd ones.
  void columns_to_halves(int64_t p, MatrixView<const T> x, MatrixView<T> halves, T* work) const;
  void halves_to_columns(int64_t p, MatrixView<const T> halves, MatrixView<T> x, T* work) const;

 private:
  int64_t n_, even_, odd_;                                                    // even_ + odd_ = n_
  std::vector<T> even_modes_, odd_modes_, even_transposed_, odd_transposed_;  // M on the first half of the points
};

extern template class ParityTransform<double>;
extern template class ParityTransform<float>;

}  // namespace piddm
