#pragma once
// The batch of flow matching in one pass over memory:
//
//   x_t = alpha x_0 + sigma e,   target = alpha' x_0 + sigma' e
//   x_0 = data[rows[b]],   e the normals of sample b (random.h)
//
// Products and sums are rounded one by one, as the composed formula rounds them.

#include "piddm/cuda/random.h"

namespace piddm::cuda {

struct FlowBatch {
  const float* data;                               ///< [N, size]
  const int64_t* rows;                             ///< [B], each in 0..N-1
  const float *alpha, *sigma, *d_alpha, *d_sigma;  ///< [B]
  Samples noise;                                   ///< count = B, size = C H W
  float *x_t, *target;                             ///< [B, size]
};

void flow_batch(const FlowBatch& batch, Stream stream);

}  // namespace piddm::cuda
