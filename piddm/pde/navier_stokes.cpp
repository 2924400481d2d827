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

/// |k|^2 of the modes of rfft2 on `points` points, [points,points/2+1].
Tensor square_wavenumbers(int64_t points, torch::Device device) {
  const Tensor k = full_wavenumbers(points, device).unsqueeze(1), l = half_wavenumbers(points, device);
  return (k.square() + l.square()) * (4 * std::numbers::pi * std::numbers::pi);
}

}  // namespace

VorticityAdvection::VorticityAdvection(int64_t points, torch::ScalarType dtype, torch::Device device)
    : points_(points), columns_(last_unaliased_mode(points) + 1) {
  const Tensor k = full_wavenumbers(points, device).unsqueeze(1) * (2 * std::numbers::pi);
  const Tensor l = half_wavenumbers(points, device).narrow(0, 0, columns_) * (2 * std::numbers::pi);
  const Tensor kept = (k.abs() <= l[-1]).to(torch::kFloat64);
  const Tensor square = k.square() + l.square(), inverse = kept * square.reciprocal().masked_fill(square == 0, 0);
  to_velocity_ = torch::stack({times_i(l * inverse), times_i(-k * inverse)}).to(dtype);
  from_product_ = ((k.square() - l.square()) * kept).to(dtype);
  from_squares_ = (k * l * kept).to(dtype);
}

Tensor VorticityAdvection::operator()(const Tensor& modes) const {
  const Tensor lines = torch::fft::ifft(modes.unsqueeze(-3) * to_velocity_, {}, -2, "forward");
  const Tensor v = torch::fft::irfft(lines, points_, -1, "forward"), v1 = v.select(-3, 0), v2 = v.select(-3, 1);
  const auto transform = [&](const Tensor& product) {
    return torch::fft::fft(torch::fft::rfft(product, {}, -1, "forward").narrow(-1, 0, columns_), {}, -2, "forward");
  };
  return torch::addcmul(transform(v1 * v2) * from_product_, transform((v2 - v1) * (v2 + v1)), from_squares_);
}

NavierStokes::NavierStokes(PdeOptions options)
    : Pde(std::move(options)),
      nu_(parameter("nu", 1e-3, 1e-4, 1, "viscosity")),
      amplitude_(parameter("forcing", 0.1, 0, 10, "amplitude A of the forcing A sqrt(2) sin(2 pi (x+y) + phi)")),
      law_(grid(), law(), kPhaseNumbers) {}

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

Tensor NavierStokes::forcing(const Tensor& phi, int64_t points) const {
  const Tensor x = torch::arange(points, phi.options().requires_grad(false)) / static_cast<double>(points);
  const Tensor angle = (x.unsqueeze(1) + x) * (2 * std::numbers::pi);
  return torch::fft::rfft2(torch::sin(angle + phi) * (amplitude_ * std::numbers::sqrt2), {}, {-2, -1}, "forward");
}

Tensor NavierStokes::flow(const Tensor& coefficients, double time, const Refinement& refinement) const {
  const int64_t n = grid(), points = refinement.points * nested_grid(n, kInnerGrid);
  const Tensor w0 = coefficients.select(1, 0);
  const double rate = std::max(kFewestSteps, kStepsPerVorticity * w0.abs().max().item<double>());
  const int64_t steps = refinement.steps * static_cast<int64_t>(std::ceil(rate * time));
  const VorticityAdvection advection(points, torch::kComplexDouble, w0.device());
  const auto kept = [&](const Tensor& modes) { return modes.narrow(-1, 0, advection.columns()).contiguous(); };
  const Tensor f = kept(forcing(scalar_value(coefficients.narrow(1, 1, 1)).squeeze(1), points));
  const ExponentialRk4 stepper(kept(square_wavenumbers(points, w0.device())) * -nu_, time / static_cast<double>(steps));
  Tensor w = kept(interpolant_modes_2d(w0, points));
  for (int64_t i = 0; i < steps; ++i) w = stepper.step(w, [&](const Tensor& v) { return advection(v).add_(f); });
  return values_at_2d(w, points, n);
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
  const int64_t n = grid();
  const auto dtype = c10::toComplexType(x.scalar_type());
  const VorticityAdvection advection(n, dtype, x.device());
  const Tensor decay = torch::exp(square_wavenumbers(n, x.device()) * -nu_).to(dtype);
  const Tensor frames = torch::fft::rfft2(x.narrow(1, 0, 2), {}, {-2, -1}, "forward");
  const Tensor advected = advection(frames.narrow(-1, 0, advection.columns()));
  const Tensor rates = torch::constant_pad_nd(advected, {0, n / 2 + 1 - advection.columns()}) +
                       forcing(scalar_value(x.narrow(1, 2, 1)), n);
  const Tensor end = frames.narrow(1, 0, 1) - rates.narrow(1, 0, 1) * 0.5;
  const Tensor begin = frames.narrow(1, 1, 1) + rates.narrow(1, 1, 1) * 0.5;
  return {{{.interior = values_at_2d(end - decay * begin, n, n), .reference = x.narrow(1, 0, 1) - x.narrow(1, 1, 1)}}};
}

Tensor NavierStokes::constrain(const Tensor& x) const {
  check_shape(x);
  const Tensor w = solution(x);
  return torch::cat({w - w.mean({2, 3}, true), coefficients(x)}, 1);
}

}  // namespace piddm
