#pragma once
// Which samples make up which batch: each epoch is a fresh permutation, a batch may straddle two. A function of (seed,
// step) only.

#include "piddm/core/rng.h"

namespace piddm {

class BatchOrder {
 public:
  BatchOrder(int64_t samples, int64_t batch, uint64_t seed) : samples_(samples), batch_(batch), seed_(seed) {}

  /// Rows of batch `step`, int64 [batch].
  Tensor batch(int64_t step);
  int64_t batch_size() const { return batch_; }

 private:
  const Tensor& epoch(int64_t index);

  int64_t samples_, batch_;
  uint64_t seed_;
  int64_t cached_ = -1;  ///< the epoch whose order is in order_
  Tensor order_;
};

}  // namespace piddm
