#pragma once
// Whether this build has the CUDA kernels. Code that calls them stands inside `if constexpr (cuda::kBuilt)`: it is
// checked in every build and linked only where the kernels are. Kernels take plain pointers to device memory and a
// stream; they know nothing of LibTorch.

namespace piddm::cuda {

#ifdef PIDDM_WITH_CUDA
inline constexpr bool kBuilt = true;
#else
inline constexpr bool kBuilt = false;
#endif

using Stream = void*;  ///< a cudaStream_t

/// Arithmetic of the network on a GPU. fp32: products of three tf32 terms, accurate to float32 rounding. tf32: float32
/// storage, operands of products rounded to 11 bits. bf16: activations stored with 8 bits. All add up in float32; the
/// CPU and all else always use float32.
enum class Precision { fp32, tf32, bf16 };

}  // namespace piddm::cuda
