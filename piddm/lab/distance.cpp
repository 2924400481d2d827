#include "piddm/lab/distance.h"

#include <cmath>

#include "piddm/eval/metrics.h"

namespace piddm {

namespace {

constexpr int kBisections = 80;
constexpr double kReach = 12;  // standard deviations

Tensor sorted_values(const Tensor& x) {
  return std::get<0>(x.detach().to(torch::kCPU, torch::kFloat64).flatten().sort());
}

}  // namespace

Tensor quantiles(const GaussianMixture& law, int64_t n) {
  require<DataError>(law.dimension() == 1, "[quantiles] needs a law in one dimension, got {}", law.dimension());
  const auto mean = law.means().flatten(), deviation = law.covariances().flatten().sqrt();
  const auto level = (torch::arange(n, torch::kFloat64) + 0.5) / static_cast<double>(n);
  auto low = torch::full({n}, (mean - kReach * deviation).min().item<double>() - 1e-9, torch::kFloat64);
  auto high = torch::full({n}, (mean + kReach * deviation).max().item<double>() + 1e-9, torch::kFloat64);
  for (int i = 0; i < kBisections; ++i) {
    const auto middle = (low + high) / 2;
    const auto z = (middle.unsqueeze(1) - mean) / deviation.clamp_min(1e-300);
    const auto above = (torch::special_ndtr(z) * law.weights()).sum(1) >= level;
    high = torch::where(above, middle, high);
    low = torch::where(above, low, middle);
  }
  return (low + high) / 2;
}

double wasserstein(const Tensor& a, const Tensor& b) {
  require<DataError>(a.numel() == b.numel() && a.numel() > 0, "[wasserstein] {} values against {}", a.numel(),
                     b.numel());
  return (sorted_values(a) - sorted_values(b)).abs().mean().item<double>();
}

double wasserstein(const Tensor& samples, const GaussianMixture& law) {
  return wasserstein(samples, quantiles(law, samples.numel()));
}

double wasserstein_floor(const GaussianMixture& law, int64_t n, uint64_t seed, int64_t repeats) {
  const auto exact = quantiles(law, n);
  std::vector<double> values;
  for (int64_t i = 0; i < repeats; ++i)
    values.push_back(wasserstein(law.sample(seed, Stream::splits, i * n, n), exact));
  return percentile(values, 95);
}

}  // namespace piddm
