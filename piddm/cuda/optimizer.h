#pragma once
// Adam and moving average (the formulas of train/adam.h) over flat buffers: the norm of the gradient in two stages,
// then one pass over everything.
//
// Nothing waits for the host. What changes from step to step is read from device memory, so that a recorded graph can
// be played for other steps; whether loss and gradient are finite is decided on the device, and once they were not, no
// later step changes anything either: the buffers stay what they were after the last good step until the host looks at
// AdamStatus.

#include <cstdint>

#include "piddm/cuda/built.h"

namespace piddm::cuda {

/// Of a whole training.
struct AdamConstants {
  float beta1, one_minus_beta1, beta2, one_minus_beta2, eps;
  double clip;  ///< largest gradient norm; 0: no clipping
};

/// Of step number k (from 1), in device memory, as doubles.
struct AdamNumbers {
  double step;              ///< k - 1
  double step_size;         ///< lr / (1 - b1^k)
  double root_correction2;  ///< sqrt(1 - b2^k)
  double ema_share;         ///< 1 - d: share of the new weights in the average
};

/// In device memory, as doubles; begins as {0, 1, -1}.
struct AdamStatus {
  double norm;    ///< of the last gradient
  double scale;   ///< of the last gradient by clipping
  double failed;  ///< the first step (from 0) whose loss or gradient was not finite; -1: none
};

/// Device memory, float32, `size` entries each; `partial` holds kNormBlocks doubles.
struct AdamBuffers {
  int64_t size;
  const float* gradient;
  float *exp_avg, *exp_avg_sq, *weights, *ema;
  const float* loss;  ///< one value
  const AdamNumbers* numbers;
  AdamStatus* status;
  double* partial;
};

inline constexpr int kNormBlocks = 1024;

/// One step. The order of every sum is fixed: the same input gives the same bits.
void adam_step(const AdamBuffers& buffers, const AdamConstants& constants, Stream stream);

}  // namespace piddm::cuda
