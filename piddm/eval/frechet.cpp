#include "piddm/eval/frechet.h"

#include <cmath>
#include <limits>

#include "piddm/core/device.h"
#include "piddm/core/error.h"

namespace piddm {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

void check(const Tensor& x) {
  require<DataError>(x.defined() && x.dim() == 2 && x.size(1) > 0, "[frechet] expected features (N,d), got {}",
                     x.defined() ? shape_string(x) : "nothing");
  require<DataError>(x.size(0) >= 2, "[frechet] needs at least 2 samples, got {}", x.size(0));
}

}  // namespace

FeatureGaussian fit_gaussian(const Tensor& features) {
  check(features);
  const auto x = features.detach().to(torch::kCPU, torch::kFloat64), mean = x.mean(0);
  if (!all_finite(x)) return {mean, torch::full({1, x.size(1)}, kNan, torch::kFloat64)};
  const OneThread one;
  const auto centred = (x - mean) / std::sqrt(static_cast<double>(x.size(0) - 1));
  return {mean, x.size(0) > x.size(1) ? std::get<1>(torch::linalg_qr(centred, "r")) : centred};
}

Frechet frechet_distance(const FeatureGaussian& a, const FeatureGaussian& b) {
  require<DataError>(a.mean.size(0) == b.mean.size(0), "[frechet] {} and {} features per sample", a.mean.size(0),
                     b.mean.size(0));
  if (!all_finite(a.root) || !all_finite(b.root)) return {kNan, kNan, kNan, kNan, kNan};
  const OneThread one;
  Frechet out;
  out.mean_term = (a.mean - b.mean).square().sum().item<double>();
  out.trace1 = a.root.square().sum().item<double>();
  out.trace2 = b.root.square().sum().item<double>();
  out.trace_sqrt = torch::linalg_svdvals(a.root.matmul(b.root.t())).sum().item<double>();
  out.distance = out.mean_term + out.trace1 + out.trace2 - 2 * out.trace_sqrt;
  return out;
}

Frechet frechet_distance(const Tensor& a, const Tensor& b) {
  return frechet_distance(fit_gaussian(a), fit_gaussian(b));
}

}  // namespace piddm
