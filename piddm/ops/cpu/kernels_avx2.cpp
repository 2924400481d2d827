// The kernels for AVX2 and FMA. No header that defines functions may follow the pragma: they would be compiled for this
// CPU only.
#include "piddm/ops/cpu/kernels.h"

#if defined(__x86_64__)
#pragma GCC target("avx2,fma")

namespace piddm::cpu {
namespace {

constexpr int64_t kLanes = 8, kRows = 6;
constexpr SimdLevel kLevel = SimdLevel::avx2;

// clang-format off
#include "piddm/ops/cpu/panel.inl"
#include "piddm/ops/cpu/gelu.inl"
#include "piddm/ops/cpu/mlp.inl"
#include "piddm/ops/cpu/spectral.inl"
#include "piddm/ops/cpu/mixing.inl"
// clang-format on

}  // namespace

const Kernels& avx2_kernels() {
  static constexpr Kernels kernels{kLevel,      kPanel,       kMlpPoints,   kModeBlock,       kFoldedRows,
                                   mlp_scratch, mlp_forward,  mlp_backward, spectral_scratch, analyse,
                                   mix,         mix_backward, synthesise,   finish,           gelu_array};
  return kernels;
}

}  // namespace piddm::cpu

#endif
