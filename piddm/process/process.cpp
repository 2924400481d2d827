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

Tensor determinant(const Schedule& s) { return s.alpha * s.d_sigma - s.d_alpha * s.sigma; }

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

const Registry<ProcessPtr()>& process_registry() {
  static const Registry<ProcessPtr()> registry(
      "process", {
                     {"linear", "x_t = (1-t) x0 + t e, v = e - x0", [] { return std::make_shared<const Linear>(); }},
                 });
  return registry;
}

Tensor integrate_euler(const VelocityField& v, const Tensor& noise, int64_t steps, double t_end) {
  TORCH_CHECK(steps >= 1, "[euler] needs at least one step, got ", steps);
  const double dt = (1.0 - t_end) / static_cast<double>(steps);
  auto x = noise;
  for (int64_t i = 0; i < steps; ++i) {
    const auto t = torch::full({1}, 1.0 - static_cast<double>(i) * dt, noise.options().requires_grad(false));
    x = x - v(x, t) * dt;
  }
  return x;
}

}  // namespace piddm
