#pragma once
// How many samples fit into memory at once.

#include "piddm/model/model.h"

namespace piddm {

/// What a batch may take: a quarter of the memory that is free on the CPU, 8 GiB on a GPU.
int64_t memory_budget(torch::Device device);

/// Samples to work on together: `asked`, or if that is 0 as many as the budget holds, at most 64 and at least 1.
/// `extra_bytes` is what a sample takes besides the network.
int64_t choose_batch(int64_t asked, const Model& model, bool gradient, int64_t extra_bytes = 0);

}  // namespace piddm
