#include "heated_ring.h"

#include <piddm/numerics/map_samples.h>
#include <piddm/pde/stencils.h>

#include <numbers>

using namespace piddm;

namespace {

constexpr int64_t kDeviceBlock = 1024;  // samples solved together on a GPU

}  // namespace

HeatedRing::HeatedRing(PdeOptions options)
    : Pde(std::move(options)),
      nu_(parameter("nu", 0.02, 1e-4, 1, "diffusivity")),
      k_(parameter("k", 1, 0.01, 100, "rate of heat loss")),
      dx_(axes()[0].spacing(grid().height())),
      dt_(axes()[1].spacing(grid().width())),
      law_(grid().height(), {.scale = 49, .tau = 7, .gamma = 2.5}),
      start_(slice_constraint(0, Axis::w, 0, torch::zeros({}, torch::kFloat64))) {
  const auto n = torch::arange(grid().width(), torch::kFloat64);
  const auto m = torch::arange(grid().height() / 2 + 1, torch::kFloat64);
  const auto wave = 2 / dx_ * torch::sin(m * (std::numbers::pi / static_cast<double>(grid().height())));
  const auto l = (k_ + nu_ * wave.square()).unsqueeze(1);
  response_ = (1 - torch::pow((1 - l * (dt_ / 2)) / (1 + l * (dt_ / 2)), n)) / l;
}

const std::vector<Channel>& HeatedRing::channels() const {
  static const std::vector<Channel> list = {{.name = "u"}, {.name = "q", .role = Role::coefficient}};
  return list;
}

GridAxes HeatedRing::axes() const {
  return {{{.name = "x", .kind = AxisKind::periodic, .length = 1, .unit = "m"},
           {.name = "t", .kind = AxisKind::time, .length = 1, .unit = "s"}}};
}

Tensor HeatedRing::sample_coefficients(uint64_t seed, int64_t first, int64_t count) const {
  return law_.sample(seed, first, count).view({count, 1, grid().height(), 1}).repeat({1, 1, 1, grid().width()});
}

Tensor HeatedRing::solve(const Tensor& coefficients, const Tensor&, SolveReport* report) const {
  if (report) *report = {};
  const auto q = mean_over_time(checked_coefficients(coefficients));
  return map_samples(q, kDeviceBlock, [&](const Tensor& part) {
    return torch::fft::irfft(torch::fft::rfft(part, {}, 2) * response_.to(part.device()), grid().height(), 2);
  });
}

Residual HeatedRing::residual(const Tensor& x) const {
  check_residual_input(x);
  const auto u = solution(x), q = mean_over_time(coefficients(x));
  const auto middle = (u.slice(3, 1) + u.slice(3, 0, -1)) / 2;
  const auto diffusion = nu_ * second_difference(wrap(middle, 2), 2, dx_);
  const auto u_t = u.diff(1, 3) / dt_;
  return {.fields = {{.interior = u_t - diffusion + k_ * middle - q, .reference = u_t}},
          .boundary = u.select(3, 0).flatten(1)};
}

Tensor HeatedRing::constrain(const Tensor& x) const {
  check_shape(x);
  return start_->adjust(x);
}

Tensor HeatedRing::given_boundary() const {
  const auto mask = Pde::given_boundary();
  mask.select(2, 0).fill_(true);
  return mask;
}

Admissible HeatedRing::admissible(const Tensor& coefficients) const {
  const auto q = mean_over_time(checked_coefficients(coefficients));
  return {.coefficients = q.repeat({1, 1, 1, grid().width()}), .clamped = torch::zeros({q.size(0)}, torch::kLong)};
}
