#include "piddm/distill/weighting.h"

#include <cmath>

#include "piddm/core/error.h"

namespace piddm {

namespace {

constexpr double kLeastMean = 1e-30;  // a residual of exactly zero needs no weight

}  // namespace

Tensor DynamicWeight::factor(const Tensor& residual) const {
  if (steps_ == 0) return target_ / residual.detach().clamp_min(kLeastMean);
  const auto mean = sum_[0] / (1 - std::pow(memory_, static_cast<double>(steps_)));
  return (target_ / mean.clamp_min(kLeastMean)).to(residual.device(), residual.scalar_type());
}

void DynamicWeight::advance(const Tensor& residual) {
  const auto value = residual.detach().to(torch::kFloat64).view({1});
  sum_ = (steps_ == 0 ? torch::zeros_like(value) : sum_) * memory_ + value * (1 - memory_);
  ++steps_;
}

TensorMap DynamicWeight::state() const {
  if (steps_ == 0) return {{"steps", torch::zeros({1}, torch::kInt64)}};
  return {{"steps", torch::full({1}, steps_, torch::kInt64)}, {"sum", sum_.to(torch::kCPU)}};
}

void DynamicWeight::load(const TensorMap& state) {
  require<DataError>(state.count("steps") == 1, "checkpoint: the running residual is missing");
  steps_ = state.at("steps").item<int64_t>();
  if (steps_ > 0) sum_ = state.at("sum");
}

}  // namespace piddm
