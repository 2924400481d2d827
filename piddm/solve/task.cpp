#include "piddm/solve/task.h"

namespace piddm {

Task parse_task(const std::string& name) {
  Task task{};
  detail::read_value(json(name), task, "--task");
  return task;
}

std::string task_name(Task task) { return enum_names(task).at(static_cast<size_t>(task)); }

namespace {

Tensor channel_mask(Task task, const Channel& channel, const Tensor& field, uint64_t seed, int64_t index, double share) {
  if (task == Task::reconstruct) {
    if (channel.scalar) return torch::zeros_like(field);
    const auto draws = uniform(seed + static_cast<uint64_t>(index), Stream::masks, 0, field.size(0), {field.size(1), field.size(2)});
    return (draws < share).to(field.options());
  }
  const bool known = (task == Task::forward) == (channel.role == Role::coefficient);
  return known ? torch::ones_like(field) : torch::zeros_like(field);
}

}  // namespace

Observation observe(Task task, const Tensor& truth, const Pde& pde, uint64_t seed, double share) {
  require<UsageError>(task != Task::generate, "the task generate observes nothing; choose forward, inverse or reconstruct");
  require<UsageError>(share > 0 && share < 1, "the observed share must be between 0 and 1, got {}", share);
  pde.check_shape(truth);
  std::vector<Tensor> masks;
  for (int64_t c = 0; c < pde.num_channels(); ++c)
    masks.push_back(channel_mask(task, pde.channels()[c], truth.select(1, c), seed, c, share));
  return {truth, torch::stack(masks, 1)};
}

}  // namespace piddm
