#include "piddm/model/replay.h"

#include <algorithm>

namespace piddm {

bool Replay::takes(const Tensor& x, const Tensor& t) {
  if constexpr (cuda::kBuilt) {
    return x.is_cuda() && t.is_cuda() && x.dim() == 4 && !torch::GradMode::is_enabled() &&
           x.size(0) * x.size(2) * x.size(3) <= kReplayPoints && !cuda::recording();
  }
  return false;
}

Replay::Entry& Replay::entry(const std::string& key) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.key == key; });
  if (found != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, found);
  } else {
    if (entries_.size() == kReplayGraphs) entries_.pop_back();
    entries_.emplace_front().key = key;
  }
  return entries_.front();
}

Tensor Replay::operator()(const std::string& kind, const Tensor& x, const Tensor& t, const Forward& forward) {
  if constexpr (cuda::kBuilt) {
    auto& e = entry(fmt::format("{} {} {} {} {}", kind, x.device().str(), c10::toString(x.scalar_type()),
                                shape_string(x), shape_string(t)));
    if (!e.graph && ++e.calls <= kReplayAfter) return forward(x, t);
    if (!e.graph) {
      e.x = x.clone();
      e.t = t.clone();
      e.graph = std::make_shared<cuda::Graph>([&] { e.y = forward(e.x, e.t); });
    }
    e.x.copy_(x);
    e.t.copy_(t);
    e.graph->replay();
    return e.y.clone();
  }
  return forward(x, t);
}

}  // namespace piddm
