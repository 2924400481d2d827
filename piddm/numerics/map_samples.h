#pragma once
// Applies a solver to a batch. On the CPU it gets one sample at a time and the threads share the samples, so that no
// bit of a result depends on the batch or on the number of threads; elsewhere it gets blocks of samples.

#include <functional>

#include "piddm/core/tensor.h"

namespace piddm {

/// f of the samples of x = [B,...], B > 0, concatenated. f is called without gradients, with [1,...] on the CPU and
/// [b,...], b <= block, on other devices, and must return as many samples as it gets.
Tensor map_samples(const Tensor& x, int64_t block, const std::function<Tensor(const Tensor&)>& f);

}  // namespace piddm
