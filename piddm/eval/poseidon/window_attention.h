#pragma once
// Attention within windows of a token grid with a learned, log-spaced relative position bias: the part of Swin
// Transformer V2 (Liu et al., CVPR 2022) that ScOT is built on, with the numerics of its public implementation.
//
//   logits = cos(q, k) exp(min(logit_scale, ln 100)) + 16 sigmoid(table[offset]) + 2 mask,   softmax over keys, times v
//
// Weights are looked up under `prefix`: self.query.weight (C,C), self.key.weight, self.value.weight, self.query.bias,
// self.value.bias (both absent without qkv_bias), self.logit_scale (h,1,1), and of
// self.continuous_position_bias_mlp: 0.weight (512,2), 0.bias, 2.weight (h,512); output.dense.weight, .bias.

#include <string>

#include "piddm/files/tensor_map.h"

namespace piddm {

/// Offsets (dy,dx) of two tokens of a window, each -(w-1)..w-1, rows = dy, as sign(v) log2(|v|+1)/3 of v = 8
/// offset/(w-1): [2w-1,2w-1,2] float64.
Tensor relative_coordinates(int64_t window);

/// Row of that table (flattened) for query q and key k: [w^2,w^2] int64.
Tensor relative_index(int64_t window);

/// 16 sigmoid(MLP(table))[index]: [heads,w^2,w^2] in the type and on the device of the weights.
Tensor position_bias(const TensorMap& weights, const std::string& prefix, int64_t window);

/// For a grid rolled by `shift`: 0 where query and key of a window were neighbours before, -100 where not.
/// [windows,w^2,w^2].
Tensor shift_mask(int64_t height, int64_t width, int64_t window, int64_t shift, const torch::TensorOptions& options);

/// [B,H,W,C] -> [B windows, w^2, C], windows in row-major order, and back.
Tensor window_partition(const Tensor& x, int64_t window);
Tensor window_reverse(const Tensor& windows, int64_t window, int64_t height, int64_t width);

/// x [B windows, w^2, C] -> the same shape. `bias` from position_bias; `mask` from shift_mask or undefined. The mask is
/// added twice: so does every release of the public implementation, and with logits that span 200 it matters.
Tensor window_attention(const Tensor& x, const TensorMap& weights, const std::string& prefix, const Tensor& bias,
                        const Tensor& mask = {});

}  // namespace piddm
