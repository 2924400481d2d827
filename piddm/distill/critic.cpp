#include "piddm/distill/critic.h"

#include <cmath>

namespace piddm {

namespace {

const std::string kPrefix = "critic-";

}  // namespace

Critic::Critic(NetworkPtr network, ProcessPtr process, const AdamOptions& options)
    : network_(std::move(network)),
      process_(std::move(process)),
      options_(options),
      adam_(*network_, options),
      last_loss_(torch::zeros({1}, network_->parameters().front().options().requires_grad(false))) {}

void Critic::learn(int64_t k, const Tensor& x, const Tensor& e, const Tensor& t) {
  const torch::AutoGradMode with_gradient(true);
  adam_.zero_grad();
  const auto v = (*network_)(process_->diffuse(x, e, t), t);
  const auto loss = (v - process_->velocity(x, e, t)).square().mean();
  loss.backward();
  last_loss_ = loss.detach().view({1});
  if (adam_.fits_gpu_step()) {
    adam_.prepare(k, options_.lr);
    return adam_.step_on_gpu(loss);
  }
  const double norm = adam_.gradient_norm();
  require<NumericsError>(std::isfinite(norm) && all_finite(last_loss_),
                         "the critic's step {} is not finite; a smaller critic_lr usually helps", k);
  adam_.step(k, options_.lr, norm);
}

Tensor Critic::clean(const Tensor& x_t, const Tensor& t) const {
  const torch::NoGradGuard no_grad;
  return process_->clean(x_t, (*network_)(x_t, t), t);
}

ObjectiveState Critic::state() const {
  require<NumericsError>(all_finite(last_loss_), "the critic's loss is not finite; a smaller critic_lr usually helps");
  ObjectiveState out{{kPrefix + "loss", {{"loss", last_loss_.to(torch::kCPU)}}}};
  for (const auto& [part, tensors] : adam_.state()) out[kPrefix + part] = tensors;
  return out;
}

void Critic::load(const ObjectiveState& state) {
  std::map<std::string, TensorMap> own;
  for (const auto& [part, tensors] : state)
    if (part.rfind(kPrefix, 0) == 0) own[part.substr(kPrefix.size())] = tensors;
  adam_.load(own);
  require<DataError>(own.count("loss") == 1, "checkpoint: part 'objective-critic-loss' is missing");
  last_loss_ = own.at("loss").at("loss").to(last_loss_.device());
}

}  // namespace piddm
