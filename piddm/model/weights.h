#pragma once
// Weights of a network as named tensors.

#include <string>

#include "piddm/files/tensor_map.h"

namespace piddm {

/// Every parameter by name, on the CPU, detached copies.
TensorMap weights_of(const torch::nn::Module& module);

/// SHA-256 of names and values.
std::string weights_digest(const torch::nn::Module& module);

/// Strict: missing, extra and wrongly shaped tensors and non-finite values are DataErrors that begin with `origin` and
/// name the tensor.
void load_weights(torch::nn::Module& module, const TensorMap& weights, const std::string& origin);

}  // namespace piddm
