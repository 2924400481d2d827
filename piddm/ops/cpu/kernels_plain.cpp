// The kernels for any CPU. No header that defines functions may follow the pragma: they would be compiled for this CPU
// only.
#include "piddm/ops/cpu/kernels.h"

namespace piddm::cpu {
namespace {

constexpr int64_t kLanes = 4, kRows = 4;
constexpr SimdLevel kLevel = SimdLevel::plain;

// clang-format off
#include "piddm/ops/cpu/panel.inl"
#include "piddm/ops/cpu/gelu.inl"
#include "piddm/ops/cpu/mlp.inl"
#include "piddm/ops/cpu/spectral.inl"
#include "piddm/ops/cpu/mixing.inl"
// clang-format on

}  // namespace

const Kernels& plain_kernels() {
  static constexpr Kernels kernels{kLevel,      kPanel,       kMlpPoints,   kModeBlock,       kFoldedRows,
                                   mlp_scratch, mlp_forward,  mlp_backward, spectral_scratch, analyse,
                                   mix,         mix_backward, synthesise,   finish,           gelu_array};
  return kernels;
}

}  // namespace piddm::cpu
