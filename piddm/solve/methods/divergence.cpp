#include "piddm/solve/methods/divergence.h"

#include <cmath>

#include "piddm/core/log.h"

namespace piddm {

namespace {

constexpr double kLargestRms = 1000;  // network units, in which data have 1

Tensor finite(const Tensor& x) {
  const auto rms = x.flatten(1).square().mean(1).sqrt();
  return rms < kLargestRms;  // false for NaN
}

}  // namespace

DivergenceGuard::DivergenceGuard(std::string method, const Tensor& x)
    : method_(std::move(method)),
      diverged_(torch::zeros({x.size(0)}, x.options().dtype(torch::kBool))),
      first_(torch::zeros({x.size(0)}, x.options().dtype(torch::kInt64))),
      best_(torch::zeros_like(x)) {}

Tensor DivergenceGuard::step(const Tensor& next, const Tensor& clean, const Tensor& value) {
  ++steps_;
  const auto usable = finite(clean) & ~diverged_;
  if (value.defined())
    best_.update(clean, torch::where(usable, value, torch::full_like(value, INFINITY)));
  else
    best_.replace(clean, usable);
  const auto lost = ~finite(next) & ~diverged_;
  first_ = torch::where(lost, torch::full_like(first_, steps_), first_);
  diverged_ = diverged_ | lost;
  return torch::where(per_sample(diverged_, next), torch::zeros_like(next), next);
}

Tensor DivergenceGuard::finish(const Tensor& x) {
  if (!diverged_.any().item<bool>()) return x;
  spdlog::warn(
      "[{}] {} of {} samples diverged, the first at step {}; their best clean estimate is kept. Lower the weights.",
      method_, diverged_.sum().item<int64_t>(), diverged_.size(0),
      first_.masked_select(diverged_).min().item<int64_t>());
  return torch::where(per_sample(diverged_, x), best_.x(), x);
}

}  // namespace piddm
