#include "piddm/numerics/jacobian.h"

#include <cmath>

namespace piddm {

namespace {

Tensor gradient(const Tensor& of, const Tensor& by, const Tensor& weights, bool create_graph) {
  return torch::autograd::grad({of}, {by}, {weights}, /*retain_graph=*/true, create_graph)[0];
}

Tensor length_of(const Tensor& x) { return x.flatten(1).norm(2, 1); }

}  // namespace

Jacobian::Jacobian(RowFunction f, const Tensor& x, const Tensor& rows, JacobianProduct kind)
    : f_(std::move(f)), rows_(rows) {
  const torch::AutoGradMode with_grad(true);
  x_ = x.detach().clone().requires_grad_();
  graph_ = f_(x_, rows_);
  require<DataError>(graph_.dim() == 2 && graph_.size(0) == x.size(0), "[jacobian] expected values ({},M), got {}",
                     x.size(0), shape_string(graph_));
  value_ = graph_.detach();
  if (kind == JacobianProduct::difference) return;
  const bool possible = differentiate_backward();
  require<UsageError>(possible || kind == JacobianProduct::automatic,
                      "[jacobian] this network has first derivatives only; take products = \"difference\"");
}

bool Jacobian::differentiate_backward() {
  try {
    dummy_ = torch::zeros_like(value_).requires_grad_();
    const auto pulled = gradient(graph_, x_, dummy_, true);
    if (pulled.requires_grad()) pulled_ = pulled;
  } catch (const UsageError&) {
    pulled_ = Tensor();
  }
  return exact();
}

Tensor Jacobian::transposed(const Tensor& w) const { return gradient(graph_, x_, w, false); }

Tensor Jacobian::product(const Tensor& v) const {
  if (exact()) return gradient(pulled_, dummy_, v, false);
  const torch::NoGradGuard no_grad;
  const double eps = x_.scalar_type() == torch::kFloat64 ? 2.2e-16 : 1.2e-7;
  const auto reach = length_of(x_).clamp_min(1) * std::cbrt(eps);
  const auto size = length_of(v);
  const auto h = torch::where(size > 0, reach / size, torch::ones_like(size));
  std::vector<int64_t> shape(static_cast<size_t>(v.dim()), 1);
  shape[0] = -1;
  const auto step = h.view(shape) * v;
  return (f_(x_ + step, rows_) - f_(x_ - step, rows_)) / (2 * h.unsqueeze(1));
}

}  // namespace piddm
