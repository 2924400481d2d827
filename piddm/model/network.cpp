#include "piddm/model/network.h"

#include "piddm/model/network_registry.h"

namespace piddm {

Tensor Network::replayed(const Tensor& x, const Tensor& t) {
  size_t weights = 0;
  for (const auto& p : parameters()) weights = c10::hash_combine(weights, std::hash<const void*>()(p.data_ptr()));
  const auto kind = fmt::format("{} {}", static_cast<int>(precision_), weights);
  return replay_(kind, x, t, [this](const Tensor& a, const Tensor& b) { return forward(a, b); });
}

Tensor Network::operator()(const Tensor& x, const Tensor& t) {
  const auto y = Replay::takes(x, t) ? replayed(x, t) : forward(x, t);
  work_->forward += y.size(0);
  if (y.requires_grad()) {
    y.register_hook([work = work_](const Tensor& gradient) { work->backward += gradient.size(0); });
  }
  return y;
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
