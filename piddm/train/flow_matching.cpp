#include "piddm/train/flow_matching.h"

#include "piddm/core/rng.h"

namespace piddm {

FlowMatching::FlowMatching(Network& network, ProcessPtr process, Tensor data, int64_t batch, uint64_t seed)
    : network_(network),
      process_(std::move(process)),
      data_(std::move(data)),
      order_(data_.size(0), batch, seed),
      seed_(seed) {}

Loss FlowMatching::loss(int64_t step) {
  const int64_t batch = order_.batch_size();
  const auto x0 = data_.index_select(0, order_.batch(step).to(data_.device()));
  const std::vector<int64_t> shape(data_.sizes().begin() + 1, data_.sizes().end());
  const auto e = normal(seed_, Stream::noise, step * batch, batch, shape).to(data_.device());
  const auto u = uniform(seed_, Stream::time, step * batch, batch, {}).to(data_.device());
  const auto t = process_->t_end() + (1 - process_->t_end()) * u;
  const auto v = network_(process_->diffuse(x0, e, t), t);
  return {(v - process_->velocity(x0, e, t)).square().mean(), {}};
}

}  // namespace piddm
