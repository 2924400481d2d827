#pragma once
// Statistics of a data set in float64, on the CPU with the same bits for any number of threads and any split into
// batches: every sample is summed by one plain loop, and samples are combined in order.

#include <vector>

#include "piddm/core/tensor.h"
#include "piddm/pde/pde.h"

namespace piddm {

struct ChannelStatistics {
  double mean = 0;
  double std = 0;  ///< population standard deviation; shifted two-pass sums, so a large offset costs no digits
  double min = 0, max = 0;
};

/// One entry for each channel of [N,C,H,W], N > 0.
std::vector<ChannelStatistics> channel_statistics(const Tensor& fields);

/// How well samples satisfy a PDE, one number per sample: [N] float64 on the CPU.
struct ResidualStatistics {
  Tensor pde_error = {};  ///< mean of R^2 over the scored points
  Tensor residual = {};   ///< mean of r_phys^2 over the points that count in rel_residual (Residual::smooth)
  Tensor reference = {};  ///< mean of the squared reference term over the same points
  Tensor peak = {};       ///< largest R^2 of one point
  Tensor boundary = {};   ///< mean of the squared violation of boundary and initial conditions; undefined without any

  double mean_pde_error() const;
  double mean_boundary_error() const;  ///< 0 without boundary conditions of their own
  double reference_rms() const;        ///< over all samples
  /// RMS(r_phys) / RMS(reference term), both over all samples.
  double rel_residual() const;
  /// The largest RMS(r_phys) of one sample, over the same RMS of the reference term.
  double worst_rel_residual() const;
  int64_t worst_sample() const;
};

/// Computed in float64 from the values as they are, on their device, `batch` samples at a time.
ResidualStatistics residual_statistics(const Pde& pde, const Tensor& fields, int64_t batch = 64);

/// The statistics of all samples, in order.
ResidualStatistics join_statistics(const std::vector<ResidualStatistics>& parts);

}  // namespace piddm
