#include "piddm/solve/methods/darcy_inversion.h"

#include <cmath>

#include "piddm/core/interrupt.h"
#include "piddm/numerics/diffusion_cg.h"
#include "piddm/numerics/sine_transform.h"

namespace piddm {

namespace {

struct Stage {
  double width;  // of the step, in standard deviations of g
  double trust;  // smallest sigma of u, in standard deviations of u
};
constexpr Stage kStages[] = {{1, 0.03}, {0.5, 0.01}, {0.25, 0.003}, {0.12, 0.001}};

constexpr double kCoefficientTrust = 0.1;  // smallest sigma of a, in halves of its step: tanh never quite gets there
constexpr double kEnough = 1e-4;           // relative decrease of the objective that ends a stage
constexpr int kNewtonSteps = 8, kHalvings = 6;
constexpr CgOptions kStep{.tolerance = 0.05, .acceptable = INFINITY, .max_iterations = 30};
constexpr CgOptions kSolve{.tolerance = 1e-9, .acceptable = 1e-5};

Tensor square_length(const Tensor& x) { return x.square().sum({1, 2, 3}, true); }

/// Precisions no larger than those of these sigmas.
Tensor capped(const Tensor& precision, double sigma_u, double sigma_a) {
  const auto cap = [&](int64_t channel, double sigma) {
    return precision.narrow(1, channel, 1).clamp_max(1 / (sigma * sigma));
  };
  return torch::cat({cap(0, sigma_u), cap(1, sigma_a)}, 1);
}

}  // namespace

DarcyInversion::DarcyInversion(const Darcy& pde, double std_u) : pde_(pde), std_u_(std_u) {
  const GaussianField law({pde.grid(), pde.lengths()});
  std::tie(low_, high_) = *pde.channels()[1].two_valued;
  std_g_ = std::sqrt(law.pointwise_variance_mean());
  amplitude_ = law.amplitude() * std::sqrt(static_cast<double>(pde.grid().points()));
}

Tensor DarcyInversion::solve_flow(const Tensor& a, const Tensor& f) const {
  return a.is_cpu() ? solve_diffusion(a, f, {}, kSolve, pde_.lengths()).x
                    : DarcyOperator(a, pde_.lengths()).solve(f, {}, kSolve).x;
}

Tensor DarcyInversion::coefficient(const Tensor& xi, double width, Tensor* slope) const {
  const double half = 0.5 * (high_ - low_), w = width * std_g_;
  const Tensor t = torch::tanh(inverse_cosine_transform(xi * amplitude_.to(xi.device())) / w);
  *slope = (1 - t.square()) * (half / w);
  return low_ + half + half * t;
}

Tensor DarcyInversion::pull_back(const State& at, const Tensor& fields) const {
  const Tensor lambda = solve_flow(at.a, fields.narrow(1, 0, 1));
  const torch::AutoGradMode with_grad(true);
  const Tensor a = at.a.detach().clone().requires_grad_();
  const Tensor product = (DarcyOperator(a, pde_.lengths()).apply(at.u) * lambda).sum();
  const Tensor by_a = fields.narrow(1, 1, 1) - torch::autograd::grad({product}, {a})[0];
  return cosine_transform(at.slope * by_a).detach() * amplitude_.to(by_a.device());
}

DarcyInversion::State DarcyInversion::evaluate(const Tensor& xi, const NoisyValues& data, double width) const {
  const torch::NoGradGuard no_grad;
  State state;
  state.xi = xi;
  state.a = coefficient(xi, width, &state.slope);
  state.u = solve_flow(state.a, torch::ones_like(state.a));
  const Tensor x = torch::cat({state.u, state.a}, 1), w = data.precision;
  const Tensor misfit = torch::where(w > 0, x - data.values, torch::zeros_like(x));
  state.value = 0.5 * (square_length(xi) + square_length(w.sqrt() * misfit));
  state.gradient = xi + pull_back(state, w * misfit);
  return state;
}

Tensor DarcyInversion::hessian(const State& at, const Tensor& precision, const Tensor& direction) const {
  const torch::NoGradGuard no_grad;
  const Tensor da = at.slope * inverse_cosine_transform(direction * amplitude_.to(direction.device()));
  const Tensor du = -solve_flow(at.a, DarcyOperator(da, pde_.lengths()).apply(at.u));
  return direction + pull_back(at, precision * torch::cat({du, da}, 1));
}

DarcyInversion::State DarcyInversion::stage(State state, const NoisyValues& data, double width) const {
  const auto identity = [](const Tensor& r) { return r; };
  for (int k = 0; k < kNewtonSteps; ++k) {
    throw_if_interrupted("inverting");
    const auto product = [&](const Tensor& d) { return hessian(state, data.precision, d); };
    const Tensor step = conjugate_gradient(product, identity, -state.gradient, {}, kStep).x;
    Tensor open = torch::ones_like(state.value, torch::kBool), xi = state.xi, value = state.value;
    double factor = 1;
    for (int i = 0; i < kHalvings && open.any().item<bool>(); ++i, factor /= 2) {
      const Tensor candidate = state.xi + factor * step;
      const Tensor candidate_value = evaluate(candidate, data, width).value;
      const Tensor better = open & (candidate_value < value);
      xi = torch::where(better, candidate, xi);
      value = torch::where(better, candidate_value, value);
      open = open & better.logical_not();
    }
    const bool enough = ((state.value - value) <= kEnough * state.value).all().item<bool>();
    state = evaluate(xi, data, width);
    if (enough) break;
  }
  return state;
}

Tensor DarcyInversion::solve(const NoisyValues& data) const {
  pde_.check_shape(data.values);
  const Tensor known = data.precision.narrow(1, 1, 1) > 0;
  Tensor xi = torch::zeros_like(data.values.narrow(1, 0, 1));
  State state;
  for (const auto& [width, trust] : kStages) {
    const NoisyValues trusted{data.values,
                              capped(data.precision, trust * std_u_, kCoefficientTrust * 0.5 * (high_ - low_))};
    state = stage(evaluate(xi, trusted, width), trusted, width);
    xi = state.xi;
  }
  const double middle = 0.5 * (low_ + high_);
  const Tensor guess = torch::where(known, data.values.narrow(1, 1, 1), state.a);
  const Tensor a = (guess >= middle).to(guess.scalar_type()) * (high_ - low_) + low_;
  return torch::cat({pde_.solve(a, state.u), a}, 1);
}

}  // namespace piddm
