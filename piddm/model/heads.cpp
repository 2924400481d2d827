#include "piddm/model/heads.h"

#include <cmath>

#include "piddm/numerics/fast_poisson.h"
#include "piddm/numerics/sine_transform.h"

namespace piddm {

namespace {

// (1 + lambda/lambda_c)^-1 over the sine modes with these eigenvalues.
Tensor smoothing_filter(const Tensor& lambda, double cut_off_mode) {
  const double lambda_c = std::pow(M_PI * cut_off_mode, 2);
  return 1 / (1 + lambda / lambda_c);
}

}  // namespace

Heads::Heads(const Model& model, const HeadOptions& options)
    : normalizer_(model.normalizer), pde_(model.pde), heads_(options) {
  check_bounds(heads_, "heads");
  require<UsageError>(!heads_.sharp || heads_.bounded, "heads.sharp: needs heads.bounded");
  require<UsageError>(heads_.corrector == 0 || pde_->has_corrector(),
                      "heads.corrector: {} has no solver fast enough to correct with", pde_->name());
  if (!heads_.smooth) return;
  const int64_t h = pde_->grid().height(), w = pde_->grid().width();
  const auto weights = model.network->parameters().front().options().requires_grad(false);
  const auto filter = [&](const GridSize& points, Walls walls) {
    return smoothing_filter(laplace_eigenvalues(points, walls), heads_.smooth_modes).to(weights);
  };
  filter_ = filter({h, w}, Walls::between_points);
  node_filter_ = filter({h - 2, w - 2}, Walls::on_points);
}

Tensor Heads::smooth(const Tensor& u, ZeroOn zero_on) const {
  if (zero_on == ZeroOn::wall) return inverse_sine_transform(sine_transform(u) * filter_);
  const auto inner = u.narrow(-2, 1, u.size(-2) - 2).narrow(-1, 1, u.size(-1) - 2);
  return torch::constant_pad_nd(node_sine_transform(node_sine_transform(inner) * node_filter_), {1, 1, 1, 1});
}

Tensor Heads::shaped(const Tensor& field, const Channel& channel) const {
  if (heads_.smooth && channel.zero_on != ZeroOn::nothing) return smooth(field, channel.zero_on);
  if (heads_.constant && channel.scalar) return field.mean({1, 2}, true).expand_as(field);
  if (!heads_.bounded || !channel.two_valued) return field;
  const auto [low, high] = *channel.two_valued;
  const double mid = (low + high) / 2, half = (high - low) / 2;
  return mid + half * torch::tanh((field - mid) * (heads_.bounded_gain / half));
}

Tensor Heads::cut(const Tensor& field, const Channel& channel) const {
  if (!channel.two_valued) return field;
  const auto [low, high] = *channel.two_valued;
  const auto nearer =
      torch::where(field >= (low + high) / 2, torch::full_like(field, high), torch::full_like(field, low));
  return nearer + (field - field.detach());
}

Tensor Heads::corrected(const Tensor& x) const {
  if (!frozen_) return pde_->correct(x, heads_.corrector);
  const auto a = pde_->coefficients(x);
  const auto u = pde_->solution(pde_->correct(torch::cat({pde_->solution(x), a.detach()}, 1), heads_.corrector));
  return torch::cat({u, a}, 1);
}

Tensor Heads::shape_all(const Tensor& x) const {
  auto fields = x.unbind(1);
  for (size_t c = 0; c < fields.size(); ++c) fields[c] = shaped(fields[c], pde_->channels()[c]);
  const auto y = torch::stack(fields, 1);
  return heads_.constrained && heads_.corrector == 0 ? pde_->constrain(y) : y;
}

Tensor Heads::finish(const Tensor& x) const {
  auto y = x;
  if (heads_.sharp) {
    auto fields = x.unbind(1);
    for (size_t c = 0; c < fields.size(); ++c) fields[c] = cut(fields[c], pde_->channels()[c]);
    y = torch::stack(fields, 1);
  }
  if (heads_.corrector == 0) return y;
  y = corrected(y);
  return heads_.constrained ? pde_->constrain(y) : y;
}

Tensor Heads::soft(const Tensor& z) const {
  return shapes() ? normalizer_.to_network(shape_all(normalizer_.to_physical(z))) : z;
}

Tensor Heads::finished(const Tensor& soft) const {
  return finishes() ? normalizer_.to_network(finish(normalizer_.to_physical(soft))) : soft;
}

Tensor Heads::operator()(const Tensor& z) const {
  if (!shapes()) return finished(z);
  return normalizer_.to_network(finish(shape_all(normalizer_.to_physical(z))));
}

}  // namespace piddm
