#pragma once
// The 3x3 skip of the local FNO beside the GPU kernels: LibTorch's convolutions on the kernels' own activations.
//
//   s = S * y,   dy = S^T * dz,   dS = sum over points of dz and y at the neighbours      zero beyond the grid
//
// Activations are [B,H,W,C] in the storage of the precision; S [O,C,3,3] and its gradient are float32.

#include "piddm/core/precision.h"
#include "piddm/core/tensor.h"

namespace piddm {

Tensor local_skip(const Tensor& y, const Tensor& skip, Precision precision);

/// {dy, dS}; dS is undefined where it is not wanted.
std::pair<Tensor, Tensor> local_skip_backward(const Tensor& dz, const Tensor& y, const Tensor& skip,
                                              Precision precision, bool want_weights);

}  // namespace piddm
