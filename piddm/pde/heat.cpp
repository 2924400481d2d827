#include "piddm/pde/heat.h"

#include <numbers>

namespace piddm {

Heat::Heat(PdeOptions options)
    : ClosedForm(std::move(options), {.name = "phi", .low = 0, .high = std::numbers::pi}, 2 * std::numbers::pi, 1),
      alpha_(parameter("alpha", 3, 1e-3, 100, "diffusivity")),
      decay_(torch::exp(-alpha_ * t())) {
  set_constraint(conservation_constraint(0, {Axis::h}, torch::zeros({}, torch::kFloat64), 2 * std::numbers::pi));
}

Tensor Heat::field(const Tensor& phi) const { return torch::sin(x(phi) + phi) * decay_.to(phi.device()); }

Residual Heat::equation(const Tensor& u, const Tensor& phi) const {
  return {.fields = {{.interior = time_derivative(u) - alpha_ * second_derivative(u)}},
          .boundary = (u.narrow(3, 0, 1) - torch::sin(x(u) + phi)).flatten(1)};
}

Tensor Heat::given_boundary() const {
  const Tensor mask = Pde::given_boundary();
  mask.select(2, 0).fill_(true);
  return mask;
}

}  // namespace piddm
