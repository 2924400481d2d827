#include "piddm/train/adam.h"

#include <cmath>

#include "piddm/core/cuda.h"
#include "piddm/core/error.h"
#include "piddm/train/upload.h"

namespace piddm {

Adam::Adam(torch::nn::Module& module, const AdamOptions& options) : options_(options) {
  torch::NoGradGuard no_grad;
  const auto parameters = module.named_parameters();
  int64_t total = 0;
  for (const auto& entry : parameters) {
    entries_.push_back({entry.key(), entry.value().sizes().vec(), total, entry.value().numel()});
    total += entry.value().numel();
  }
  require<UsageError>(total > 0, "[adam] the network has no parameters");
  weights_ = torch::empty({total}, parameters[0].value().options().requires_grad(false));
  gradient_ = torch::zeros_like(weights_);
  size_t i = 0;
  for (const auto& entry : parameters) {
    const auto& e = entries_[i++];
    auto parameter = entry.value();
    auto view = weights_.narrow(0, e.offset, e.size).view(e.shape);
    view.copy_(parameter);
    parameter.set_data(view);
    parameter.mutable_grad() = gradient_.narrow(0, e.offset, e.size).view(e.shape);
  }
  exp_avg_ = torch::zeros_like(weights_);
  exp_avg_sq_ = torch::zeros_like(weights_);
  ema_ = weights_.clone();
  if (!fits_gpu_step()) return;
  const auto doubles = weights_.options().dtype(torch::kFloat64);
  numbers_ = torch::zeros({sizeof(cuda::AdamNumbers) / sizeof(double)}, doubles);
  status_ = torch::tensor({0.0, 1.0, -1.0}, torch::kFloat64).to(weights_.device());
  partial_ = torch::zeros({cuda::kNormBlocks}, doubles);
}

bool Adam::fits_gpu_step() const {
  return cuda::kBuilt && weights_.is_cuda() && weights_.scalar_type() == torch::kFloat32;
}

cuda::AdamNumbers Adam::numbers(int64_t k, double lr) const {
  const double correction1 = 1 - std::pow(options_.beta1, k), correction2 = 1 - std::pow(options_.beta2, k);
  return {static_cast<double>(k - 1), lr / correction1, std::sqrt(correction2),
          1 - std::min(options_.ema, (1.0 + k) / (10.0 + k))};
}

std::string Adam::non_finite_gradient() const {
  for (const auto& e : entries_)
    if (!all_finite(gradient_.narrow(0, e.offset, e.size))) return e.name;
  return "";
}

void Adam::step(int64_t k, double lr, double norm) {
  torch::NoGradGuard no_grad;
  if (options_.clip > 0 && norm > options_.clip) gradient_.mul_(options_.clip / norm);
  exp_avg_.mul_(options_.beta1).add_(gradient_, 1 - options_.beta1);
  exp_avg_sq_.mul_(options_.beta2).addcmul_(gradient_, gradient_, 1 - options_.beta2);
  const auto n = numbers(k, lr);
  const auto denominator = exp_avg_sq_.sqrt().div_(n.root_correction2).add_(options_.eps);
  weights_.addcdiv_(exp_avg_, denominator, -n.step_size);
  ema_.lerp_(weights_, n.ema_share);
}

void Adam::prepare(int64_t k, double lr) {
  const auto n = numbers(k, lr);
  upload(torch::tensor({n.step, n.step_size, n.root_correction2, n.ema_share}, torch::kFloat64), numbers_);
}

void Adam::step_on_gpu(const Tensor& loss) {
  const auto value = loss.detach().to(torch::kFloat32);
  const c10::DeviceGuard guard(weights_.device());
  if constexpr (cuda::kBuilt) {
    const cuda::AdamBuffers buffers{.size = weights_.numel(),
                                    .gradient = gradient_.data_ptr<float>(),
                                    .exp_avg = exp_avg_.data_ptr<float>(),
                                    .exp_avg_sq = exp_avg_sq_.data_ptr<float>(),
                                    .weights = weights_.data_ptr<float>(),
                                    .ema = ema_.data_ptr<float>(),
                                    .loss = value.data_ptr<float>(),
                                    .numbers = reinterpret_cast<cuda::AdamNumbers*>(numbers_.data_ptr<double>()),
                                    .status = reinterpret_cast<cuda::AdamStatus*>(status_.data_ptr<double>()),
                                    .partial = partial_.data_ptr<double>()};
    const auto& o = options_;
    cuda::adam_step(buffers,
                    {.beta1 = static_cast<float>(o.beta1),
                     .one_minus_beta1 = static_cast<float>(1 - o.beta1),
                     .beta2 = static_cast<float>(o.beta2),
                     .one_minus_beta2 = static_cast<float>(1 - o.beta2),
                     .eps = static_cast<float>(o.eps),
                     .clip = o.clip},
                    cuda::current_stream());
  }
}

void Adam::swap_ema() {
  const auto weights = weights_.clone();
  weights_.copy_(ema_);
  ema_.copy_(weights);
}

TensorMap Adam::split(const Tensor& flat) const {
  const auto host = flat.to(torch::kCPU);
  TensorMap out;
  for (const auto& e : entries_) out[e.name] = host.narrow(0, e.offset, e.size).view(e.shape).clone();
  return out;
}

void Adam::join(Tensor& flat, const TensorMap& tensors) const {
  for (const auto& e : entries_) {
    const auto found = tensors.find(e.name);
    require<DataError>(found != tensors.end(), "checkpoint: tensor '{}' is missing", e.name);
    require<DataError>(found->second.sizes().vec() == e.shape, "checkpoint: tensor '{}' has shape {}", e.name,
                       shape_string(found->second));
    flat.narrow(0, e.offset, e.size).view(e.shape).copy_(found->second);
  }
}

std::map<std::string, TensorMap> Adam::state() const {
  return {{"model", split(weights_)},
          {"ema", split(ema_)},
          {"exp_avg", split(exp_avg_)},
          {"exp_avg_sq", split(exp_avg_sq_)}};
}

void Adam::load(const std::map<std::string, TensorMap>& state) {
  torch::NoGradGuard no_grad;
  for (auto& [part, flat] : std::map<std::string, Tensor>{
           {"model", weights_}, {"ema", ema_}, {"exp_avg", exp_avg_}, {"exp_avg_sq", exp_avg_sq_}}) {
    require<DataError>(state.count(part) == 1, "checkpoint: part '{}' is missing", part);
    auto target = flat;
    join(target, state.at(part));
  }
}

}  // namespace piddm
