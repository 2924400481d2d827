#pragma once
// The best point each sample of a batch has seen.

#include "piddm/core/tensor.h"

namespace piddm {

/// b [B] as [B,1,...], to go with samples like x.
Tensor per_sample(const Tensor& b, const Tensor& x);

class Best {
 public:
  /// Starts with x, of no value yet.
  explicit Best(const Tensor& x);

  /// Sample b of x replaces the one kept if value[b] is lower; NaN never does.
  void update(const Tensor& x, const Tensor& value);

  /// The samples of x that `which` [B] selects replace those kept, without a value: any update beats them.
  void replace(const Tensor& x, const Tensor& which);
  const Tensor& x() const { return x_; }

 private:
  Tensor x_, value_;
};

}  // namespace piddm
