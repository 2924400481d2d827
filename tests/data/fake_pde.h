#pragma once
// The smallest PDE there is: u = 2 a + s, with a two-valued field a and a scalar s. Everything about it is known
// exactly.

#include "piddm/pde/pde.h"

namespace piddm::testing {

class FakePde : public Pde {
 public:
  /// `factor` replaces the 2.
  explicit FakePde(const GridSize& grid = 4, double factor = 2)
      : Pde({.name = "fake", .grid = grid}), factor_(factor) {}

  const std::vector<Channel>& channels() const override {
    static const std::vector<Channel> list = {
        {.name = "u", .role = Role::solution},
        {.name = "a", .role = Role::coefficient, .scalar = false, .two_valued = {{1, 3}}},
        {.name = "s", .role = Role::coefficient, .scalar = true}};
    return list;
  }

  GridAxes axes() const override { return {{{"x"}, {"y"}}}; }

  Tensor sample_coefficients(uint64_t seed, int64_t first, int64_t count) const override {
    const auto draws =
        uniform(seed, Stream::coefficients, first, count, {2, grid().height(), grid().width()}, torch::kFloat64);
    const auto a = (draws.narrow(1, 0, 1) > 0.5).to(torch::kFloat64) * 2 + 1;
    return torch::cat({a, draws.slice(1, 1, 2).slice(2, 0, 1).slice(3, 0, 1).expand_as(a)}, 1);
  }

  Tensor solve(const Tensor& coefficients, const Tensor&, SolveReport*) const override {
    require<DataError>(coefficients.min().item<double>() >= 0, "[fake] negative coefficients");
    return factor_ * coefficients.narrow(1, 0, 1) + coefficients.narrow(1, 1, 1);
  }

  std::vector<Equation> equations() const override { return {{.scale = 10}}; }
  Residual residual(const Tensor& x) const override {
    const auto u = x.narrow(1, 0, 1);
    return {.fields = {{.interior = u - factor_ * x.narrow(1, 1, 1) - x.narrow(1, 2, 1),
                        .reference = torch::full_like(u, 2.0)}}};
  }

  /// u is not negative.
  Tensor constrain(const Tensor& x) const override {
    return torch::cat({x.narrow(1, 0, 1).abs(), x.narrow(1, 1, 2)}, 1);
  }

 private:
  double factor_;
};

}  // namespace piddm::testing
