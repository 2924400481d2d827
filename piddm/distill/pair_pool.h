#pragma once
// The pairs a student is trained on: batches from the newest chunks of a PairSource.
//
// Every `every` steps a fresh chunk joins and the oldest beyond `pool` leaves; between two refreshes the batches go
// through the pool in random order. A batch is a function of (source, seed, step).

#include <optional>

#include "piddm/distill/pairs.h"
#include "piddm/train/batches.h"

namespace piddm {

class PairPool {
 public:
  PairPool(PairSource& source, int64_t batch, uint64_t seed) : source_(source), batch_(batch), seed_(seed) {}

  Pairs batch(int64_t step);
  const Pairs& held_out();

 private:
  void refresh(int64_t window);

  PairSource& source_;
  int64_t batch_;
  uint64_t seed_;
  int64_t window_ = -1;  ///< which refresh the pool belongs to
  Pairs pool_, held_out_;
  std::optional<BatchOrder> order_;
};

}  // namespace piddm
