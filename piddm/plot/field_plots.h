#pragma once
// Pictures of a PDE's samples: fields with their residual, states of a trajectory, power spectra.

#include "piddm/data/dataset.h"
#include "piddm/plot/plot.h"

namespace piddm {

/// One row per sample: every channel, and with a PDE the residual map R = c r_phys, with RMS, largest value and the RMS
/// of the boundary error in the title (colours end at the 99.5th percentile). `pde` may be null. With `references` also
/// u*(a) and u - u*(a), u*(a) the solution for the sample's own coefficients.
Canvas draw_samples(const Dataset& data, const PdePtr& pde, const std::vector<int64_t>& samples,
                    const std::string& title, bool references = false);

/// For each sample one chart with u(x) at five times; a UsageError for a PDE without a time axis.
Canvas draw_trajectories(const Dataset& data, const Pde& pde, const std::vector<int64_t>& samples);

/// One log-log chart for each field channel: the data against `reference` [M,C,H,W], which is called `reference_name`
/// in the legend.
Canvas draw_spectra(const Dataset& data, const Pde& pde, const Tensor& reference, const std::string& reference_name);

}  // namespace piddm
