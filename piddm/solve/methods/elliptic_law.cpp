#include "piddm/solve/methods/elliptic_law.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "piddm/numerics/sine_transform.h"
#include "piddm/pde/helmholtz.h"

namespace piddm {

namespace {

constexpr CgOptions kCg{.tolerance = 1e-9, .acceptable = 1e-4, .max_iterations = 20000, .patience = 3000};

Tensor channel_mean(const Tensor& precision, int64_t channel) {
  return precision.narrow(1, channel, 1).mean({1, 2, 3}, true);
}

/// Entries and functionals of samples as one row each, [B,2HW + R], and back.
Tensor beside(const Tensor& x, const Functionals& functionals, const Tensor& rows) {
  return torch::cat({x.flatten(1), functionals.padded(rows, x.size(0))}, 1);
}

Tensor entries_of(const Tensor& both, const Tensor& like) {
  return both.narrow(1, 0, like.numel() / like.size(0)).reshape(like.sizes());
}

Tensor rows_of(const Tensor& both, const Tensor& like, const Functionals& functionals) {
  const int64_t entries = like.numel() / like.size(0);
  return functionals.unpadded(both.narrow(1, entries, both.size(1) - entries));
}

/// diag(A^T W A), [B,C,H,W].
Tensor precision_of(const Functionals& functionals, const Tensor& like) {
  auto squares = functionals;
  squares.weight = functionals.weight.square();
  return squares.transposed(functionals.trust, like);
}

}  // namespace

EllipticLaw::EllipticLaw(const Poisson& pde) : pde_(pde) {
  const auto n = pde.grid();
  amplitude_ = GaussianField({n, pde.lengths()}).amplitude() * std::sqrt(static_cast<double>(n.points()));
  const auto squares = [](int64_t points, double length) {
    return torch::arange(points, torch::kFloat64).mul(std::numbers::pi).div(length).square();
  };
  const Tensor k2 = squares(n.height(), pde.lengths()[0]), l2 = squares(n.width(), pde.lengths()[1]);
  const double least = std::min(k2[1].item<double>(), l2[1].item<double>());
  decay_ = (k2.unsqueeze(1) + l2).clamp_min(least).pow(-2);
  inside_ = torch::ones({n.height(), n.width()}, torch::kFloat64);
  if (dynamic_cast<const Helmholtz*>(&pde)) inside_ = pde.given_boundary()[0].logical_not().to(torch::kFloat64);
}

Tensor EllipticLaw::apply(const Tensor& xi) const {
  const Tensor a = inverse_cosine_transform(xi * amplitude_.to(xi.device())) * inside_.to(xi.device());
  return torch::cat({pde_.solve(a), a}, 1);
}

Tensor EllipticLaw::transposed(const Tensor& x) const {
  const Tensor a = (pde_.solve(x.narrow(1, 0, 1)) + x.narrow(1, 1, 1)) * inside_.to(x.device());
  return cosine_transform(a) * amplitude_.to(x.device());
}

Tensor EllipticLaw::preconditioned(const Tensor& xi, const Tensor& precision) const {
  const Tensor rate = channel_mean(precision, 1) + channel_mean(precision, 0) * decay_.to(xi.device());
  return xi / (1 + amplitude_.to(xi.device()).square() * rate);
}

Tensor EllipticLaw::posterior(const NoisyValues& data, const Functionals& functionals, const PosteriorNoise& noise,
                              const Tensor& row_noise) const {
  pde_.check_shape(data.values);
  GaussianMap map{[this](const Tensor& xi) { return apply(xi); }, [this](const Tensor& x) { return transposed(x); }};
  NoisyValues known = data;
  PosteriorNoise draw = noise;
  Tensor precision = data.precision;
  const auto& like = data.values;
  if (!functionals.empty()) {
    map.apply = [&, this](const Tensor& xi) {
      const Tensor x = apply(xi);
      return beside(x, functionals, functionals.apply(x));
    };
    map.transposed = [&, this](const Tensor& both) {
      return transposed(entries_of(both, like) + functionals.transposed(rows_of(both, like, functionals), like));
    };
    known = {beside(data.values, functionals, functionals.value),
             beside(data.precision, functionals, functionals.trust)};
    if (noise.eta.defined()) draw.eta = torch::cat({noise.eta.flatten(1), row_noise}, 1);
    precision = precision + precision_of(functionals, like);
  }
  const auto preconditioner = [&](const Tensor& xi) { return preconditioned(xi, precision); };
  return apply(condition_gaussian(map, known, preconditioner, draw, kCg).x);
}

NoisyValues EllipticLaw::with_stencils(const NoisyValues& data, const Tensor& known, double precision) const {
  const Tensor u = known.narrow(1, 0, 1) * data.values.narrow(1, 0, 1), a = data.values.narrow(1, 1, 1);
  const Residual of_u = pde_.residual(torch::cat({u, torch::zeros_like(u)}, 1));
  const Tensor right = torch::constant_pad_nd(of_u.fields.front().interior, {1, 1, 1, 1});
  const Tensor cross = torch::tensor({{0., 1., 0.}, {1., 1., 1.}, {0., 1., 0.}}, u.options()).view({1, 1, 3, 3});
  const Tensor whole = torch::constant_pad_nd(torch::conv2d(known.narrow(1, 0, 1), cross) > 4.5, {1, 1, 1, 1});
  const Tensor found = whole & (known.narrow(1, 1, 1) == 0);
  const Tensor w = data.precision.narrow(1, 1, 1);
  return {torch::cat({data.values.narrow(1, 0, 1), torch::where(found, right, a)}, 1),
          torch::cat({data.precision.narrow(1, 0, 1), torch::where(found, torch::full_like(w, precision), w)}, 1)};
}

}  // namespace piddm
