#pragma once
// Samples of a PDE's law, batch by batch, as they are stored in a file.
//
// Coefficients are rounded to the file's type before the equation is solved, so u is the solution for exactly the
// coefficients that are stored. On the CPU the bits depend on (PDE, seed, index, dtype) alone, not on batches or
// threads.

#include <functional>

#include "piddm/data/description.h"
#include "piddm/data/statistics.h"

namespace piddm {

struct SampleRange {
  uint64_t seed = 0;
  int64_t first = 0, n = 0;  ///< samples first..first+n-1 of the seed's stream
  torch::ScalarType dtype = torch::kFloat32;
  torch::Device device = torch::kCPU;  ///< where the equation is solved
  int64_t batch = 64;                  ///< samples at a time
};

/// DataError at the first value of [N,C,H,W] that is not finite: channel, sample, position.
void check_finite(const Tensor& fields, const std::vector<std::string>& channels, const std::string& origin);

/// Calls `sink` with consecutive [count,C,H,W] on the CPU; returns the statistics of what it was given. Can be
/// interrupted between batches.
ResidualStatistics generate_samples(const Pde& pde, const SampleRange& range,
                                    const std::function<void(const Tensor& samples)>& sink);

/// The description of a file with these samples.
DataDescription describe_samples(const Pde& pde, const SampleRange& range, const ResidualStatistics& statistics);

}  // namespace piddm
