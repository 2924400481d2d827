#pragma once
// Banded matrices along one axis of a tensor: differences, means and walls with constant numbers, in one pass.
//
//   out_r = sum_k w_k x_{c_k} + constant
//
// Differentiable: the gradient is one product with the transposed matrix, itself differentiable. On the CPU float32 and
// float64 take a kernel, which computes differences before it scales them (their terms cancel exactly) and everything
// but differences and means in double; elsewhere tensor operations. The same bits for any batch and number of threads.

#include <memory>
#include <utility>
#include <vector>

#include "piddm/core/tensor.h"

namespace piddm {

struct BandRow {
  std::vector<std::pair<int64_t, double>> entries = {};  ///< column, weight; those of one column add up
  double constant = 0;
};

class Band {
 public:
  Band(int64_t columns, std::vector<BandRow> rows);

  int64_t rows() const;
  int64_t columns() const;

  /// x [..,columns,..] along `dim`, counted from the last axis (-1, -2, ..), to [..,rows,..]; `constants`: with them.
  Tensor operator()(const Tensor& x, int64_t dim, bool constants = true) const;

  /// The same by tensor operations alone.
  Tensor composed(const Tensor& x, int64_t dim, bool constants = true) const;

  /// This matrix after that one.
  Band after(const Band& other) const;

  /// Rows that shift by one column each: [x_{i+offset} w_0 + x_{i+offset+1} w_1 + ..], i = 0 .. rows-1; on a ring
  /// columns are counted modulo their number.
  static Band shifting(int64_t columns, int64_t rows, int64_t offset, const std::vector<double>& weights,
                       bool ring = false);

  /// The rows of this with another first and last one around them.
  Band between(const BandRow& first, const BandRow& last) const;

  struct Matrix;

 private:
  std::shared_ptr<const Matrix> matrix_;
};

}  // namespace piddm
