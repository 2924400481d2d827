#pragma once
// The Jacobian J of f at x, many samples at once, through its products; J itself is never formed.
//
//   J^T w   one backward pass through the graph of f(x), which is kept
//   J v     exact: the derivative of w -> J^T w, by differentiating the backward pass; costs about one forward pass
//           difference: (f(x + h v) - f(x - h v)) / 2h,  h |v| = eps^(1/3) max(1, |x|); costs two forward passes,
//                       the error is eps^(2/3)
//
// automatic is exact where f can be differentiated twice, else difference: the fused operators have first derivatives
// only and say so by a UsageError in a backward pass that is to be differentiated.

#include <functional>

#include "piddm/core/fields.h"
#include "piddm/core/tensor.h"

namespace piddm {

enum class JacobianProduct { automatic, exact, difference };
inline std::vector<std::string> enum_names(JacobianProduct) { return {"automatic", "exact", "difference"}; }

/// A function of some samples of a batch: x [b,...] stands for the samples `rows` (int64 [b], on the device of x) of
/// it, and sample i of the answer may depend on sample i of x only.
using RowFunction = std::function<Tensor(const Tensor& x, const Tensor& rows)>;

class Jacobian {
 public:
  /// f: [b,...] -> [b,M], evaluated here with its graph. Works in any grad mode.
  Jacobian(RowFunction f, const Tensor& x, const Tensor& rows, JacobianProduct kind = JacobianProduct::automatic);

  const Tensor& value() const { return value_; }  ///< f(x), [b,M]
  Tensor transposed(const Tensor& w) const;       ///< J^T of [b,M], like x
  Tensor product(const Tensor& v) const;          ///< J of something like x, [b,M]

  bool exact() const { return pulled_.defined(); }
  int64_t evaluations_per_product() const { return exact() ? 1 : 2; }

 private:
  bool differentiate_backward();

  RowFunction f_;
  Tensor x_, rows_, graph_, value_;
  Tensor dummy_, pulled_;  ///< w and J^T w with its graph; undefined: difference
};

}  // namespace piddm
