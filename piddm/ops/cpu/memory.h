#pragma once
// Memory for activations and gradients of the CPU operators. A fresh page costs more than the kernels take to fill it,
// and the C library gives large blocks back to the system as soon as they are freed. Blocks of 256 KiB and more are
// therefore kept for the next tensor of the same size, up to 1 GiB in all, and lie on huge pages where the system has
// them.

#include "piddm/core/tensor.h"

namespace piddm::cpu {

/// A float32 CPU tensor with undefined contents.
Tensor fresh(at::IntArrayRef sizes);

}  // namespace piddm::cpu
