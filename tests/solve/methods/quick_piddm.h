#pragma once
// What the tests of PIDDM have in common: a seed, options with few iterations, sizes of tensors.

#include "piddm/solve/methods/piddm.h"

namespace piddm::testing {

constexpr uint64_t kSeed = 17;

inline PiddmOptions quick(int64_t iterations = 6) {
  PiddmOptions options;
  options.task.iterations = iterations;
  return options;
}

inline double largest(const Tensor& x) { return x.abs().max().item<double>(); }

}  // namespace piddm::testing
