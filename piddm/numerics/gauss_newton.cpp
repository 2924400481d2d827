#include "piddm/numerics/gauss_newton.h"

#include <cmath>

namespace piddm {

namespace {

constexpr double kFactors[] = {4, 0.25};  // of the damping, one trial each
constexpr double kRetreat = 64;           // of the damping after two trials that do not lower |f|^2
constexpr double kStuck = 1e4;            // a damping at which such a step is as small as rounding
constexpr double kLeast = 1e-12;
constexpr int64_t kTrials = std::size(kFactors);

Tensor in_double(const Tensor& x) { return x.to(torch::kFloat64); }

Tensor square_length(const Tensor& x) { return in_double(x.flatten(1)).square().sum(1); }

/// b [n] as a column that goes with [n,...].
Tensor column(const Tensor& b, const Tensor& x) {
  std::vector<int64_t> shape(static_cast<size_t>(x.dim()), 1);
  shape[0] = -1;
  return b.view(shape);
}

/// sum_k y_k basis_k for y [b,k] float64 and basis [b,k,D].
Tensor combine(const Tensor& y, const Tensor& basis) {
  return torch::bmm(y.to(basis.scalar_type()).unsqueeze(1), basis).squeeze(1);
}

/// V and W of some samples, and the least squares problem in the span of V.
class Subspace {
 public:
  Subspace(const Jacobian& at, int64_t size) : at_(at) {
    const auto& f = at.value();
    auto pull = at.transposed(f);
    shape_ = pull.sizes().vec();
    const auto first = square_length(pull);
    const double end = f.scalar_type() == torch::kFloat64 ? 1e-13 : 1e-5;
    for (int64_t k = 0; k < size; ++k) {
      if (k > 0) pull = at.transposed(f + combine(solve(kExploring), w_));
      const auto v = orthonormal(pull.flatten(1), first * (end * end));
      if (!v.any().item<bool>()) break;
      add(v);
    }
  }

  int64_t size() const { return v_.defined() ? v_.size(1) : 0; }

  /// s(mu) for damping [b], like x.
  Tensor step(const Tensor& damping) const { return combine(solve(damping), v_).view(shape_); }

  /// By how much the linear model lowers |f|^2 without damping, [b].
  Tensor promised() const {
    const auto slope = torch::bmm(in_double(w_), in_double(at_.value()).unsqueeze(2)).squeeze(2);
    return -(solve(kExploring) * slope).sum(1);
  }

 private:
  static constexpr double kExploring = 1e-9;

  /// y [b,k]; the damping is a number or [b].
  template <class Damping>
  Tensor solve(const Damping& damping) const {
    const auto w = in_double(w_);
    const auto gram = torch::bmm(w, w.transpose(1, 2));
    const auto mu = (gram.select(1, 0).select(1, 0) * damping).clamp_min(1e-300);
    const auto identity = torch::eye(size(), gram.options());
    const auto f = in_double(at_.value()).unsqueeze(2);
    return -torch::linalg_solve(gram + mu.view({-1, 1, 1}) * identity, torch::bmm(w, f), true).squeeze(2);
  }

  /// The part of g [b,D] outside V, of length 1; 0 where less than `least` is left or it is not finite.
  Tensor orthonormal(Tensor g, const Tensor& least) const {
    for (int pass = 0; pass < 2 && v_.defined(); ++pass)
      g = g - combine(in_double(torch::bmm(v_, g.unsqueeze(2)).squeeze(2)), v_);
    const auto size = square_length(g);
    const auto going_on = (size > least).logical_and(size.isfinite()).unsqueeze(1);
    return torch::where(going_on, g / size.sqrt().to(g.scalar_type()).unsqueeze(1), torch::zeros_like(g));
  }

  void add(const Tensor& v) {
    const auto product = at_.product(v.view(shape_)).detach();
    const auto finite = product.isfinite().all(1).unsqueeze(1);
    const auto keep = [&](const Tensor& x) { return torch::where(finite, x, torch::zeros_like(x)).unsqueeze(1); };
    v_ = v_.defined() ? torch::cat({v_, keep(v)}, 1) : keep(v);
    w_ = w_.defined() ? torch::cat({w_, keep(product)}, 1) : keep(product);
  }

  const Jacobian& at_;
  std::vector<int64_t> shape_;
  Tensor v_, w_;  // [b,k,D], [b,k,M]
};

class GaussNewton {
 public:
  GaussNewton(const RowFunction& f, const Tensor& x0, const GaussNewtonOptions& options)
      : f_(f), options_(options), x_(x0.detach().clone()), rows_(torch::arange(x0.size(0), x0.device())) {
    const auto counts = torch::zeros({x0.size(0)}, rows_.options());
    result_.value = torch::full({x0.size(0)}, NAN, x0.options().dtype(torch::kFloat64));
    result_.iterations = counts.clone();
    result_.evaluations = counts.clone();
    result_.converged = counts.to(torch::kBool);
    damping_ = torch::full_like(result_.value, options.damping);
  }

  GaussNewtonResult run() {
    int64_t left = options_.evaluations;
    for (int64_t least = 1; rows_.size(0) > 0 && left >= least; least = 1 + each_ + kTrials) left -= iterate(left);
    result_.x = x_;
    for (auto* t : {&result_.value, &result_.iterations, &result_.evaluations, &result_.converged}) *t = t->cpu();
    return result_;
  }

 private:
  /// One iteration in at most `left` evaluations; returns what it is charged with.
  int64_t iterate(int64_t left) {
    const auto x = x_.index_select(0, rows_);
    const Jacobian at(f_, x, rows_, each_ == 2 ? JacobianProduct::difference : options_.products);
    const torch::NoGradGuard no_grad;
    each_ = at.evaluations_per_product();
    const auto value = square_length(at.value());
    result_.value.index_copy_(0, rows_, value);
    const int64_t size = std::min(options_.directions, (left - 1 - kTrials) / each_);
    if (size < 1) {
      charge(1);
      return left;
    }
    const Subspace subspace(at, size);
    if (at.exact()) result_.tangents += subspace.size() * rows_.size(0);
    charge(1 + subspace.size() * each_ + (subspace.size() > 0 ? kTrials : 0));
    move(x, value, subspace);
    return 1 + size * each_ + kTrials;
  }

  void charge(int64_t evaluations) { result_.evaluations.index_add_(0, rows_, torch::full_like(rows_, evaluations)); }

  void move(const Tensor& x, const Tensor& value, const Subspace& subspace) {
    const auto damping = damping_.index_select(0, rows_);
    auto best = value, best_x = x, next = (damping * kRetreat).clamp_max(kRetreat * kStuck);
    for (const double factor : kFactors) {
      if (subspace.size() == 0) break;
      const auto trial = x + subspace.step(damping * factor);
      const auto trial_value = square_length(f_(trial, rows_));
      const auto better = trial_value < best;
      best_x = torch::where(column(better, x), trial, best_x);
      best = torch::where(better, trial_value, best);
      next = torch::where(better, (damping * factor).clamp_min(kLeast), next);
    }
    x_.index_copy_(0, rows_, best_x);
    result_.value.index_copy_(0, rows_, best);
    damping_.index_copy_(0, rows_, next);
    result_.iterations.index_add_(0, rows_, torch::ones_like(rows_));
    drop(value, best, next, subspace.size() == 0 ? torch::zeros_like(value) : subspace.promised());
  }

  /// Takes samples out of the batch: converged, stuck, or never finite.
  void drop(const Tensor& before, const Tensor& after, const Tensor& damping, const Tensor& promised) {
    const auto lowered = after < before;
    const auto enough = lowered.logical_and(before - after <= options_.tolerance * before);
    const auto stuck = lowered.logical_not().logical_and(damping > kStuck);
    const auto done = enough.logical_or(stuck).logical_or(promised <= options_.tolerance * before);
    const auto finite = before.isfinite();
    result_.converged.index_copy_(0, rows_, done.logical_and(finite));
    rows_ = rows_.index({done.logical_not().logical_and(finite)});
  }

  const RowFunction& f_;
  const GaussNewtonOptions& options_;
  Tensor x_, damping_, rows_;  // rows_: the samples still running
  int64_t each_ = 0;           // evaluations a product takes, once that is known
  GaussNewtonResult result_;
};

}  // namespace

GaussNewtonResult minimize_gauss_newton(const RowFunction& f, const Tensor& x0, const GaussNewtonOptions& options) {
  require<UsageError>(options.directions >= 1 && options.damping > 0 && options.tolerance >= 0,
                      "[gauss-newton] directions must be at least 1, damping positive, tolerance not negative");
  return GaussNewton(f, x0, options).run();
}

}  // namespace piddm
