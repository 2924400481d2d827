#pragma once
// The spectral layer K of the FNO: keep a block of Fourier modes, multiply each by a complex matrix, transform back.
//
//   X(k1,k2) = 1/(H W) sum_{i,j} x(i,j) exp(-2 pi i (k1 i/H + k2 j/W))     of the kept modes only
//   Y(k1,k2) = weight(k1,k2) X(k1,k2)                                      one complex C_out x C_in matrix per mode
//   y(i,j)   = Re sum_{k1,k2} s(k2) Y(k1,k2) exp(+2 pi i (k1 i/H + k2 j/W))   s = 1 for k2 = 0 and k2 = W/2, else 2
//
// "m1 x m2 modes" means k1 in -m1/2..m1/2-1 and k2 in 0..m2/2. The real part makes the Hermitian part of the line
// k2 = 0 count, as in an inverse real FFT. Modes beyond the grid (k1 < -H/2, k1 > (H-1)/2, k2 > W/2) are dropped.
//
// Two forms that agree to rounding:
//   spectral_fft   rfft2, slice, einsum, irfft2: the oracle
//   spectral_gemm  truncated DFT as real matrix products; no complex tensors, no work for modes that are thrown away
//
// Activations are [C,B,H,W], channels outermost, so that every pointwise map and every transform along W is one matrix
// product without a copy. Weights are real pairs, [m1, m2/2+1, 2, C_out, C_in] with (real, imaginary) on the third
// axis.

#include <string>
#include <vector>

#include "piddm/core/tensor.h"

namespace piddm {

/// fused: the whole layer in one operator (ops/spectral_layer.h) for float32 on the CPU, gemm elsewhere.
enum class SpectralForm { fused, gemm, fft };
inline std::vector<std::string> enum_names(SpectralForm) { return {"fused", "gemm", "fft"}; }

/// The kept modes of a grid and the matrices of the truncated transforms, complex numbers as (re, im) pairs.
struct SpectralBasis {
  SpectralBasis(int64_t modes1, int64_t modes2, int64_t height, int64_t width, const torch::TensorOptions& options);

  int64_t height, width;  ///< the grid
  int64_t kept1, kept2;   ///< modes of the block that exist on this grid
  int64_t first1;         ///< position of the lowest kept k1 in the block
  int64_t lowest1;        ///< that k1
  Tensor to_modes_w;      ///< [W, K2 2]   real -> complex along W, scaled by 1/W
  Tensor to_modes_h;      ///< [H 2, K1 2] complex -> complex along H, scaled by 1/H
  Tensor to_grid_h;       ///< [K1 2, H 2]
  Tensor to_grid_w;       ///< [K2 2, W]   complex -> real, with the factor s(k2)
  Tensor unpaired;        ///< [K2,K1,1]   2 where s = 1 and -k1 is not kept (its Hermitian part is half of it), else 1
};

/// x [...,H,W] real -> X [...,K2,K1,2], and back.
Tensor to_modes(const Tensor& x, const SpectralBasis& basis);
Tensor to_grid(const Tensor& modes, const SpectralBasis& basis);

/// y = K x for x [C_in,B,H,W].
Tensor spectral_gemm(const Tensor& x, const Tensor& weight, const SpectralBasis& basis);
Tensor spectral_fft(const Tensor& x, const Tensor& weight);

/// The part of x [...,H,W] in the kept modes: an orthogonal projection.
inline Tensor band_limit(const Tensor& x, const SpectralBasis& basis) {
  return to_grid(to_modes(x, basis) * basis.unpaired, basis);
}

}  // namespace piddm
