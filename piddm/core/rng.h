#pragma once
// Counter-based random numbers: Philox-4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2,
// 3", SC 2011).
//
// A number is a pure function of (seed, stream, sample index, position in the sample). Nothing is stored and nothing is
// consumed, so the same bits come out for any batch split, any thread count, and after any restart.
//
//   key     = seed (64 bit)
//   counter = (position / 4, stream, sample index low, sample index high)

#include <cstdint>
#include <vector>

#include "piddm/core/tensor.h"
#include "piddm/cuda/philox.h"

namespace piddm {

/// What random numbers are used for; one number a purpose, so that no two uses share bits.
enum class Stream : uint32_t {
  coefficients = 1,        ///< draws of a PDE's random input
  parameters = 2,          ///< initial weights
  batches = 3,             ///< order of the training samples
  time = 4,                ///< diffusion times of a training batch
  noise = 5,               ///< noise of a training batch
  latents = 6,             ///< latents of generated samples
  pairs = 7,               ///< latents of distillation pairs
  held_out_pairs = 8,      ///< latents of the pairs that decide early stopping
  tasks = 9,               ///< start points of latent optimisation
  masks = 10,              ///< observation masks
  splits = 11,             ///< subsets for sampling floors
  draws = 12,              ///< latents of a posterior's training draws
  observations = 13,       ///< what a posterior is shown of its training samples
  observation_noise = 14,  ///< and the noise of it
  data_noise = 20,         ///< what observed entries are perturbed by in a draw
  sensor_noise = 21,       ///< the same for observed functionals
  physics_noise = 22,      ///< and for the residual
};

/// Standard normals (Box-Muller, computed in double) of `count` samples starting at `first`: shape [count, shape...],
/// made on `device`. The float32 result is the rounded float64 result. CPU and GPU agree to 1e-6.
Tensor normal(uint64_t seed, Stream stream, int64_t first, int64_t count, const std::vector<int64_t>& shape,
              torch::ScalarType dtype = torch::kFloat32, torch::Device device = torch::kCPU);

/// Uniforms on (0,1), same addressing; the same bits on every device.
Tensor uniform(uint64_t seed, Stream stream, int64_t first, int64_t count, const std::vector<int64_t>& shape,
               torch::ScalarType dtype = torch::kFloat32, torch::Device device = torch::kCPU);

/// The same with `first` (int64 [1]) read where the numbers are made, its device: work recorded as a cuda::Graph draws
/// other samples when it changes.
Tensor uniform(uint64_t seed, Stream stream, const Tensor& first, int64_t count, const std::vector<int64_t>& shape,
               torch::ScalarType dtype = torch::kFloat32);

/// A random permutation of 0..n-1 (int64), a function of (seed, stream, index).
Tensor permutation(uint64_t seed, Stream stream, int64_t index, int64_t n);

}  // namespace piddm
