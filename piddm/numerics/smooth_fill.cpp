#include "piddm/numerics/smooth_fill.h"

#include "piddm/core/error.h"
#include "piddm/numerics/conjugate_gradient.h"

namespace piddm {

namespace {

constexpr CgOptions kCg = {.tolerance = 1e-6, .acceptable = 1e-3};

/// sum over the neighbours j of i of x_i - x_j
Tensor differences(const Tensor& x) {
  auto out = torch::zeros_like(x);
  for (const int64_t axis : {2, 3}) {
    const auto step = x.diff(1, axis);
    out.narrow(axis, 0, step.size(axis)).sub_(step);
    out.narrow(axis, 1, step.size(axis)).add_(step);
  }
  return out;
}

}  // namespace

Tensor smooth_fill(const Tensor& values, const Tensor& mask, double length) {
  require<UsageError>(length > 0, "[smooth_fill] the length must be positive, got {}", length);
  require<DataError>(values.dim() == 4 && values.sizes() == mask.sizes(), "[smooth_fill] values {}, mask {}",
                     shape_string(values), shape_string(mask));
  const torch::NoGradGuard no_grad;
  const auto given = mask.to(torch::kFloat64), known = values.to(torch::kFloat64) * given, free = 1 - given;
  const double screening = 1 / (length * length);
  const auto a = [&](const Tensor& x) { return free * differences(x) + screening * x; };
  const auto same = [](const Tensor& x) { return x; };
  const auto between = conjugate_gradient(a, same, -free * differences(known), {}, kCg).x;
  return (known + between).to(values.scalar_type());
}

}  // namespace piddm
