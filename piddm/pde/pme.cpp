#include "piddm/pde/pme.h"

#include "piddm/pde/stencils.h"

namespace piddm {

Pme::Pme(PdeOptions options)
    : ClosedForm(std::move(options), {.name = "m", .low = 1, .high = 5, .valid = {{kSmallestM, kLargestM}}}) {
  require<UsageError>(duration() <= length_x(),
                      "[pme] duration = {}: at most length_x = {}, or the front leaves the domain", duration(),
                      length_x());
  const Tensor zero = torch::zeros({}, torch::kFloat64);
  set_constraint(chain_constraint({slice_constraint(0, Axis::w, 0, zero), slice_constraint(0, Axis::h, -1, zero)}));
}

Tensor Pme::field(const Tensor& m) const {
  const int64_t n = grid().width();
  if (!grid().square() || dx() != dt()) {
    const Tensor depth = (t(m) - x(m)).clamp_min(0);
    return torch::pow(m * depth, 1 / m);
  }
  const Tensor wet = torch::pow(m * t(m).slice(0, 1), 1 / m);  // at t - x = h, 2h, .., 1
  const Tensor profile = torch::constant_pad_nd(wet, {n, 0});  // at t - x = -1, .., 1
  return profile.squeeze(2).unfold(2, n, 1).flip(2);
}

Residual Pme::equation(const Tensor& u, const Tensor& m) const {
  const Tensor exponent = m.clamp_min(kSmallestM);
  const Tensor f = torch::pow(u.clamp_min(0), exponent + 1) / (exponent + 1);
  const Tensor inflow = torch::pow(exponent * t(u).slice(0, 1), 1 / exponent).squeeze(2);
  const Tensor left = u.select(2, 0).slice(2, 1) - inflow;
  return {.fields = {{.interior = time_derivative(u) - second_derivative(f), .smooth = whole_patch(u > 0)}},
          .boundary = torch::cat({u.select(3, 0), left, u.select(2, -1)}, 2).flatten(1)};
}

Tensor Pme::given_boundary() const {
  const Tensor mask = Pde::given_boundary();
  mask.select(2, 0).fill_(true);
  mask.select(1, -1).fill_(true);
  return mask;
}

}  // namespace piddm
