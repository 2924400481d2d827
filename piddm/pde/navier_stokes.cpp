#include "piddm/pde/navier_stokes.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "piddm/numerics/exponential_rk.h"
#include "piddm/numerics/map_samples.h"
#include "piddm/pde/stencils.h"

namespace piddm {
namespace {

constexpr double kInnerGrid = 256, kFewestSteps = 10, kStepsPerVorticity = 22;
constexpr int64_t kPhaseNumbers = 4;    // of a sample's random numbers, before those of the field
constexpr int64_t kFlowsTogether = 64;  // samples integrated together on a GPU

PeriodicLaw law() { return {.scale = std::sqrt(2.0 * 343), .tau = 7, .gamma = 2.5}; }

Tensor times_i(const Tensor& x) { return torch::complex(torch::zeros_like(x), x); }

/// |k|^2 of the modes of rfft2, [H,W/2+1].
Tensor square_wavenumbers(const Box& box, torch::Device device) {
  const Tensor k = full_wavenumbers(box.points.height(), device).unsqueeze(1) / box.lengths[0];
  const Tensor l = half_wavenumbers(box.points.width(), device) / box.lengths[1];
  return (k.square() + l.square()) * (4 * std::numbers::pi * std::numbers::pi);
}

}  // namespace

VorticityAdvection::VorticityAdvection(const Box& box, torch::ScalarType dtype, torch::Device device)
    : width_(box.points.width()), columns_(last_unaliased_mode(width_) + 1) {
  const Tensor row = full_wavenumbers(box.points.height(), device).unsqueeze(1);
  const Tensor k = row * (2 * std::numbers::pi) / box.lengths[0];
  const Tensor l = half_wavenumbers(width_, device).narrow(0, 0, columns_) * (2 * std::numbers::pi) / box.lengths[1];
  const Tensor kept = (row.abs() <= last_unaliased_mode(box.points.height())).to(torch::kFloat64);
  const Tensor square = k.square() + l.square(), inverse = kept * square.reciprocal().masked_fill(square == 0, 0);
  to_velocity_ = torch::stack({times_i(l * inverse), times_i(-k * inverse)}).to(dtype);
  from_product_ = ((k.square() - l.square()) * kept).to(dtype);
  from_squares_ = (k * l * kept).to(dtype);
}

Tensor VorticityAdvection::operator()(const Tensor& modes) const {
  const Tensor lines = torch::fft::ifft(modes.unsqueeze(-3) * to_velocity_, {}, -2, "forward");
  const Tensor v = torch::fft::irfft(lines, width_, -1, "forward"), v1 = v.select(-3, 0), v2 = v.select(-3, 1);
  const auto transform = [&](const Tensor& product) {
    return torch::fft::fft(torch::fft::rfft(product, {}, -1, "forward").narrow(-1, 0, columns_), {}, -2, "forward");
  };
  return torch::addcmul(transform(v1 * v2) * from_product_, transform((v2 - v1) * (v2 + v1)), from_squares_);
}

NavierStokes::NavierStokes(PdeOptions options)
    : Pde(std::move(options)),
      nu_(parameter("nu", 1e-3, 1e-4, 1, "viscosity")),
      amplitude_(
          parameter("forcing", 0.1, 0, 10, "amplitude A of the forcing A sqrt(2) sin(2 pi (x/L_x + y/L_y) + phi)")),
      lengths_{length("length_x"), length("length_y")},
      law_({grid(), lengths_}, law(), kPhaseNumbers) {}

GridAxes NavierStokes::axes() const {
  return {{{"x", AxisKind::periodic, lengths_[0]}, {"y", AxisKind::periodic, lengths_[1]}}};
}

const std::vector<Channel>& NavierStokes::channels() const {
  static const std::vector<Channel> list = {
      {.name = "w"},
      {.name = "w0", .role = Role::coefficient, .valid = {{-kLargestVorticity, kLargestVorticity}}},
      {.name = "phi", .role = Role::coefficient, .scalar = true, .given_in_inverse = true}};
  return list;
}

Tensor NavierStokes::sample_coefficients(uint64_t seed, int64_t first, int64_t count) const {
  const Tensor phi = uniform(seed, Stream::coefficients, first, count, {1, 1}, torch::kFloat64);
  const Tensor w0 = law_.sample(seed, first, count);
  return torch::stack({w0, (phi * (std::numbers::pi / 2)).expand_as(w0)}, 1);
}

Tensor NavierStokes::forcing(const Tensor& phi, const GridSize& points) const {
  const auto share = [&](int64_t n) {
    return torch::arange(n, phi.options().requires_grad(false)) / static_cast<double>(n);
  };
  const Tensor angle = (share(points.height()).unsqueeze(1) + share(points.width())) * (2 * std::numbers::pi);
  return torch::fft::rfft2(torch::sin(angle + phi) * (amplitude_ * std::numbers::sqrt2), {}, {-2, -1}, "forward");
}

Tensor NavierStokes::flow(const Tensor& coefficients, double time, const Refinement& refinement) const {
  const GridSize points(refinement.points * nested_grid(grid().height(), kInnerGrid * lengths_[0]),
                        refinement.points * nested_grid(grid().width(), kInnerGrid * lengths_[1]));
  const Box box(points, lengths_);
  const Tensor w0 = coefficients.select(1, 0);
  const double rate = std::max(kFewestSteps, kStepsPerVorticity * w0.abs().max().item<double>());
  const int64_t steps = refinement.steps * static_cast<int64_t>(std::ceil(rate * time));
  const VorticityAdvection advection(box, torch::kComplexDouble, w0.device());
  const auto kept = [&](const Tensor& modes) { return modes.narrow(-1, 0, advection.columns()).contiguous(); };
  const Tensor f = kept(forcing(scalar_value(coefficients.narrow(1, 1, 1)).squeeze(1), points));
  const ExponentialRk4 stepper(kept(square_wavenumbers(box, w0.device())) * -nu_, time / static_cast<double>(steps));
  Tensor w = kept(interpolant_modes_2d(w0, points));
  for (int64_t i = 0; i < steps; ++i) w = stepper.step(w, [&](const Tensor& v) { return advection(v).add_(f); });
  return values_at_2d(w, points, grid());
}

Tensor NavierStokes::integrate(const Tensor& coefficients, double time, const Refinement& refinement) const {
  return map_samples(coefficients, kFlowsTogether, [&](const Tensor& part) { return flow(part, time, refinement); });
}

Tensor NavierStokes::solve(const Tensor& coefficients, const Tensor&, SolveReport* report) const {
  const Tensor given = checked_coefficients(coefficients);
  const double largest = given.select(1, 0).abs().max().item<double>();
  require<DataError>(largest <= kLargestVorticity, "[navier-stokes] |w0| must be at most {}, the largest is {}",
                     kLargestVorticity, largest);
  const Tensor w = integrate(given);
  require<NumericsError>(all_finite(w), "[navier-stokes] the flow is not finite; the largest |w0| is {}", largest);
  if (report) *report = {};
  return w.unsqueeze(1);
}

Residual NavierStokes::residual(const Tensor& x) const {
  check_residual_input(x);
  const Box box(grid(), lengths_);
  const auto dtype = c10::toComplexType(x.scalar_type());
  const VorticityAdvection advection(box, dtype, x.device());
  const Tensor decay = torch::exp(square_wavenumbers(box, x.device()) * -nu_).to(dtype);
  const Tensor frames = torch::fft::rfft2(x.narrow(1, 0, 2), {}, {-2, -1}, "forward");
  const Tensor advected = advection(frames.narrow(-1, 0, advection.columns()));
  const Tensor rates = torch::constant_pad_nd(advected, {0, grid().width() / 2 + 1 - advection.columns()}) +
                       forcing(scalar_value(x.narrow(1, 2, 1)), grid());
  const Tensor end = frames.narrow(1, 0, 1) - rates.narrow(1, 0, 1) * 0.5;
  const Tensor begin = frames.narrow(1, 1, 1) + rates.narrow(1, 1, 1) * 0.5;
  return {{{.interior = values_at_2d(end - decay * begin, grid(), grid()),
            .reference = x.narrow(1, 0, 1) - x.narrow(1, 1, 1)}}};
}

Tensor NavierStokes::constrain(const Tensor& x) const {
  check_shape(x);
  const Tensor w = solution(x);
  return torch::cat({w - w.mean({2, 3}, true), coefficients(x)}, 1);
}

}  // namespace piddm
