#include "piddm/distill/weighting.h"

#include "tests/testing.h"

namespace piddm {
namespace {

Tensor scalar(double value) { return torch::tensor(value, torch::kFloat32); }

TEST(DynamicWeight, IsTheTargetOverTheRunningMean) {
  DynamicWeight weight(1e-4, 0.9);
  EXPECT_NEAR(weight.factor(scalar(2)).item<double>(), 0.5e-4, 1e-10);  // before the first step: the residual at hand
  weight.advance(scalar(2));
  EXPECT_NEAR(weight.factor(scalar(77)).item<double>(), 0.5e-4, 1e-10);  // one step: its residual, whatever the decay
  weight.advance(scalar(5));
  const double mean = (0.9 * 2 + 5) / 1.9;
  EXPECT_NEAR(weight.factor(scalar(77)).item<double>(), 1e-4 / mean, 1e-10);
}

TEST(DynamicWeight, HasNoGradientAndSurvivesAZeroResidual) {
  DynamicWeight weight(1e-4, 0.9);
  const auto residual = torch::tensor(3.0F, torch::requires_grad());
  EXPECT_FALSE(weight.factor(residual).requires_grad());
  weight.advance(residual);
  EXPECT_FALSE(weight.factor(residual).requires_grad());
  EXPECT_NEAR((weight.factor(residual) * residual).item<double>(), 1e-4, 1e-9);
  DynamicWeight zero(1e-4, 0.9);
  zero.advance(scalar(0));
  EXPECT_TRUE(all_finite(zero.factor(scalar(0)) * scalar(0)));
}

TEST(DynamicWeight, GoesOnWhereItWas) {
  DynamicWeight weight(1e-4, 0.7), fresh(1e-4, 0.7), other(1e-4, 0.7);
  fresh.load(weight.state());
  for (const double residual : {3.0, 0.2, 1.1}) weight.advance(scalar(residual));
  fresh.advance(scalar(3)), fresh.advance(scalar(0.2));
  other.load(fresh.state());
  other.advance(scalar(1.1));
  EXPECT_EQ(other.factor(scalar(1)).item<float>(), weight.factor(scalar(1)).item<float>());
  EXPECT_NE(fresh.factor(scalar(1)).item<float>(), weight.factor(scalar(1)).item<float>());
  EXPECT_ERROR(other.load({}), ExitCode::data, "running residual");
}

}  // namespace
}  // namespace piddm
