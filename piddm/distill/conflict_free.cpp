#include "piddm/distill/conflict_free.h"

namespace piddm {

namespace {

std::vector<Tensor> gradients(const Tensor& loss, const std::vector<Tensor>& parameters) {
  auto out = torch::autograd::grad({loss}, parameters, {}, /*retain_graph=*/true, /*create_graph=*/false,
                                   /*allow_unused=*/true);
  for (size_t i = 0; i < out.size(); ++i)
    if (!out[i].defined()) out[i] = torch::zeros_like(parameters[i]);
  return out;
}

Tensor dot(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  auto sum = torch::zeros({}, a.front().options().dtype(torch::kFloat64));
  for (size_t i = 0; i < a.size(); ++i) sum = sum + (a[i] * b[i]).sum(torch::kFloat64);
  return sum;
}

}  // namespace

Tensor conflict_free_sum(const Tensor& first, const Tensor& second, const std::vector<Tensor>& parameters) {
  const auto g = gradients(first, parameters), h = gradients(second, parameters);
  const torch::AutoGradMode with_gradient(true);
  const auto conflict = dot(g, h).clamp_max(0);
  const auto along_h = 1 - conflict / dot(h, h).clamp_min(1e-300), along_g = 1 - conflict / dot(g, g).clamp_min(1e-300);
  Tensor linear = torch::zeros_like(first.detach());  // its gradient in a parameter is the wanted one
  for (size_t i = 0; i < g.size(); ++i) {
    const auto wanted = g[i] * along_g.to(g[i].scalar_type()) + h[i] * along_h.to(h[i].scalar_type());
    linear = linear + (parameters[i] * wanted).sum();
  }
  return (first + second).detach() + (linear - linear.detach());
}

}  // namespace piddm
