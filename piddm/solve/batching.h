#pragma once
// How many samples fit into memory at once.

#include "piddm/model/model.h"

namespace piddm {

/// Bytes one sample takes while the network is evaluated. With a gradient: what the graph of one evaluation keeps.
/// Counted from the network's sizes and meant as an upper bound: 4 activations of the widest kind a layer without a
/// graph, 8 with one. U-Net and auto-encoder: conv_memory.h.
int64_t bytes_per_sample(const Model& model, bool gradient);

/// What a batch may take: a quarter of the memory that is free on the CPU, 8 GiB on a GPU.
int64_t memory_budget(torch::Device device);

/// Samples to work on together: `asked`, or if that is 0 as many as the budget holds, at most 64 and at least 1.
/// `extra_bytes` is what a sample takes besides the network. A UsageError if `asked` is negative.
int64_t choose_batch(int64_t asked, const Model& model, bool gradient, int64_t extra_bytes = 0);

}  // namespace piddm
