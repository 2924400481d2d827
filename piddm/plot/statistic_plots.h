#pragma once
// Figures of what samples have in common: mean, deviation and quantiles of each entry, power spectra, calibration.

#include "piddm/data/dataset.h"
#include "piddm/plot/figure.h"

namespace piddm {

/// For each field channel its mean (or standard deviation) over the samples; with a reference [M,C,H,W] that of the
/// reference and the difference beside it. Scalar channels are numbers: mean and deviation.
Figure draw_mean(const Dataset& data, const PdePtr& pde, const Tensor& reference, const std::string& title);
Figure draw_deviation(const Dataset& data, const PdePtr& pde, const Tensor& reference, const std::string& title);

/// For each field channel the 5th, 50th and 95th percentile of every entry, in one scale; a scalar channel as numbers.
Figure draw_quantiles(const Dataset& data, const PdePtr& pde, const std::string& title);

/// One log-log chart for each field channel: the data against `reference` [M,C,H,W], which is called `reference_name`
/// in the legend.
Figure draw_spectra(const Dataset& data, const Pde& pde, const Tensor& reference, const std::string& reference_name);

/// How often true values [M,C,H,W] lie in the central interval that holds a share p of the samples, entry by entry, for
/// p from 0 to 1: on the diagonal the samples' spread is right, below it they are too sure of themselves. Two-valued
/// channels, whose quantiles are their two values, are left out.
Figure draw_calibration(const Dataset& data, const PdePtr& pde, const Tensor& reference, const std::string& title);

/// The shares of draw_calibration for samples [N,K] and true values [M,K], at these p.
std::vector<double> central_coverage(const Tensor& samples, const Tensor& truth, const std::vector<double>& shares);

}  // namespace piddm
