#include "piddm/solve/task.h"

namespace piddm {

Task parse_task(const std::string& name) {
  Task task{};
  detail::read_value(json(name), task, "--task");
  return task;
}

std::string task_name(Task task) { return enum_names(task).at(static_cast<size_t>(task)); }

Observation observe(Task task, const Tensor& truth, const Pde& pde, uint64_t seed, double share) {
  require<UsageError>(task != Task::generate,
                      "the task generate observes nothing; choose forward, inverse or reconstruct");
  require<UsageError>(share > 0 && share < 1, "the observed share must be between 0 and 1, got {}", share);
  pde.check_shape(truth);
  auto mask = torch::zeros_like(truth);
  if (task == Task::reconstruct) {
    const std::vector<int64_t> shape(truth.sizes().begin() + 1, truth.sizes().end());
    mask = (uniform(seed, Stream::masks, 0, truth.size(0), shape) < share).to(truth.device(), truth.scalar_type());
  }
  for (int64_t c = 0; c < pde.num_channels(); ++c) {
    const auto& channel = pde.channels()[c];
    const bool coefficient = channel.role == Role::coefficient;
    if (task == Task::reconstruct) {
      if (channel.scalar) mask.select(1, c).zero_();
    } else if (coefficient == (task == Task::forward) || (coefficient && channel.given_in_inverse)) {
      mask.select(1, c).fill_(1);
    }
  }
  if (task == Task::forward)
    pde.solution(mask).copy_(pde.given_boundary().to(mask.options()).expand_as(pde.solution(mask)));
  return {truth, mask};
}

}  // namespace piddm
