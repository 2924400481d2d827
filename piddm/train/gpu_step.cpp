#include "piddm/train/gpu_step.h"

#include "piddm/core/error.h"

namespace piddm {

GpuStep::GpuStep(Objective& objective, Adam& adam, bool graph)
    : objective_(objective), adam_(adam), record_(graph) {}

void GpuStep::run(int64_t step, double lr) {
  objective_.prepare(step);
  adam_.prepare(step + 1, lr);
  if (record_ && !graph_ && eager_ >= kWarmup && objective_.capturable(step)) record(step);
  if constexpr (cuda::kBuilt) {
    if (graph_) return graph_->replay();
  }
  work(step);
  ++eager_;
}

void GpuStep::work(int64_t step) {
  adam_.zero_grad();
  const auto loss = objective_.loss(step);
  loss.total.backward();
  adam_.step_on_gpu(loss.total);
  loss_ = {loss.total.detach(), {}};
  for (const auto& [name, value] : loss.terms) loss_.terms.emplace_back(name, value.detach());
}

void GpuStep::record(int64_t step) {
  loss_ = {};
  if constexpr (cuda::kBuilt) {
    try {
      graph_ = std::make_shared<cuda::Graph>([&] { work(step); }, 0);
    } catch (const c10::Error& error) {
      throw ResourceError("the training step cannot be recorded as a CUDA graph ({}); a smaller train.batch may help",
                          error.what_without_backtrace());
    }
  }
}

StepValues GpuStep::values() const {
  std::vector<Tensor> scalars = {loss_.total.to(torch::kFloat64).view({1})};
  for (const auto& [name, value] : loss_.terms) scalars.push_back(value.to(torch::kFloat64).view({1}));
  scalars.push_back(adam_.status());
  const auto host = torch::cat(scalars).to(torch::kCPU);
  const double* number = host.data_ptr<double>();
  StepValues values;
  values.loss = *number++;
  for (const auto& [name, unused] : loss_.terms) values.terms.emplace_back(name, *number++);
  values.gradient_norm = *number;  // the first of AdamStatus
  return values;
}

std::optional<int64_t> GpuStep::failed() const {
  const double step = adam_.status()[2].item<double>();
  return step < 0 ? std::nullopt : std::optional<int64_t>(static_cast<int64_t>(step));
}

}  // namespace piddm
