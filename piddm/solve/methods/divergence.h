#pragma once
// What a sampler does with samples that run away: it stops them where they were best, says so once, and goes on with
// the others.

#include <string>

#include "piddm/solve/best.h"

namespace piddm {

class DivergenceGuard {
 public:
  /// `x` [B,...] in network units is the state before the first step.
  DivergenceGuard(std::string method, const Tensor& x);

  /// The state to go on with: `next`, or zeros for a sample that has diverged now or before (not finite, or its RMS
  /// above 1000). `clean` is the step's clean estimate and `value` [B] how bad it is (the guided objective); without
  /// one the latest finite estimate is the best. No host synchronisation.
  Tensor step(const Tensor& next, const Tensor& clean, const Tensor& value = {});

  /// `x` with the best clean estimate of each diverged sample in its place; warns if there are any.
  Tensor finish(const Tensor& x);

 private:
  std::string method_;
  Tensor diverged_;  ///< [B] bool
  Tensor first_;     ///< [B] int64, step at which a sample diverged
  Best best_;
  int64_t steps_ = 0;
};

}  // namespace piddm
