#include "piddm/pde/burgers.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "piddm/numerics/map_samples.h"
#include "piddm/pde/stencils.h"

namespace piddm {
namespace {

constexpr PeriodicLaw kLaw = {.scale = 49, .tau = 7, .gamma = 2.5};
constexpr double kSmallestInnerGrid = 256, kUsualNu = 0.01;
constexpr double kStepsPerTime = 254, kStepsPerDistance = 500;  // of the solver, at the usual nu
constexpr int64_t kEarlySteps = 4;
constexpr double kEarly = 127;          // up to t = 1/127, or one column, the steps are finer
constexpr double kResidualSteps = 127;  // steps per unit time of the residual `step`, at least
constexpr int64_t kDeviceBlock = 256;   // samples integrated together on a GPU

/// nu d^2/dx^2 of the modes on `points` points: -nu (2 pi k/L)^2.
Tensor diffusion(double nu, double length, int64_t points, torch::Device device = torch::kCPU) {
  return half_wavenumbers(points, device).mul(2 * std::numbers::pi).div(length).square() * -nu;
}

}  // namespace

BurgersFlux::BurgersFlux(int64_t points, torch::ScalarType dtype, torch::Device device, double length)
    : points_(points) {
  const Tensor k = half_wavenumbers(points, device);
  const Tensor kept = k.masked_fill(k > static_cast<double>(last_unaliased_mode(points)), 0);
  factor_ = torch::complex(torch::zeros_like(kept), kept * -std::numbers::pi / length).to(dtype);
}

Tensor BurgersFlux::operator()(const Tensor& modes) const {
  const Tensor u = torch::fft::irfft(modes, points_, -1, "forward");
  return torch::fft::rfft(u * u, {}, -1, "forward") * factor_;
}

Burgers::Burgers(PdeOptions options)
    : Pde(std::move(options)),
      nu_(parameter("nu", kUsualNu, 1e-3, 1, "viscosity")),
      length_(length("length_x")),
      duration_(length("duration")),
      dt_(duration_ / static_cast<double>(grid().width() - 1)),
      dx_(length_ / static_cast<double>(grid().height())),
      law_(grid().height(), kLaw, length_),
      residual_steps_(static_cast<int64_t>(std::ceil(kResidualSteps * dt_ - 1e-9))),
      residual_stepper_(diffusion(nu_, length_, 2 * grid().height()), dt_ / static_cast<double>(residual_steps_)) {
  const std::string form = choice("residual", {"compact", "wide", "step"}, "discrete form of the equation");
  form_ = form == "compact" ? Form::compact : form == "wide" ? Form::wide : Form::step;
}

GridAxes Burgers::axes() const { return {{{"x", AxisKind::periodic, length_}, {"t", AxisKind::time, duration_}}}; }

const std::vector<Channel>& Burgers::channels() const {
  static const std::vector<Channel> list = {
      {.name = "u"}, {.name = "a", .role = Role::coefficient, .valid = {{-kLargestState, kLargestState}}}};
  return list;
}

Tensor Burgers::sample_coefficients(uint64_t seed, int64_t first, int64_t count) const {
  return law_.sample(seed, first, count).view({count, 1, grid().height(), 1}).repeat({1, 1, 1, grid().width()});
}

int64_t Burgers::steps_in_a_column(double largest) const {
  const double per_time = std::max(kStepsPerTime, kStepsPerDistance * largest) * std::max(1.0, kUsualNu / nu_);
  return static_cast<int64_t>(std::ceil(per_time * dt_));
}

int64_t Burgers::columns_until(double t) const {
  return static_cast<int64_t>(std::floor(t * static_cast<double>(grid().width() - 1) / duration_ + 1e-9));
}

Tensor Burgers::trajectory(const Tensor& a, const Refinement& refinement) const {
  const int64_t n = grid().height(), columns_stored = grid().width();
  const int64_t points = refinement.points * nested_grid(n, std::max(kSmallestInnerGrid, 2.56 / nu_) * length_);
  const int64_t steps = refinement.steps * steps_in_a_column(a.abs().max().item<double>());
  const int64_t early_steps = kEarlySteps * steps, last_early = std::max<int64_t>(1, columns_until(1 / kEarly));
  const BurgersFlux flux(points, torch::kComplexDouble, a.device(), length_);
  const Tensor linear = diffusion(nu_, length_, points, a.device());
  const ExponentialRk4 early_stepper(linear, dt_ / static_cast<double>(early_steps));
  const ExponentialRk4 stepper(linear, dt_ / static_cast<double>(steps));
  std::vector<Tensor> columns;
  Tensor modes = interpolant_modes(a, points);
  for (int64_t column = 1; column < columns_stored; ++column) {
    const bool early = column <= last_early;
    for (int64_t i = 0; i < (early ? early_steps : steps); ++i)
      modes = (early ? early_stepper : stepper).step(modes, flux);
    columns.push_back(modes);
  }
  const Tensor u = values_at(torch::stack(columns, 1), points, n);
  return torch::cat({a.unsqueeze(2), u.transpose(1, 2)}, 2);
}

Tensor Burgers::integrate(const Tensor& a, const Refinement& refinement) const {
  return map_samples(a, kDeviceBlock, [&](const Tensor& part) { return trajectory(part, refinement); });
}

Tensor Burgers::solve(const Tensor& coefficients, const Tensor&, SolveReport* report) const {
  const Tensor a = mean_over_time(checked_coefficients(coefficients)).squeeze(3).squeeze(1);
  const double largest = a.abs().max().item<double>();
  require<DataError>(largest <= kLargestState, "[burgers] |a| must be at most {}, the largest is {}", kLargestState,
                     largest);
  const Tensor u = integrate(a);
  require<NumericsError>(all_finite(u), "[burgers] the solution is not finite; the largest |a| is {}", largest);
  if (report) *report = {};
  return u.unsqueeze(1);
}

Tensor Burgers::stencil_residual(const Tensor& u) const {
  const Tensor middle = inner(u, 3), around = wrap(middle, 2);
  const Tensor u_x = central_difference(around, 2, dx_);
  const Tensor u_xx =
      form_ == Form::wide ? central_difference(wrap(u_x, 2), 2, dx_) : second_difference(around, 2, dx_);
  return central_difference(u, 3, dt_) + middle * u_x - nu_ * u_xx;
}

Tensor Burgers::step_residual(const Tensor& u) const {
  const int64_t n = grid().height(), points = 2 * n, steps = grid().width() - 1;
  const auto dtype = c10::toComplexType(u.scalar_type());
  const BurgersFlux flux(points, dtype, u.device(), length_);
  const ExponentialRk4 stepper = residual_stepper_.to(u.device(), dtype);
  const Tensor columns = u.transpose(2, 3);
  Tensor modes = interpolant_modes(columns.narrow(2, 0, steps), points);
  for (int64_t i = 0; i < residual_steps_; ++i) modes = stepper.step(modes, flux);
  return ((columns.narrow(2, 1, steps) - values_at(modes, points, n)) / dt_).transpose(2, 3);
}

Residual Burgers::residual(const Tensor& x) const {
  check_residual_input(x);
  const Tensor u = solution(x), a = coefficients(x);
  const bool step = form_ == Form::step;
  return {.fields = {{.interior = step ? step_residual(u) : stencil_residual(u),
                      .reference = step ? u.diff(1, 3) / dt_ : central_difference(u, 3, dt_)}},
          .boundary = (u.select(3, 0) - a.mean(3)).squeeze(1)};
}

Tensor Burgers::constrain(const Tensor& x) const {
  check_shape(x);
  const Tensor u = solution(x);
  return torch::cat({u - u.mean(2, true), coefficients(x)}, 1);
}

Tensor Burgers::given_boundary() const {
  const Tensor mask = Pde::given_boundary();
  mask.select(2, 0).fill_(true);
  return mask;
}

Admissible Burgers::admissible(const Tensor& coefficients) const {
  const Tensor a = mean_over_time(checked_coefficients(coefficients));
  return {.coefficients = a.clamp(-kLargestState, kLargestState).repeat({1, 1, 1, grid().width()}),
          .clamped = (a.abs() > kLargestState).sum({1, 2, 3})};
}

}  // namespace piddm
