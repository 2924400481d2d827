#include "piddm/pde/stokes.h"

namespace piddm {

Stokes::Stokes(PdeOptions options)
    : ClosedForm(std::move(options),
                 {.name = "omega", .low = 2, .high = 8, .valid = {{kSmallestOmega, kLargestOmega}}}),
      amplitude_(parameter("A", 2, 1e-3, 1e3, "amplitude of the wall's motion")),
      k_(parameter("k", 5, 0.1, 100, "wave number; the viscosity is omega/(2 k^2)")) {
  const Tensor envelope = amplitude_ * torch::exp(-k_ * x());
  cosine_ = envelope * torch::cos(k_ * x());
  sine_ = envelope * torch::sin(k_ * x());
  set_constraint(slice_constraint(0, Axis::w, 0, cosine_.squeeze(1)));
}

Tensor Stokes::field(const Tensor& omega) const {
  const Tensor phase = omega * t(omega);
  return cosine_.to(omega.device()) * torch::cos(phase) + sine_.to(omega.device()) * torch::sin(phase);
}

Residual Stokes::equation(const Tensor& u, const Tensor& omega) const {
  const Tensor start = u.select(3, 0) - cosine_.squeeze(1).to(u.device(), u.scalar_type());
  const Tensor wall = u.select(2, 0) - amplitude_ * torch::cos(omega.squeeze(3) * t(u));
  return {.fields = {{.interior = time_derivative(u) - omega / (2 * k_ * k_) * second_derivative(u)}},
          .boundary = torch::cat({start, wall}, 2).flatten(1)};
}

Tensor Stokes::given_boundary() const {
  const Tensor mask = Pde::given_boundary();
  mask.select(2, 0).fill_(true);
  mask.select(1, 0).fill_(true);
  return mask;
}

}  // namespace piddm
