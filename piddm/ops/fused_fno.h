#pragma once
// The whole FNO (model/fno.h) as one operator on a GPU, forward and backward, in the kernels of piddm/cuda.
//
//   h_0 = lift(x, coordinates);  z_l = K_l y_l + S_l y_l + b_l,  y_0 = h_0,  y_l = gelu(z_(l-1))
//   out = project(z_(L-1))
//
// x [B,C,H,W] float32, out likewise. Inside, activations are [B,H,W,C] in the precision's storage. A layer takes four
// kernels: words along H to modes, mode mixing, modes to words along H, and one that turns words and the layer's input
// into z and, on the way out, into the words of the next layer: an activation is read once and written once per layer.
// Only z is kept, gelu(z) is computed again wherever it is needed; the backward pass keeps z of every layer and its
// modes. With `recompute`, of every other layer only.
//
// Gradients with respect to x and all weights, first order. The formula: Fno in the form "gemm".

#include "piddm/ops/fused_plan.h"
#include "piddm/ops/pointwise_mlp.h"
#include "piddm/ops/spectral_layer.h"

namespace piddm {

struct FnoWeights {
  MlpWeights lift;  ///< w1 [J, C+2], bias1 [B or 1, J]
  std::vector<LayerWeights> layers;
  MlpWeights project;  ///< bias1 [1, J]
};

struct FusedSizes {
  int64_t inputs, outputs;  ///< channels; those of the input with the coordinates
  int64_t width, hidden_in, hidden_out, kept2;
};

/// Whether the operator can take a network of these sizes on the grid of x: a CUDA tensor, width a multiple of 8 up to
/// 128, hidden layers multiples of 16, at most 16 inputs and 8 outputs, and rows and hidden layers that fit into the
/// GPU's shared memory. A gradient of x is computed for at most 8 channels of x.
bool fused_on_cuda(const Tensor& x, const FusedSizes& sizes, Precision precision);

/// bias + weight encoding(t), [T,J], for weight [J,features] (a view of the first layer's columns), bias [J], t [T] on
/// a GPU; no gradients.
Tensor time_bias_on_cuda(const Tensor& t, const Tensor& weight, const Tensor& bias);

Tensor fused_fno(const Tensor& x, const Tensor& coordinates, const FnoWeights& weights, const FusedPlan& plan,
                 Precision precision, bool recompute);

}  // namespace piddm
