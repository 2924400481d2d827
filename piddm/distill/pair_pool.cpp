#include "piddm/distill/pair_pool.h"

namespace piddm {

void PairPool::refresh(int64_t window) {
  std::vector<Tensor> latents, targets;
  for (int64_t number = std::max<int64_t>(0, window - source_.options().pool + 1); number <= window; ++number) {
    const auto chunk = source_.chunk(number);
    latents.push_back(chunk.latents);
    targets.push_back(chunk.targets);
  }
  pool_ = {torch::cat(latents), torch::cat(targets)};
  order_.emplace(pool_.latents.size(0), batch_, seed_ + static_cast<uint64_t>(window));
  window_ = window;
}

Pairs PairPool::batch(int64_t step) {
  const int64_t every = source_.options().every;
  if (const int64_t window = step / every; window != window_) refresh(window);
  const auto rows = order_->batch(step - window_ * every).to(pool_.latents.device());
  return {pool_.latents.index_select(0, rows), pool_.targets.index_select(0, rows)};
}

const Pairs& PairPool::held_out() {
  if (!held_out_.latents.defined()) held_out_ = source_.held_out();
  return held_out_;
}

}  // namespace piddm
