#pragma once
// The one Torch include of the project, and the small differences between LibTorch 1.13 and 2.x.

#include <torch/types.h>
// after torch/types.h: these rely on it
#include <torch/autograd.h>
#include <torch/cuda.h>
#include <torch/fft.h>
#include <torch/nn/module.h>
#include <torch/utils.h>

#include <string>
#include <vector>

namespace piddm {

using torch::Tensor;

/// "(8,3,64,64)", for messages.
std::string shape_string(const Tensor& x);

/// True if every entry is finite (false for an undefined tensor).
bool all_finite(const Tensor& x);

/// The entries of a float64 tensor on any device, in order.
std::vector<double> to_vector(const Tensor& x);

}  // namespace piddm
