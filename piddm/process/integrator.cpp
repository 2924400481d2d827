#include "piddm/process/integrator.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace piddm {

namespace {

Tensor time_of(const Tensor& x, double t) { return torch::full({1}, t, x.options().requires_grad(false)); }

// Dormand-Prince 5(4): stage times, stage coefficients, and the difference of the weights of both orders. The last
// stage is the first of the next step.
constexpr int kStages = 7;
constexpr std::array<double, kStages> kTimes{0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1, 1};
constexpr std::array<std::array<double, 6>, kStages> kCoefficients{{
    {},
    {1. / 5},
    {3. / 40, 9. / 40},
    {44. / 45, -56. / 15, 32. / 9},
    {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
    {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
    {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84},
}};
constexpr std::array<double, kStages> kErrorWeights{71. / 57600,      0,         -71. / 16695, 71. / 1920,
                                                    -17253. / 339200, 22. / 525, -1. / 40};

constexpr double kFirstStep = 1e-2, kLeastStep = 1e-9, kSafety = 0.9, kShrink = 0.2, kGrow = 5;

class DormandPrince {
 public:
  DormandPrince(const VelocityField& v, const Tensor& x, double tolerance, double t_end, double t_begin)
      : v_(v), tolerance_(tolerance), t_(t_begin), t_end_(t_end), h_(kFirstStep * (t_begin - t_end)) {
    result_.x = x;
    stages_[0] = evaluate(x, t_);
  }

  Integration run() {
    while (t_ > t_end_) advance();
    return result_;
  }

 private:
  Tensor evaluate(const Tensor& x, double t) {
    ++result_.evaluations;
    return v_(x, time_of(x, t));
  }

  void advance() {
    const bool last = h_ >= (t_ - t_end_) * (1 - 1e-9);
    const double h = last ? t_ - t_end_ : h_, next = last ? t_end_ : t_ - h;
    Tensor x;
    for (size_t i = 1; i < kStages; ++i) {
      x = result_.x;
      for (size_t j = 0; j < i; ++j)
        if (kCoefficients[i][j] != 0) x = x - stages_[j] * (h * kCoefficients[i][j]);
      stages_[i] = evaluate(x, kTimes[i] == 1 ? next : t_ - kTimes[i] * h);
    }
    const double error = h * error_norm(x);
    if (error <= 1) {
      result_.x = x;
      t_ = next;
      stages_[0] = stages_[kStages - 1];
      ++result_.accepted;
    } else {
      ++result_.rejected;
    }
    h_ = h * (std::isfinite(error) ? std::clamp(kSafety * std::pow(error, -0.2), kShrink, kGrow) : kShrink);
    require<NumericsError>(h_ > kLeastStep || t_ <= t_end_,
                           "[adaptive integrator] no step at t = {:.6g} meets the tolerance {:g}", t_, tolerance_);
  }

  // Of the worst sample, for a step of size one.
  double error_norm(const Tensor& x) const {
    torch::NoGradGuard no_grad;
    auto error = torch::zeros_like(x, x.options().requires_grad(false));
    for (size_t i = 0; i < kStages; ++i)
      if (kErrorWeights[i] != 0) error.add_(stages_[i], kErrorWeights[i]);
    const auto scale = tolerance_ * (1 + torch::maximum(x.abs(), result_.x.abs()));
    return (error / scale).flatten(1).square().mean(1).max().sqrt().item<double>();
  }

  const VelocityField& v_;
  double tolerance_, t_, t_end_, h_;
  std::array<Tensor, kStages> stages_;
  Integration result_;
};

}  // namespace

Integration integrate(const VelocityField& v, const Tensor& x, const IntegratorOptions& options, double t_end,
                      double t_begin) {
  require<UsageError>(t_end < t_begin, "[integrator] must end below its begin, got {:g} to {:g}", t_begin, t_end);
  if (options.kind == IntegratorKind::adaptive) {
    require<UsageError>(options.tolerance > 0, "[integrator] tolerance must be positive, got {:g}", options.tolerance);
    return DormandPrince(v, x, options.tolerance, t_end, t_begin).run();
  }
  require<UsageError>(options.steps >= 1, "[integrator] needs at least one step, got {}", options.steps);
  const auto times = step_times(TimeGrid(options.steps, options.spacing, t_end, t_begin), x);
  Integration result{x, evaluations_of(options.kind, options.steps), options.steps, 0};
  for (int64_t i = 0; i < options.steps; ++i) result.x = fixed_step(step_kind(options, i), v, result.x, times[i]);
  return result;
}

Tensor step_times(const TimeGrid& times, const Tensor& like) {
  std::vector<double> rows;
  for (int64_t i = 0; i < times.steps(); ++i) rows.insert(rows.end(), {times.at(i), times.at(i + 1), times.step(i)});
  return torch::tensor(rows, torch::kFloat64).view({-1, 3}).to(like.options().requires_grad(false));
}

Tensor fixed_step(IntegratorKind kind, const VelocityField& v, const Tensor& x, const Tensor& times) {
  const auto t = times.narrow(0, 0, 1), next = times.narrow(0, 1, 1), dt = times.narrow(0, 2, 1);
  const auto first = v(x, t), euler = x - first * dt;
  if (kind == IntegratorKind::euler) return euler;
  return x - (first + v(euler, next)) * (dt / 2);
}

Tensor integrate_euler(const VelocityField& v, const Tensor& noise, int64_t steps, double t_end) {
  return integrate(v, noise, {.kind = IntegratorKind::euler, .steps = steps}, t_end).x;
}

}  // namespace piddm
