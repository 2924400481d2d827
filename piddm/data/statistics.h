#pragma once
// Statistics of a data set in float64, on the CPU with the same bits for any number of threads and any split into
// batches: every sample is summed by one plain loop, and samples are combined in order.

#include <string>
#include <utility>
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

/// How well samples satisfy one equation, one number per sample: [N] float64 on the CPU.
struct EquationStatistics {
  Tensor pde_error = {};  ///< mean of R^2 over the scored points
  Tensor residual = {};   ///< mean of r_phys^2 over the points that count in rel_residual (ResidualField::smooth)
  Tensor reference = {};  ///< mean of the squared reference term over the same points
  Tensor peak = {};       ///< largest R^2 of one point

  double mean_pde_error() const;
  double reference_rms() const;  ///< over all samples
  /// RMS(r_phys) / RMS(reference term), both over all samples.
  double rel_residual() const;
};

/// How well samples satisfy a PDE: each of its equations, and all together. All means over the equations, and over the
/// squares where RMS is meant; of one equation: its own numbers.
struct ResidualStatistics {
  std::vector<EquationStatistics> equations = {};  ///< as Pde::equations() lists them; none without samples
  Tensor boundary = {};  ///< [N], mean of the squared violation of boundary and initial conditions; undefined without

  Tensor pde_error() const;
  double mean_pde_error() const;
  double mean_boundary_error() const;  ///< 0 without boundary conditions of their own
  std::vector<double> reference_rms() const;
  /// Mean squares whose root over all samples, divided by reference_rms[0], is rel_residual: [N]. Each equation's
  /// residual is measured by its own reference term.
  Tensor residual(const std::vector<double>& reference_rms) const;
  double rel_residual() const;
  /// The largest of one sample, over the same RMS of the reference terms.
  double worst_rel_residual() const;
};

/// pde_error and rel_residual, and where there are several equations pde_error_NAME and rel_residual_NAME, means over
/// the samples: what metrics and floors are called.
std::vector<std::pair<std::string, double>> residual_scores(const Pde& pde, const ResidualStatistics& statistics);

/// Computed in float64 from the values as they are, on their device, `batch` samples at a time.
ResidualStatistics residual_statistics(const Pde& pde, const Tensor& fields, int64_t batch = 64);

/// The statistics of all samples, in order.
ResidualStatistics join_statistics(const std::vector<ResidualStatistics>& parts);

}  // namespace piddm
