#pragma once
// One layer of the FNO,  y = act(K x + S x + b):  K the spectral layer (ops/spectral.h), S a 1x1 map or a 3x3
//                        convolution that continues x by zeros, b a bias, act the exact GELU or nothing.
//
//   x [B,C,H,W], weight [m1, m2/2+1, 2, O, C], skip S [O,C] or [O,C,3,3], bias [O]  ->  y [B,O,H,W]
//
// spectral_layer_formula composes it from tensor operations. spectral_layer gives the same (float32 on the CPU, any
// sizes) in four passes, each over all threads: (1) every plane to its kept modes, as two real matrix products per
// plane on a grid folded along H; (2) mode mixing for all samples at once; (3) modes back along W; (4) back along H,
// joined with S x + b and the activation on tiles that stay in the cache, so that x is read twice and y is written
// once. The backward pass is the same four passes with the transposed matrices. It keeps x, its kept modes and, with an
// activation, its slopes. Gradients with respect to x, weight, skip and bias; first order only.
//
// Results do not depend on the number of threads. The values of a sample depend on its companions only through their
// number: up to four samples (two with AVX2, one with neither) are mixed along channels instead of along samples, which
// adds up in another order.

#include "piddm/ops/spectral.h"

namespace piddm {

/// The real transforms of a grid, for both directions and their transposes.
struct SpectralPlan {
  explicit SpectralPlan(const SpectralBasis& basis);

  int64_t height, width, kept1, kept2, first1, lowest1;
  Tensor cos_h, sin_h;          ///< [R, H/2+1], R = 1 + max |k1|: cos and sin of 2 pi r h/H
  Tensor to_modes, to_modes_t;  ///< [W, 2 K2] and its transpose: cos, then sin, of 2 pi k w/W, over H W
  Tensor to_grid, to_grid_t;    ///< [2 K2, W] and its transpose: the same with the factor s(k2)
};

struct LayerWeights {
  Tensor spectral, skip, bias;

  bool local() const { return skip.dim() == 4; }  ///< S is a convolution
};

/// S x for x [B,C,H,W], from tensor operations.
Tensor apply_skip(const Tensor& x, const Tensor& skip);

Tensor spectral_layer_formula(const Tensor& x, const LayerWeights& weights, const SpectralBasis& basis, bool activate);
Tensor spectral_layer(const Tensor& x, const LayerWeights& weights, const SpectralPlan& plan, bool activate);

}  // namespace piddm
