#include "piddm/model/student.h"

#include <cmath>

#include "piddm/numerics/sine_transform.h"

namespace piddm {

namespace {

// (1 + (lambda_k + lambda_l)/lambda_c)^-1 over the sine modes k, l = 1..n.
Tensor smoothing_filter(int64_t n, double cut_off_mode) {
  const double lambda_c = std::pow(M_PI * cut_off_mode, 2);
  const auto lambda = sine_eigenvalues(n, 1.0 / static_cast<double>(n));
  return 1 / (1 + (lambda.unsqueeze(1) + lambda.unsqueeze(0)) / lambda_c);
}

}  // namespace

Student::Student(const Model& model, const HeadOptions& heads)
    : network_(model.network),
      process_(model.process),
      normalizer_(model.normalizer),
      channels_(model.pde->channels()),
      heads_(heads) {
  const auto options = network_->parameters().front().options().requires_grad(false);
  const int64_t n = model.pde->grid();
  if (heads_.band_limited) {
    const auto modes = network_->options_json().at("modes").get<std::vector<int64_t>>();
    basis_ = std::make_unique<SpectralBasis>(modes[0], modes[1], n, n, options);
  }
  require<UsageError>(!heads_.bounded || heads_.bounded_gain > 0, "heads.bounded_gain: must be positive, got {}",
                      heads_.bounded_gain);
  if (heads_.smooth) {
    require<UsageError>(heads_.smooth_modes > 0, "heads.smooth_modes: must be positive, got {}", heads_.smooth_modes);
    filter_ = smoothing_filter(n, heads_.smooth_modes).to(options);
  }
}

Tensor Student::smooth(const Tensor& u) const { return inverse_sine_transform(sine_transform(u) * filter_); }

Tensor Student::operator()(const Tensor& e) const {
  const auto latent = heads_.band_limited ? band_limit(e, *basis_) : e;
  const auto t = torch::ones({1}, latent.options().requires_grad(false));
  const auto x = process_->clean(latent, (*network_)(latent, t), t);
  if (!heads_.smooth && !heads_.bounded) return x;
  auto fields = normalizer_.to_physical(x).unbind(1);
  for (size_t c = 0; c < channels_.size(); ++c) {
    if (heads_.smooth && channels_[c].zero_on_wall) fields[c] = smooth(fields[c]);
    if (heads_.bounded && channels_[c].two_valued) {
      const auto [low, high] = *channels_[c].two_valued;
      const double mid = (low + high) / 2, half = (high - low) / 2;
      fields[c] = mid + half * torch::tanh((fields[c] - mid) * (heads_.bounded_gain / half));
    }
  }
  return normalizer_.to_network(torch::stack(fields, 1));
}

}  // namespace piddm
