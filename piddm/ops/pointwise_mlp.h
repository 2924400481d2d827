#pragma once
// The pointwise two-layer MLP that lifts fields into the FNO and projects them out of it: at each of P points of each
// sample
//
//   y = w2 gelu(w1 (x; c) + b1) + b2
//
//   x   [B,C,P]            fields
//   c   [F,P]              coordinates, F >= 0, the same for all samples; no gradient
//   y   [B,O,P]            result
//   w1  [J,C+F], w2 [O,J], b2 [O]
//   b1  [B,J] or [1,J]     a bias of each sample carries what is constant in space
//
// pointwise_mlp_formula composes it from tensor operations. pointwise_mlp gives the same (float32 on the CPU, any
// sizes) without ever storing the hidden [B,J,P] tensor: a tile of points goes through both layers in the cache, the
// backward pass computes its hidden values again. Gradients with respect to x, w1, b1, w2, b2; first order only. GELU
// is the exact one, its error at most 2e-7 max(1,|x|) (tests/ops/kernels_test.cpp).

#include "piddm/core/tensor.h"

namespace piddm {

struct MlpWeights {
  Tensor w1, bias1, w2, bias2;
};

Tensor pointwise_mlp_formula(const Tensor& x, const Tensor& coordinates, const MlpWeights& weights);
Tensor pointwise_mlp(const Tensor& x, const Tensor& coordinates, const MlpWeights& weights);

/// Whether the fused operators can take this tensor: float32 on the CPU.
bool fused_on_cpu(const Tensor& x);

}  // namespace piddm
