#pragma once
// Figures of samples in time: W is the time axis. A UsageError for a PDE without one.

#include "piddm/data/dataset.h"
#include "piddm/plot/figure.h"

namespace piddm {

/// For each sample and solution channel one chart with u(x) at five times.
Figure draw_trajectories(const Dataset& data, const Pde& pde, const std::vector<int64_t>& samples);

/// Figures of equal size for an animation: u(x) of the samples at one time each, a curve per sample, axes that stand
/// still. At most `frames` of them, evenly spread over the stored times, the last one included.
std::vector<Figure> draw_frames(const Dataset& data, const Pde& pde, const std::vector<int64_t>& samples,
                                int64_t frames);

}  // namespace piddm
