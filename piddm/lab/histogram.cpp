#include "piddm/lab/histogram.h"

namespace piddm {

Tensor histogram(const Tensor& samples, const HistogramRange& range) {
  const auto values = samples.detach().to(torch::kCPU, torch::kFloat64).flatten();
  const double width = (range.high - range.low) / static_cast<double>(range.bins);
  const auto counts = torch::histc(values, range.bins, range.low, range.high);
  return counts / (static_cast<double>(values.numel()) * width);
}

Curve histogram_curve(const std::string& name, const Tensor& samples, const HistogramRange& range) {
  const auto density = histogram(samples, range);
  const double width = (range.high - range.low) / static_cast<double>(range.bins);
  Curve curve{name};
  for (int64_t i = 0; i < range.bins; ++i)
    for (const int64_t edge : {i, i + 1}) {
      curve.x.push_back(range.low + static_cast<double>(edge) * width);
      curve.y.push_back(density[i].item<double>());
    }
  return curve;
}

}  // namespace piddm
