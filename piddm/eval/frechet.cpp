#include "piddm/eval/frechet.h"

#include <cmath>
#include <limits>

#include "piddm/core/error.h"

namespace piddm {

namespace {

void check(const Tensor& x) {
  require<DataError>(x.defined() && x.dim() == 2 && x.size(1) > 0, "[frechet] expected features (N,d), got {}",
                     x.defined() ? shape_string(x) : "nothing");
  require<DataError>(x.size(0) >= 2, "[frechet] needs at least 2 samples, got {}", x.size(0));
}

/// A matrix with the Gram matrix over features of the centred samples over sqrt(N-1), and at most d rows.
Tensor root(const Tensor& x) {
  const auto centred = (x - x.mean(0)) / std::sqrt(static_cast<double>(x.size(0) - 1));
  return x.size(0) > x.size(1) ? std::get<1>(torch::linalg_qr(centred, "r")) : centred;
}

}  // namespace

Frechet frechet_distance(const Tensor& a, const Tensor& b) {
  check(a);
  check(b);
  require<DataError>(a.size(1) == b.size(1), "[frechet] {} and {} features a sample", a.size(1), b.size(1));
  if (!all_finite(a) || !all_finite(b)) {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    return {kNan, kNan, kNan, kNan, kNan};
  }
  const auto x = a.detach().to(torch::kCPU, torch::kFloat64), y = b.detach().to(torch::kCPU, torch::kFloat64);
  const auto first = root(x), second = root(y);
  Frechet out;
  out.mean_term = (x.mean(0) - y.mean(0)).square().sum().item<double>();
  out.trace1 = first.square().sum().item<double>();
  out.trace2 = second.square().sum().item<double>();
  out.trace_sqrt = torch::linalg_svdvals(first.matmul(second.t())).sum().item<double>();
  out.distance = out.mean_term + out.trace1 + out.trace2 - 2 * out.trace_sqrt;
  return out;
}

}  // namespace piddm
