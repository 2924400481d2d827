#pragma once
// Exact decoding of a batch of samples: the solution replaced by the one for the sample's own coefficients.

#include "piddm/solve/method.h"

namespace piddm {

/// Replaces the samples by their exact decodes (float64), adds the time it took, and reports
/// {iterations_mean, iterations_max, moved_mean, moved_max, clamped_entries}.
json decode_samples(Samples& samples, const Pde& pde);

}  // namespace piddm
