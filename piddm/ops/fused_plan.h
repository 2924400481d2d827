#pragma once
// The truncated transforms of a grid for the CUDA kernels (piddm/cuda/fno.h), and how matrices get to them.

#include "piddm/core/precision.h"
#include "piddm/cuda/fno.h"
#include "piddm/ops/spectral.h"

namespace piddm {

inline int as_int(int64_t n) { return static_cast<int>(n); }

/// Uninitialised memory in the storage of the precision: bf16, else float32.
Tensor gpu_storage(at::IntArrayRef sizes, torch::Device device, Precision precision);

/// The right factor `view` [depth, columns], float32 with any strides, into tiles of `target` [padded depth, padded
/// columns].
cuda::PackB pack_job(const Tensor& view, const Tensor& target, bool wide_k, bool wide_n, bool activated);

/// The transforms of a grid as the kernels want them.
struct FusedPlan {
  FusedPlan(const SpectralBasis& basis, torch::Device device, Precision precision);

  int64_t height, width, kept1, kept2, first1, lowest1;
  double mean;                          ///< 1/(H W), the factor of the analysis
  Tensor analysis, analysis_activated;  ///< along W, to words
  Tensor analysis_adjoint;              ///< with the factor s(k2) of the way back
  Tensor synthesis, synthesis_adjoint;  ///< along W, from words: with s(k2), and with 1/(H W)
  Tensor to_modes, to_grid;             ///< along H, without factors
};

}  // namespace piddm
