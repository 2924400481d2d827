#pragma once
// Observations from a file: .npz or .safetensors with [N,H,W] arrays under the channels' names, physical units.
//
// A channel may be missing (unknown), hold NaN where it is unknown, or be complete. The task selects: forward takes the coefficient channels,
// inverse the solution channels, reconstruct every known entry. A file in which nothing is unknown is taken as the truth, and the task hides
// what it asks for: of reconstruct a random share stays.

#include <filesystem>

#include "piddm/solve/task.h"

namespace piddm {

struct ObservationFile {
  Observation observation;
  Tensor truth;  ///< the whole samples, where the file has them; else undefined
};

/// The first `n` samples of the file (0: all). Nothing known, wrong shapes or infinite values are DataErrors.
ObservationFile read_observation(const std::filesystem::path& file, Task task, const Pde& pde, uint64_t seed,
                                 double share, int64_t n = 0);

}  // namespace piddm
