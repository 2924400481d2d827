#include "piddm/process/process.h"

#include "tests/testing.h"

namespace piddm {
namespace {

using testing::gradient_error;
using testing::relative_error;

Tensor start() { return torch::randn({3, 2, 4, 4}, torch::kFloat64); }

/// v = x, so x(t) = x(1) exp(t - 1).
Tensor growth(const Tensor& x, const Tensor&) { return x; }

double growth_error(int64_t steps) {
  const auto e = start();
  return relative_error(integrate_euler(growth, e, steps), e * std::exp(-1.0));
}

TEST(Euler, IsExactForAConstantVelocity) {
  const auto e = start(), v = start();
  for (const int64_t steps : {1, 2, 7, 100})
    EXPECT_LT(relative_error(integrate_euler([&](const Tensor&, const Tensor&) { return v; }, e, steps), e - v), 1e-13);
}

TEST(Euler, OneStepIsTheCleanEstimateOfTheLinearProcess) {
  const auto e = start();
  const auto v = [](const Tensor& x, const Tensor& t) { return torch::sin(x) * t; };
  const auto one = torch::ones({1}, torch::kFloat64);
  EXPECT_TRUE(integrate_euler(v, e, 1).equal(process_registry().at("linear")()->clean(e, v(e, one), one)));
}

TEST(Euler, HasItsClosedFormOnGrowth) {
  const auto e = start();
  EXPECT_LT(relative_error(integrate_euler(growth, e, 10), e * std::pow(0.9, 10)), 1e-13);
}

TEST(Euler, IsOfFirstOrder) {
  EXPECT_NEAR(growth_error(200) / growth_error(400), 2, 0.01);
  EXPECT_LT(growth_error(400), 2e-3);
}

TEST(Euler, VisitsEqualTimesFromOneDownwards) {
  std::vector<double> visited;
  const auto v = [&](const Tensor& x, const Tensor& t) {
    EXPECT_EQ(t.sizes(), (std::vector<int64_t>{1}));
    EXPECT_EQ(t.scalar_type(), x.scalar_type());
    visited.push_back(t.item<double>());
    return torch::zeros_like(x);
  };
  integrate_euler(v, start(), 4);
  EXPECT_EQ(visited, (std::vector<double>{1, 0.75, 0.5, 0.25}));
  visited.clear();
  integrate_euler(v, start(), 2, 0.5);
  EXPECT_EQ(visited, (std::vector<double>{1, 0.75}));
}

TEST(Euler, StopsAtTheEndAskedFor) {
  const auto e = start();
  const auto v = [](const Tensor& x, const Tensor&) { return torch::ones_like(x); };
  EXPECT_LT(relative_error(integrate_euler(v, e, 3, 0.25), e - 0.75), 1e-13);
}

TEST(Euler, GradientFlowsThroughEveryStep) {
  const auto a = torch::randn({3, 2, 4, 4}, torch::kFloat64);
  const auto final_value = [](const Tensor& e, const Tensor& w) {
    const auto v = [&](const Tensor& x, const Tensor& t) { return torch::tanh(w * x) * (1 + t); };
    return integrate_euler(v, e, 8).pow(3).sum();
  };
  const auto e = start();
  EXPECT_LT(gradient_error([&](const Tensor& x) { return final_value(x, a); }, e), 1e-6);
  EXPECT_LT(gradient_error([&](const Tensor& w) { return final_value(e, w); }, a), 1e-6);
}

TEST(Euler, NeedsAStep) { EXPECT_THROW(integrate_euler(growth, start(), 0), c10::Error); }

}  // namespace
}  // namespace piddm
