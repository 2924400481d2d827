#include "piddm/data/check/knob.h"

#include <algorithm>
#include <cmath>

#include "piddm/core/interrupt.h"

namespace piddm {

namespace {

constexpr int kIterations = 25, kHalvings = 8, kBiasRounds = 2;
constexpr double kStep = 1e-4, kConverged = 1e-6, kNoStep = 1e-9;

/// The coordinate in which a knob is fitted: positive parameters by their logarithm.
class Scale {
 public:
  Scale(const Knob& knob, const Reading& reading) : knob_(knob) {
    logarithmic_ = knob.kind == Knob::Kind::parameter && knob.parameter.low > 0;
    if (logarithmic_) return;
    if (knob.kind == Knob::Kind::offset)
      unit_ = std::max(reading.x.select(1, knob.channel).square().mean().sqrt().item<double>(), 1e-300);
    if (knob.kind == Knob::Kind::parameter) unit_ = std::max(std::abs(knob.neutral()), 1e-2);
  }

  double value(double z) const {
    const double v = logarithmic_ ? std::exp(z) : z * unit_;
    return knob_.kind == Knob::Kind::parameter ? std::clamp(v, knob_.parameter.low, knob_.parameter.high) : v;
  }
  double coordinate(double value) const { return logarithmic_ ? std::log(value) : value / unit_; }

 private:
  Knob knob_;
  bool logarithmic_ = false;
  double unit_ = 1;
};

class Fit {
 public:
  Fit(const Reading& reading, const std::vector<Knob>& knobs, const Measure& measure)
      : reading_(reading), knobs_(knobs), measure_(measure) {
    for (const auto& knob : knobs) scales_.emplace_back(knob, reading);
  }

  KnobFit from(const std::vector<double>& start) const {
    auto z = coordinates(start);
    auto at = residuals(z);
    double total = square(at);
    for (int i = 0; i < kIterations && std::isfinite(total); ++i) {
      const auto step = gauss_newton(z, at);
      if (step.empty() || negligible(step, z) || !descend(z, at, total, step)) break;
    }
    return {values(z), total};
  }

  double predicted_share(const std::vector<double>& start) const {
    const auto z = coordinates(start);
    const auto at = residuals(z), slope = derivatives(z);
    if (!at.defined() || !slope.defined()) return 1;
    const double along = slope.select(1, 0).dot(at).item<double>(), size = square(slope), total = square(at);
    return size > 0 && total > 0 ? 1 - along * along / (size * total) : 1;
  }

 private:
  static double square(const Tensor& v) {
    const double sum = v.defined() ? v.square().sum().item<double>() : INFINITY;
    return std::isfinite(sum) ? sum : INFINITY;
  }

  std::vector<double> coordinates(const std::vector<double>& start) const {
    std::vector<double> z;
    for (size_t k = 0; k < start.size(); ++k) z.push_back(scales_[k].coordinate(start[k]));
    return z;
  }

  std::vector<double> values(const std::vector<double>& z) const {
    std::vector<double> all;
    for (size_t k = 0; k < z.size(); ++k) all.push_back(scales_[k].value(z[k]));
    return all;
  }

  /// Undefined where there is no such PDE.
  Tensor residuals(const std::vector<double>& z) const {
    const auto all = values(z);
    try {
      return measure_(apply(reading_, knobs_, all));
    } catch (const Error&) {
      if (interrupt_requested()) throw;
      return {};
    }
  }

  /// [M,K]; undefined where there is no such PDE.
  Tensor derivatives(const std::vector<double>& z) const {
    std::vector<Tensor> slopes;
    for (size_t k = 0; k < z.size(); ++k) {
      auto above = z, below = z;
      const double h = kStep * std::max(1.0, std::abs(z[k]));
      above[k] += h;
      below[k] -= h;
      const auto up = residuals(above), down = residuals(below);
      if (!up.defined() || !down.defined()) return {};
      // Where a point begins to count or ceases to, there is no slope.
      slopes.push_back(((up - down) / (2 * h)).masked_fill(up.eq(0).logical_or(down.eq(0)), 0));
    }
    return torch::stack(slopes, 1);
  }

  std::vector<double> gauss_newton(const std::vector<double>& z, const Tensor& at) const {
    const auto j = derivatives(z);
    if (!j.defined()) return {};
    const auto normal = j.t().matmul(j), right = j.t().matmul(at);
    const auto damping = torch::diag(normal.diag() * 1e-12 + 1e-300);
    const auto step = torch::linalg_solve(normal + damping, -right);
    if (!step.isfinite().all().item<bool>()) return {};
    return {step.data_ptr<double>(), step.data_ptr<double>() + step.numel()};
  }

  static bool negligible(const std::vector<double>& step, const std::vector<double>& z) {
    for (size_t k = 0; k < z.size(); ++k)
      if (std::abs(step[k]) > kNoStep * std::max(1.0, std::abs(z[k]))) return false;
    return true;
  }

  /// One step, halved until it lowers the misfit; false where it is time to stop.
  bool descend(std::vector<double>& z, Tensor& at, double& total, const std::vector<double>& step) const {
    double share = 1;
    for (int halving = 0; halving < kHalvings; ++halving, share /= 2) {
      auto next = z;
      for (size_t k = 0; k < z.size(); ++k) next[k] += share * step[k];
      const auto there = residuals(next);
      const double sum = square(there);
      if (sum >= (1 - kConverged) * total) continue;
      z = next;
      at = there;
      total = sum;
      return true;
    }
    return false;
  }

  const Reading& reading_;
  const std::vector<Knob>& knobs_;
  const Measure& measure_;
  std::vector<Scale> scales_;
};

}  // namespace

double Knob::neutral() const {
  return kind == Kind::factor ? 1 : kind == Kind::offset ? 0 : parameter.value.get<double>();
}

Reading Knob::apply(const Reading& reading, double value) const {
  auto next = reading;
  if (kind == Kind::parameter) {
    next.pde = with_parameter(*reading.pde, parameter.name, value);
    if (reading.form) next.form.reset();
    return next;
  }
  next.x = reading.x.clone();
  auto field = next.x.narrow(1, channel, count);
  kind == Kind::factor ? field.mul_(value) : field.add_(value);
  return next;
}

Reading apply(const Reading& reading, const std::vector<Knob>& knobs, const std::vector<double>& values) {
  auto next = reading;
  for (size_t k = 0; k < knobs.size(); ++k) next = knobs[k].apply(next, values[k]);
  return next;
}

std::vector<Knob> knobs_of(const Pde& pde) {
  std::vector<Knob> knobs;
  if (pde.num_solution_channels() > 1)
    knobs.push_back({.kind = Knob::Kind::factor, .count = pde.num_solution_channels()});
  for (int64_t c = 0; c < pde.num_channels(); ++c) {
    knobs.push_back({.kind = Knob::Kind::factor, .channel = c});
    knobs.push_back({.kind = Knob::Kind::offset, .channel = c});
  }
  for (const auto& parameter : pde.parameters())
    if (parameter.choices.empty()) knobs.push_back({.kind = Knob::Kind::parameter, .parameter = parameter});
  return knobs;
}

KnobFit fit_knobs(const Reading& reading, const std::vector<Knob>& knobs, const Measure& measure) {
  const torch::NoGradGuard no_grad;
  const Fit fit(reading, knobs, measure);
  std::vector<double> start;
  for (const auto& knob : knobs) start.push_back(knob.neutral());
  auto best = fit.from(start);
  for (size_t k = 0; k < knobs.size(); ++k) {
    if (knobs[k].kind != Knob::Kind::factor) continue;
    auto other = start;
    other[k] = -1;
    const auto second = fit.from(other);
    if (second.total < best.total) best = second;
  }
  return best;
}

double predicted_share(const Reading& reading, const Knob& knob, const Measure& measure) {
  const std::vector<Knob> knobs = {knob};
  return Fit(reading, knobs, measure).predicted_share({knob.neutral()});
}

KnobFit without_bias(const Reading& reading, const std::vector<Knob>& knobs, const KnobFit& fit) {
  auto best = fit;
  for (int round = 0; round < kBiasRounds; ++round) {
    const auto reference = attempt([&](const Reading& r) { return exact(apply(r, knobs, best.values)); }, reading);
    if (!reference) return fit;
    auto own = knobs;
    for (size_t k = 0; k < knobs.size(); ++k)
      if (own[k].kind == Knob::Kind::parameter) own[k].parameter.value = best.values[k];
    const auto biased = fit_knobs(*reference, own);
    for (size_t k = 0; k < knobs.size(); ++k) {
      if (knobs[k].kind == Knob::Kind::offset) best.values[k] = fit.values[k] - biased.values[k];
      if (knobs[k].kind == Knob::Kind::factor) best.values[k] = fit.values[k] / biased.values[k];
      if (knobs[k].kind == Knob::Kind::parameter)
        best.values[k] = std::clamp(fit.values[k] * best.values[k] / biased.values[k], knobs[k].parameter.low,
                                    knobs[k].parameter.high);
      if (!std::isfinite(best.values[k])) return fit;
    }
  }
  return best;
}

}  // namespace piddm
