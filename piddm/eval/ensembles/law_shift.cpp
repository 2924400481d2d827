#include "piddm/eval/ensembles/law_shift.h"

#include <cmath>

namespace piddm {

namespace {

constexpr double kFactor = 2;

/// Every second entry along an axis, and the same in reverse.
Tensor reflected(const Tensor& field, int64_t axis) {
  const int64_t size = field.size(axis);
  const auto half = field.slice(axis, 0, size, 2);
  return torch::cat({half, half.flip(axis).slice(axis, 2 * half.size(axis) - size)}, axis);
}

Tensor rougher(const Tensor& field, const Channel& channel) {
  return channel.scalar ? field : reflected(reflected(field, 1), 2);
}

Tensor stronger(const Tensor& field, const Channel& channel) {
  if (!channel.two_valued) return field.mean() + kFactor * (field - field.mean());
  const auto [low, high] = *channel.two_valued;
  const bool positive = low > 0;
  const double step = positive ? std::sqrt(kFactor) : 0.5 * (high - low);
  const double new_low = positive ? low / step : low - step, new_high = positive ? high * step : high + step;
  return torch::where(field > (low + high) / 2, torch::full_like(field, new_high), torch::full_like(field, new_low));
}

}  // namespace

Tensor shifted(const Tensor& truth, LawShift shift, const Pde& pde) {
  pde.check_shape(truth);
  auto x = truth.to(torch::kFloat64).clone();
  for (int64_t c = pde.num_solution_channels(); c < pde.num_channels(); ++c) {
    const auto& channel = pde.channels()[static_cast<size_t>(c)];
    const auto field = truth.select(1, c).to(torch::kFloat64);
    x.select(1, c).copy_(shift == LawShift::roughness ? rougher(field, channel) : stronger(field, channel));
  }
  return pde.decode(x).x;
}

}  // namespace piddm
