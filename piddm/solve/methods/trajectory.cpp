#include "piddm/solve/methods/trajectory.h"

namespace piddm {

Trajectory::Trajectory(const Model& model, int64_t steps, int64_t segment, Spacing spacing)
    : model_(model), steps_(model, steps, spacing), segment_(segment == 0 ? steps : segment) {}

Tensor Trajectory::advance(Tensor x, int64_t first, int64_t count) const {
  for (int64_t i = first; i < std::min(first + count, steps_.count()); ++i)
    x = steps_.euler(x, steps_.velocity(x, i), i);
  return x;
}

Tensor Trajectory::end(const Tensor& noise) const {
  const torch::NoGradGuard no_grad;
  return advance(noise, 0, steps_.count());
}

Evaluation Trajectory::evaluate(const Tensor& noise, const std::function<Tensor(const Tensor&)>& loss) {
  std::vector<Tensor> starts;  // of the segments
  auto x = noise.detach();
  const int64_t last = (steps_.count() - 1) / segment_ * segment_;  // its segment keeps its graph at once
  {
    const torch::NoGradGuard no_grad;
    for (int64_t at = 0; at < last; at += segment_) {
      starts.push_back(x);
      x = advance(x, at, segment_);
    }
  }
  const torch::AutoGradMode with_gradient(true);
  auto leaf = x.detach().requires_grad_(true);
  const auto value = loss(advance(leaf, last, segment_));
  auto gradient = torch::autograd::grad({value.sum()}, {leaf})[0];
  const WorkMeter meter(*model_.network);
  for (int64_t at = last - segment_; at >= 0; at -= segment_) {
    leaf = starts[static_cast<size_t>(at / segment_)].requires_grad_(true);
    gradient = torch::autograd::grad({advance(leaf, at, segment_)}, {leaf}, {gradient})[0];
    starts.pop_back();
  }
  recomputed_ += meter.spent().forward;
  return {value.detach(), gradient};
}

}  // namespace piddm
