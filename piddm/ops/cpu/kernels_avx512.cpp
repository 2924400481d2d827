// The kernels for AVX-512. No header that defines functions may follow the pragma: they would be compiled for this CPU
// only.
#include "piddm/ops/cpu/kernels.h"

#if defined(__x86_64__)
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,prefer-vector-width=512")

namespace piddm::cpu {
namespace {

constexpr int64_t kLanes = 16, kRows = 8;
constexpr SimdLevel kLevel = SimdLevel::avx512;

// clang-format off
#include "piddm/ops/cpu/panel.inl"
#include "piddm/ops/cpu/gelu.inl"
#include "piddm/ops/cpu/mlp.inl"
#include "piddm/ops/cpu/spectral.inl"
#include "piddm/ops/cpu/mixing.inl"
// clang-format on

}  // namespace

const Kernels& avx512_kernels() {
  static constexpr Kernels kernels{kLevel,      kPanel,       kMlpPoints,   kModeBlock,       kFoldedRows,
                                   mlp_scratch, mlp_forward,  mlp_backward, spectral_scratch, analyse,
                                   mix,         mix_backward, synthesise,   finish,           gelu_array};
  return kernels;
}

}  // namespace piddm::cpu

#endif
