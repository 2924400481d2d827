#pragma once
// A PDE whose gain, floor and waves are known on paper, for the rule that chooses settings:
// r = u - a + offset, R = c r.
//
//   u = 2 sqrt(2) cos(2 pi (waves_x x + waves_y y) + phase), standard deviation 2, the phase random for each sample;
//   law a = u, data u = a: pde_error (c offset)^2, and of white noise of one standard deviation 4 c^2

#include <cmath>

#include "piddm/pde/pde.h"

namespace piddm::testing {

class PointwisePde : public Pde {
 public:
  static constexpr const char* kName = "pointwise";

  explicit PointwisePde(PdeOptions options)
      : Pde(std::move(options)),
        c_(parameter("c", 5, 0, 1e9, "scale of the residual")),
        offset_(parameter("offset", 0, -1e3, 1e3, "what the data miss the equation by")),
        waves_({parameter("waves_x", 3, 0, 500, "along x"), parameter("waves_y", 0, 0, 500, "along y")}),
        solver_(parameter("solver", 0, 0, 1, "1: there is a preconditioner")) {
    const bool scalar = parameter("scalar", 0, 0, 1, "1: the coefficient is a number") > 0;
    const bool ring = parameter("ring", 0, 0, 1, "1: u is zero on the ring") > 0;
    edge_ = parameter("edge", 0, 0, 1, "1: the residual has a part at the edge") > 0;
    lawless_ = parameter("lawless", 0, 0, 1, "1: there is no law") > 0;
    channels_ = {{.name = "u", .zero_on = ring ? ZeroOn::ring : ZeroOn::nothing},
                 {.name = "a", .role = Role::coefficient, .scalar = scalar}};
    if (parameter("two_valued", 0, 0, 1, "1: a has two values") > 0) channels_[1].two_valued = {{-1.0, 1.0}};
  }

  const std::vector<Channel>& channels() const override { return channels_; }
  GridAxes axes() const override { return {{{"x", AxisKind::periodic}, {"y", AxisKind::periodic}}}; }
  bool has_law() const override { return !lawless_; }
  Tensor sample_coefficients(uint64_t seed, int64_t first, int64_t count) const override {
    const auto phase = 2 * M_PI * uniform(seed, Stream::coefficients, first, count, {1, 1, 1}, torch::kFloat64);
    const auto at = [](int64_t n) { return torch::arange(n, torch::kFloat64) / n; };
    const auto x = at(grid().height()).view({1, 1, -1, 1}), y = at(grid().width()).view({1, 1, 1, -1});
    return 2 * std::sqrt(2.0) * torch::cos(2 * M_PI * (waves_[0] * x + waves_[1] * y) + phase);
  }
  Tensor solve(const Tensor& coefficients, const Tensor&, SolveReport*) const override { return coefficients; }
  std::vector<Equation> equations() const override { return {{.scale = c_}}; }
  Residual residual(const Tensor& x) const override {
    Residual r{.fields = {{.interior = x.narrow(1, 0, 1) - x.narrow(1, 1, 1) + offset_,
                           .reference = torch::ones_like(x.narrow(1, 0, 1))}}};
    if (edge_) r.boundary = x.select(1, 0).select(1, 0);
    return r;
  }
  Tensor constrain(const Tensor& x) const override { return x; }
  Tensor precondition(const Residual& r) const override { return r.fields[0].interior; }
  bool has_preconditioner() const override { return solver_ > 0; }

 private:
  double c_, offset_;
  std::array<double, 2> waves_;
  double solver_;
  bool edge_ = false, lawless_ = false;
  std::vector<Channel> channels_;
};

}  // namespace piddm::testing
