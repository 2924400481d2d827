#include "piddm/model/network.h"

#include "piddm/model/network_registry.h"

namespace piddm {

namespace {

/// A flag that is set while the object lives.
class Inside {
 public:
  explicit Inside(bool& flag) : flag_(flag) { flag_ = true; }
  ~Inside() { flag_ = false; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  bool& flag_;
};

}  // namespace

Tensor Network::replayed(const std::string& name, const Tensor& x, const Tensor& t, const Replay::Forward& work) {
  size_t weights = 0;
  for (const auto& p : parameters()) weights = c10::hash_combine(weights, std::hash<const void*>()(p.data_ptr()));
  return replay_(fmt::format("{} {} {}", name, static_cast<int>(precision_), weights), x, t, work);
}

Tensor Network::recorded_step(const std::string& name, const Tensor& x, const Tensor& times, int64_t evaluations,
                              const Replay::Forward& step) {
  if (!Replay::takes(x, times)) return step(x, times);
  const int64_t before = work_->forward;
  const Inside inside(in_step_);
  const auto y = replayed(name, x, times, step);
  work_->forward = before + evaluations * x.size(0);
  return y;
}

Tensor Network::operator()(const Tensor& x, const Tensor& t) {
  const bool replay = !in_step_ && Replay::takes(x, t);
  const auto y = replay ? replayed("forward", x, t, [this](const Tensor& a, const Tensor& b) { return forward(a, b); })
                        : forward(x, t);
  work_->forward += y.size(0);
  if (y.requires_grad()) {
    y.register_hook([work = work_](const Tensor& gradient) { work->backward += gradient.size(0); });
  }
  return y;
}

int64_t Network::bytes_per_sample(int64_t channels, const GridSize& grid, bool gradient) const {
  return layered_bytes({.width = channels}, channels, grid, gradient);
}

int64_t layered_bytes(const LayerSizes& sizes, int64_t channels, const GridSize& grid, bool gradient) {
  const int64_t floats =
      gradient ? 8 * sizes.width * sizes.layers + 2 * sizes.pointwise : 4 * sizes.width + sizes.pointwise;
  return 4 * (floats + 8 * channels) * grid.points();
}

NetworkPtr make_network(const std::string& type, const json& options, uint64_t seed) {
  return network_registry().at(type)(options, seed);
}

std::vector<std::pair<std::string, std::string>> list_networks() {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& entry : network_registry().entries()) out.emplace_back(entry.name, entry.summary);
  return out;
}

}  // namespace piddm
