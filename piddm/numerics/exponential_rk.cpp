#include "piddm/numerics/exponential_rk.h"

namespace piddm {
namespace {

/// sum_j z^j / (j+3)! for |z| <= 1.
Tensor phi3_series(const Tensor& z) {
  constexpr int kTerms = 17;
  Tensor sum = torch::ones_like(z);  // nested: 1/3! (1 + z/4 (1 + z/5 (...)))
  for (int j = kTerms; j > 3; --j) sum = sum * z / j + 1;
  return sum / 6;
}

}  // namespace

Tensor phi_functions(const Tensor& z) {
  const Tensor small = z.abs() < 1;
  const Tensor near = torch::where(small, z, torch::zeros_like(z)), far = torch::where(small, -torch::ones_like(z), z);
  const Tensor series3 = phi3_series(near), series2 = near * series3 + 0.5, series1 = near * series2 + 1;
  const Tensor far1 = torch::expm1(far) / far, far2 = (far1 - 1) / far, far3 = (far2 - 0.5) / far;
  return torch::stack(
      {torch::where(small, series1, far1), torch::where(small, series2, far2), torch::where(small, series3, far3)});
}

ExponentialRk4::ExponentialRk4(const Tensor& linear, double step, torch::ScalarType dtype) {
  const Tensor z = linear * step, phi = phi_functions(z);
  decay_ = z.exp().to(dtype);
  half_decay_ = (z / 2).exp().to(dtype);
  q_ = (phi_functions(z / 2)[0] * (step / 2)).to(dtype);
  twice_q_ = q_ * 2;
  f1_ = ((phi[0] - 3 * phi[1] + 4 * phi[2]) * step).to(dtype);
  f2_ = ((phi[1] - 2 * phi[2]) * (2 * step)).to(dtype);
  f3_ = ((4 * phi[2] - phi[1]) * step).to(dtype);
}

ExponentialRk4 ExponentialRk4::to(torch::Device device, torch::ScalarType dtype) const {
  ExponentialRk4 other = *this;
  for (Tensor* t : {&other.decay_, &other.half_decay_, &other.q_, &other.twice_q_, &other.f1_, &other.f2_, &other.f3_})
    *t = t->to(device, dtype);
  return other;
}

Tensor ExponentialRk4::step(const Tensor& v, const std::function<Tensor(const Tensor&)>& nonlinear) const {
  const Tensor nv = nonlinear(v), base = half_decay_ * v;
  const Tensor a = torch::addcmul(base, q_, nv), na = nonlinear(a);
  const Tensor nb = nonlinear(torch::addcmul(base, q_, na));
  const Tensor nc = nonlinear(torch::addcmul(torch::addcmul(half_decay_ * a, twice_q_, nb), q_, nv, -1));
  const Tensor head = torch::addcmul(decay_ * v, f1_, nv);
  return torch::addcmul(torch::addcmul(head, f2_, na + nb), f3_, nc);
}

}  // namespace piddm
