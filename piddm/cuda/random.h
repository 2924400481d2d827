#pragma once
// The random numbers of core/rng.h on a GPU: the same counters, so the same uniforms bit for bit and the same normals
// to 1e-6 (in float64 to 1e-13).

#include <cstdint>

#include "piddm/cuda/built.h"

namespace piddm::cuda {

enum class Law { uniform, normal };

/// Which samples: `count` of them, `size` numbers each, from index first + (first_device ? *first_device : 0) on. The
/// part in device memory is read when the kernel runs, so that a recorded graph can be played for other samples.
struct Samples {
  uint64_t seed;
  uint32_t stream;
  const int64_t* first_device;
  int64_t first, count, size;
};

/// out [count, size].
void draw(Law law, const Samples& samples, float* out, Stream stream);
void draw(Law law, const Samples& samples, double* out, Stream stream);

}  // namespace piddm::cuda
