#pragma once
// Histograms as curves of a line chart.

#include <string>

#include "piddm/core/tensor.h"
#include "piddm/plot/figure.h"

namespace piddm {

/// `bins` equal bins from low to high; what lies outside is counted in no bin but in the total.
struct HistogramRange {
  double low = 0, high = 1;
  int64_t bins = 100;
};

/// Densities of the bins, [bins] float64; their sum times the bin width is the share inside.
Tensor histogram(const Tensor& samples, const HistogramRange& range);

/// The outline of the histogram.
Curve histogram_curve(const std::string& name, const Tensor& samples, const HistogramRange& range);

}  // namespace piddm
