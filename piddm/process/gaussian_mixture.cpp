#include "piddm/process/gaussian_mixture.h"

#include <cmath>

namespace piddm {

namespace {

constexpr double kRankTolerance = 1e-14;  // eigenvalues below this share of the largest are zero
constexpr double kLeastVariance = 1e-30;  // representable in float32; only reached at sigma = 0

void check(const GaussianComponent& c, int64_t dimension) {
  require<DataError>(c.weight > 0 && std::isfinite(c.weight), "[mixture] weights must be positive, got {}", c.weight);
  require<DataError>(c.mean.dim() == 1 && c.mean.size(0) == dimension, "[mixture] expected a mean ({}), got {}",
                     dimension, shape_string(c.mean));
  require<DataError>(c.covariance.sizes() == torch::IntArrayRef({dimension, dimension}),
                     "[mixture] expected a covariance ({0},{0}), got {1}", dimension, shape_string(c.covariance));
  require<DataError>(all_finite(c.mean) && all_finite(c.covariance), "[mixture] mean or covariance is not finite");
  require<DataError>(torch::allclose(c.covariance, c.covariance.t()), "[mixture] a covariance is not symmetric");
}

Tensor in_double(const Tensor& x) { return x.to(torch::kCPU, torch::kFloat64); }

/// sum_d q_kde y_bkd: y in the eigenbasis of every component (and back with the transposed basis).
Tensor rotate(const Tensor& y, const Tensor& basis) { return torch::einsum("bkd,kde->bke", {y, basis}); }

}  // namespace

GaussianMixture::GaussianMixture(const std::vector<GaussianComponent>& components) {
  require<DataError>(!components.empty() && components.front().mean.defined() && components.front().mean.dim() == 1,
                     "[mixture] needs a component with a mean (D)");
  std::vector<double> weights;
  std::vector<Tensor> means, covariances;
  for (const auto& c : components) {
    check(c, components.front().mean.size(0));
    weights.push_back(c.weight);
    means.push_back(in_double(c.mean));
    covariances.push_back(in_double(c.covariance));
  }
  weights_ = torch::tensor(weights, torch::kFloat64);
  weights_ = weights_ / weights_.sum();
  means_ = torch::stack(means);
  std::tie(eigenvalues_, basis_) = torch::linalg_eigh(torch::stack(covariances));
  const auto threshold = kRankTolerance * eigenvalues_.abs().amax(1, true);
  require<DataError>((eigenvalues_ >= -1e4 * threshold).all().item<bool>(),
                     "[mixture] a covariance has the negative eigenvalue {:g}", eigenvalues_.min().item<double>());
  eigenvalues_ = torch::where(eigenvalues_ > threshold, eigenvalues_, torch::zeros_like(eigenvalues_));
}

Tensor GaussianMixture::covariances() const { return torch::einsum("kde,ke,kfe->kdf", {basis_, eigenvalues_, basis_}); }

GaussianMixture::Posterior GaussianMixture::posterior(const Tensor& x_t, const Tensor& t,
                                                      const Process& process) const {
  require<DataError>(x_t.dim() == 4 && x_t.numel() == x_t.size(0) * dimension(),
                     "[mixture] expected (B,C,H,W) with {} entries a sample, got {}", dimension(), shape_string(x_t));
  const auto options = x_t.options().requires_grad(false);
  const auto means = means_.to(options), basis = basis_.to(options), lambda = eigenvalues_.to(options);
  const auto s = process.at(t.to(options));
  const auto alpha = s.alpha.view({-1, 1, 1}), sigma = s.sigma.view({-1, 1, 1});

  const auto variance = (alpha.square() * lambda + sigma.square()).clamp_min(kLeastVariance);
  const auto y = rotate(x_t.reshape({-1, 1, dimension()}) - alpha * means, basis);
  const auto exponent = (y.square() / variance + variance.log() + std::log(2 * M_PI)).sum(2) / -2;
  const auto joint = exponent + weights_.to(options).log();
  const auto responsibility = torch::softmax(joint, 1);
  const auto back = basis.transpose(1, 2), r = responsibility.unsqueeze(2);
  const auto clean = (r * (means + rotate(alpha * lambda / variance * y, back))).sum(1);
  const auto noise = (r * rotate(sigma / variance * y, back)).sum(1);
  return {clean.view_as(x_t), noise.view_as(x_t), responsibility, torch::logsumexp(joint, 1)};
}

Tensor GaussianMixture::velocity(const Tensor& x_t, const Tensor& t, const Process& process) const {
  const auto p = posterior(x_t, t, process);
  return process.velocity(p.clean, p.noise, t.to(x_t.options().requires_grad(false)));
}

Tensor GaussianMixture::score(const Tensor& x_t, const Tensor& t, const Process& process) const {
  const auto sigma = process.at(t.to(x_t.options().requires_grad(false))).sigma;
  return -posterior(x_t, t, process).noise / sigma;
}

VelocityField GaussianMixture::field(ProcessPtr process) const {
  return [law = *this, process = std::move(process)](const Tensor& x, const Tensor& t) {
    return law.velocity(x, t, *process);
  };
}

GaussianMixture GaussianMixture::component(int64_t k) const {
  require<UsageError>(k >= 0 && k < components(), "[mixture] component {} of {}", k, components());
  GaussianMixture out;
  out.weights_ = torch::ones({1}, torch::kFloat64);
  out.means_ = means_.narrow(0, k, 1);
  out.basis_ = basis_.narrow(0, k, 1);
  out.eigenvalues_ = eigenvalues_.narrow(0, k, 1);
  return out;
}

GaussianMixture GaussianMixture::marginal(const Tensor& direction) const {
  require<DataError>(direction.dim() == 1 && direction.size(0) == dimension(),
                     "[mixture] expected a direction ({}), got {}", dimension(), shape_string(direction));
  const auto a = in_double(direction);
  GaussianMixture out;
  out.weights_ = weights_;
  out.means_ = means_.matmul(a).unsqueeze(1);
  out.basis_ = torch::ones({components(), 1, 1}, torch::kFloat64);
  out.eigenvalues_ = (torch::einsum("kde,d->ke", {basis_, a}).square() * eigenvalues_).sum(1, true);
  return out;
}

Tensor GaussianMixture::sample(uint64_t seed, Stream stream, int64_t first, int64_t n) const {
  const auto z = normal(seed, stream, first, n, {dimension() + 1}, torch::kFloat64);
  const auto u = torch::special_ndtr(z.select(1, dimension())).contiguous();
  const auto k = torch::searchsorted(weights_.cumsum(0), u).clamp_max(components() - 1);
  const auto y = eigenvalues_.index_select(0, k).sqrt() * z.narrow(1, 0, dimension());
  const auto x = means_.index_select(0, k) + torch::einsum("nde,ne->nd", {basis_.index_select(0, k), y});
  return x.view({n, dimension(), 1, 1});
}

}  // namespace piddm
