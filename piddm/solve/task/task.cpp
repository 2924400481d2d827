#include "piddm/solve/task/task.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace piddm {

namespace {

/// `points` distinct random entries of every [H,W] of [B,C,H,W].
Tensor random_points(const Tensor& like, int64_t points, uint64_t seed) {
  const int64_t channels = like.size(1), entries = like.size(2) * like.size(3);
  const Tensor mask = torch::zeros({like.size(0), channels, entries});
  for (int64_t b = 0; b < like.size(0); ++b)
    for (int64_t c = 0; c < channels; ++c)
      mask[b][c].index_fill_(0, permutation(seed, Stream::masks, b * channels + c, entries).narrow(0, 0, points), 1);
  return mask.view(like.sizes());
}

/// The entries of field channels that are revealed where a task does not reveal all of them.
Tensor random_entries(Task task, const Tensor& truth, uint64_t seed, const ObserveOptions& options) {
  if (options.points > 0) return random_points(truth, options.points, seed);
  if (task != Task::reconstruct) return torch::ones_like(truth);
  const std::vector<int64_t> shape(truth.sizes().begin() + 1, truth.sizes().end());
  return uniform(seed, Stream::masks, 0, truth.size(0), shape) < options.share;
}

void check_options(const ObserveOptions& options, const Pde& pde) {
  require<UsageError>(options.share > 0 && options.share < 1, "the observed share must be between 0 and 1, got {}",
                      options.share);
  require<UsageError>(options.points >= 0 && options.points <= pde.grid().points(),
                      "observed points must be between 0 and {}, got {}", pde.grid().points(), options.points);
  const auto known = pde.channel_names();
  for (const auto& name : options.channels)
    require<UsageError>(std::find(known.begin(), known.end(), name) != known.end(), "[{}] {}", pde.name(),
                        unknown_name_message("channel", name, known));
}

}  // namespace

Task parse_task(const std::string& name) {
  Task task{};
  detail::read_value(json(name), task, "--task");
  return task;
}

Task parse_solve_task(const std::string& name) {
  auto names = enum_names(Task{});
  std::erase(names, task_name(Task::generate));
  require<UsageError>(name != task_name(Task::generate), "--task generate observes nothing; choose {}",
                      fmt::join(names, ", "));
  require<UsageError>(std::find(names.begin(), names.end(), name) != names.end(), "--task: {}",
                      unknown_name_message("task", name, names));
  return parse_task(name);
}

std::string task_name(Task task) { return enum_names(task).at(static_cast<size_t>(task)); }

bool reveals(Task task, const Channel& channel) {
  if (task == Task::reconstruct) return !channel.scalar;
  if (task == Task::forward) return channel.role == Role::coefficient;
  return task == Task::inverse && (channel.role == Role::solution || channel.given_in_inverse);
}

Observation observe(Task task, const Tensor& truth, const Pde& pde, uint64_t seed, const ObserveOptions& options) {
  require<UsageError>(task != Task::generate,
                      "the task generate observes nothing; choose forward, inverse or reconstruct");
  check_options(options, pde);
  pde.check_shape(truth);
  const auto entries = random_entries(task, truth, seed, options).to(truth.device(), truth.scalar_type());
  auto mask = torch::zeros_like(truth);
  for (int64_t c = 0; c < pde.num_channels(); ++c) {
    const auto& channel = pde.channels()[static_cast<size_t>(c)];
    const bool listed =
        options.channels.empty() || std::count(options.channels.begin(), options.channels.end(), channel.name) > 0;
    if (!listed || !reveals(task, channel)) continue;
    const bool whole = channel.scalar || (task == Task::inverse && channel.given_in_inverse);
    mask.select(1, c).copy_(whole ? torch::ones_like(entries.select(1, c)) : entries.select(1, c));
  }
  if (task == Task::forward)
    pde.solution(mask).copy_(pde.given_boundary().to(mask.options()).expand_as(pde.solution(mask)));
  return {truth, mask};
}

}  // namespace piddm
