#include "piddm/process/process.h"

namespace piddm {

namespace {

class Linear : public Process {
 public:
  std::string name() const override { return "linear"; }
  double t_end() const override { return 0; }
  Schedule at(const Tensor& t) const override {
    const auto s = t.view({-1, 1, 1, 1});
    return {1 - s, s, torch::full_like(s, -1), torch::ones_like(s)};
  }
};

constexpr double kBetaFirst = 0.1, kBetaLast = 20, kBetaEnd = 1e-3;

/// beta(t) and its integral from 0.
struct Beta {
  Tensor rate, integral;
};

Beta beta_at(const Tensor& t) {
  const auto s = t.view({-1, 1, 1, 1});
  constexpr double kSlope = kBetaLast - kBetaFirst;
  return {kBetaFirst + kSlope * s, kBetaFirst * s + kSlope / 2 * s.square()};
}

class VariancePreserving : public Process {
 public:
  std::string name() const override { return "vp"; }
  double t_end() const override { return kBetaEnd; }
  Schedule at(const Tensor& t) const override {
    const auto [beta, b] = beta_at(t);
    const auto alpha = torch::exp(-b / 2), sigma = torch::sqrt(-torch::expm1(-b));
    return {alpha, sigma, -beta / 2 * alpha, beta / 2 * alpha.square() / sigma};
  }
};

class SubVariancePreserving : public Process {
 public:
  std::string name() const override { return "sub-vp"; }
  double t_end() const override { return kBetaEnd; }
  Schedule at(const Tensor& t) const override {
    const auto [beta, b] = beta_at(t);
    const auto alpha = torch::exp(-b / 2);
    return {alpha, -torch::expm1(-b), -beta / 2 * alpha, beta * alpha.square()};
  }
};

Tensor determinant(const Schedule& s) { return s.alpha * s.d_sigma - s.d_alpha * s.sigma; }

template <class P>
ProcessPtr make() {
  return std::make_shared<const P>();
}

}  // namespace

Tensor Process::diffuse(const Tensor& x0, const Tensor& e, const Tensor& t) const {
  const auto s = at(t);
  return s.alpha * x0 + s.sigma * e;
}

Tensor Process::velocity(const Tensor& x0, const Tensor& e, const Tensor& t) const {
  const auto s = at(t);
  return s.d_alpha * x0 + s.d_sigma * e;
}

Tensor Process::clean(const Tensor& x_t, const Tensor& v, const Tensor& t) const {
  const auto s = at(t);
  return (s.d_sigma * x_t - s.sigma * v) / determinant(s);
}

Tensor Process::noise(const Tensor& x_t, const Tensor& v, const Tensor& t) const {
  const auto s = at(t);
  return (s.alpha * v - s.d_alpha * x_t) / determinant(s);
}

Tensor Process::score(const Tensor& x_t, const Tensor& v, const Tensor& t) const {
  return -noise(x_t, v, t) / at(t).sigma;
}

Tensor Process::velocity_from_clean(const Tensor& x_t, const Tensor& x0, const Tensor& t) const {
  const auto s = at(t);
  return s.d_alpha * x0 + s.d_sigma * ((x_t - s.alpha * x0) / s.sigma);
}

Tensor Process::velocity_from_noise(const Tensor& x_t, const Tensor& e, const Tensor& t) const {
  const auto s = at(t);
  return s.d_alpha * ((x_t - s.sigma * e) / s.alpha) + s.d_sigma * e;
}

Tensor Process::velocity_from_score(const Tensor& x_t, const Tensor& s, const Tensor& t) const {
  return velocity_from_noise(x_t, -at(t).sigma * s, t);
}

ProcessPtr linear_process() { return std::make_shared<Linear>(); }

const Registry<ProcessPtr()>& process_registry() {
  static const Registry<ProcessPtr()> registry(
      "process", {
                     {"linear", "x_t = (1-t) x0 + t e, v = e - x0", make<Linear>},
                     {"vp", "variance preserving, beta from 0.1 to 20", make<VariancePreserving>},
                     {"sub-vp", "sub-variance preserving, beta from 0.1 to 20", make<SubVariancePreserving>},
                 });
  return registry;
}

}  // namespace piddm
