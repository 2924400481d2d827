#pragma once
// Small numbers on their way to a GPU without waiting for it.

#include "piddm/core/tensor.h"

namespace piddm {

/// Copies `host` (CPU) into `target` (GPU) in the order of the current stream, through pinned memory: the call returns
/// at once, and the pinned memory is used again only after the copy.
inline void upload(const Tensor& host, Tensor& target) { target.copy_(host.pin_memory(), /*non_blocking=*/true); }

}  // namespace piddm
