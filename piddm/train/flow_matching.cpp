#include "piddm/train/flow_matching.h"

#include "piddm/core/cuda.h"
#include "piddm/core/rng.h"
#include "piddm/cuda/flow_batch.h"
#include "piddm/train/upload.h"

namespace piddm {

namespace {

Tensor flat(const Tensor& schedule, const Tensor& t) { return schedule.view({-1}).expand_as(t).contiguous(); }

}  // namespace

FlowMatching::FlowMatching(Network& network, ProcessPtr process, const Tensor& data, int64_t batch, uint64_t seed,
                           Spacing times)
    : network_(network),
      process_(std::move(process)),
      data_(data.contiguous()),
      order_(data_.size(0), batch, seed),
      seed_(seed),
      spacing_(times),
      fused_(cuda::kBuilt && data_.is_cuda() && data_.scalar_type() == torch::kFloat32) {
  if (fused_) sent_ = torch::zeros({1 + batch}, data_.options().dtype(torch::kInt64));
}

Tensor FlowMatching::times(const Tensor& u) const { return random_times(spacing_, u, process_->t_end(), 1); }

void FlowMatching::prepare(int64_t step) {
  if (!fused_) return;
  const auto first = torch::full({1}, step * order_.batch_size(), torch::kInt64);
  upload(torch::cat({first, order_.batch(step)}), sent_);
  prepared_ = step;
}

FlowMatching::Batch FlowMatching::composed_batch(int64_t step) {
  const int64_t batch = order_.batch_size();
  const auto x0 = data_.index_select(0, order_.batch(step).to(data_.device()));
  const std::vector<int64_t> shape(data_.sizes().begin() + 1, data_.sizes().end());
  const auto e = normal(seed_, Stream::noise, step * batch, batch, shape, torch::kFloat32, data_.device());
  const auto t = times(uniform(seed_, Stream::time, step * batch, batch, {}, torch::kFloat32, data_.device()));
  return {process_->diffuse(x0, e, t), process_->velocity(x0, e, t), t};
}

FlowMatching::Batch FlowMatching::fused_batch() const {
  const int64_t batch = order_.batch_size();
  const c10::DeviceGuard guard(data_.device());
  const auto t = times(uniform(seed_, Stream::time, sent_.narrow(0, 0, 1), batch, {}));
  const auto s = process_->at(t);
  const auto alpha = flat(s.alpha, t), sigma = flat(s.sigma, t), d_alpha = flat(s.d_alpha, t),
             d_sigma = flat(s.d_sigma, t);
  auto sizes = data_.sizes().vec();
  sizes[0] = batch;
  const auto x_t = torch::empty(sizes, data_.options()), target = torch::empty_like(x_t);
  if constexpr (cuda::kBuilt) {
    const auto* sent = sent_.data_ptr<int64_t>();
    const cuda::Samples noise{seed_, static_cast<uint32_t>(Stream::noise), sent, 0, batch, x_t[0].numel()};
    cuda::flow_batch(
        {data_.data_ptr<float>(), sent + 1, alpha.data_ptr<float>(), sigma.data_ptr<float>(), d_alpha.data_ptr<float>(),
         d_sigma.data_ptr<float>(), noise, x_t.data_ptr<float>(), target.data_ptr<float>()},
        cuda::current_stream());
  }
  return {x_t, target, t};
}

Loss FlowMatching::judge(const Batch& batch, const Tensor& v) { return {(v - batch.target).square().mean(), {}}; }

Loss FlowMatching::loss(int64_t step) {
  if (fused_ && prepared_ != step) prepare(step);
  const auto batch = fused_ ? fused_batch() : composed_batch(step);
  return judge(batch, network_(batch.x_t, batch.t));
}

}  // namespace piddm
