#pragma once
// Dynamic weighting of the physics term: the residual is divided by its own running mean, so that one lambda serves
// PDEs whose residuals differ by orders of magnitude (the paper's appendix, target 1e-4).
//
//   term = lambda (target / m) ||R||^2,   m = (1-d) sum_k d^(n-k) r_k / (1 - d^n)
//
// with r_k = ||R||^2 of step k, without gradient, and d the memory.
//
// The term then stays near lambda * target while ||R||^2 falls: its gradient is that of lambda target log ||R||^2, up
// to the lag of the mean. Before the first step m is the residual at hand.

#include "piddm/files/tensor_map.h"

namespace piddm {

class DynamicWeight {
 public:
  /// `target` 0 switches it off: the factor is 1 and there is no state.
  explicit DynamicWeight(double target, double memory = 0.99) : target_(target), memory_(memory) {}

  bool active() const { return target_ > 0; }

  /// target / m, a scalar without gradient like `residual`.
  Tensor factor(const Tensor& residual) const;

  /// Takes the residual of one more step into the mean.
  void advance(const Tensor& residual);

  TensorMap state() const;
  void load(const TensorMap& state);

 private:
  double target_, memory_;
  int64_t steps_ = 0;
  Tensor sum_;  ///< (1-d) sum_k d^(n-k) r_k, float64 [1]; undefined before the first step
};

}  // namespace piddm
