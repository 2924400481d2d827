#include "piddm/process/time_grid.h"

#include <cmath>

#include "piddm/process/integrator.h"
#include "tests/testing.h"

namespace piddm {
namespace {

TEST(TimeGrid, FallsFromItsBeginToItsEndInStepsThatAddUp) {
  for (const auto spacing : {Spacing::uniform, Spacing::quadratic})
    for (const int64_t steps : {1, 2, 7, 100}) {
      const TimeGrid times(steps, spacing, 0.1, 0.9);
      EXPECT_EQ(times.at(0), 0.9);
      EXPECT_EQ(times.at(steps), 0.1);
      double sum = 0;
      for (int64_t i = 0; i < steps; ++i) {
        EXPECT_NEAR(times.at(i) - times.at(i + 1), times.step(i), 1e-15);
        EXPECT_GT(times.step(i), 0);
        sum += times.step(i);
      }
      EXPECT_NEAR(sum, 0.8, 1e-14);
    }
}

TEST(TimeGrid, QuadraticStepsGrowWithTheirNumber) {
  const TimeGrid times(10, Spacing::quadratic, 0);
  for (int64_t i = 0; i < 10; ++i) EXPECT_NEAR(times.step(i), 0.01 * static_cast<double>(2 * i + 1), 1e-15);
}

TEST(RandomTimes, LieBetweenTheirEndsAsTheStepsDo) {
  const auto u = torch::linspace(0, 1, 11, torch::kFloat64);
  for (const auto spacing : {Spacing::uniform, Spacing::quadratic}) {
    const auto t = random_times(spacing, u, 0.19, 0.99);
    EXPECT_NEAR(t[0].item<double>(), 0.19, 1e-15);
    EXPECT_NEAR(t[10].item<double>(), 0.99, 1e-15);
    EXPECT_GT((t.slice(0, 1) - t.slice(0, 0, 10)).min().item<double>(), 0);
    const TimeGrid steps(10, spacing, 0.19);
    const auto to_the_end = random_times(spacing, u, 0.19, 1);
    for (int64_t i = 0; i <= 10; ++i) EXPECT_NEAR(to_the_end[10 - i].item<double>(), steps.at(i), 1e-14);
  }
  EXPECT_NEAR(random_times(Spacing::quadratic, u, 0.19, 0.99)[5].item<double>(), 1 - 0.5 * 0.5, 1e-15);  // 0.9 and 0.1
}

/// Share of the standard deviation s that is left of a Gaussian N(0, s^2) after sampling its exact velocity; 1 is
/// right. v(x,t) = x (t - (1-t) s^2) / ((1-t)^2 s^2 + t^2).
double deviation_kept(const IntegratorOptions& options, double s) {
  const auto v = [s](const Tensor& x, const Tensor& t) {
    return x * (t - (1 - t) * s * s) / ((1 - t).square() * s * s + t.square());
  };
  return integrate(v, torch::ones({1, 1}, torch::kFloat64), options).x.item<double>() / s;
}

TEST(TimeGrid, LargeModesNeedShortStepsAtTheNoisyEnd) {
  const double s = std::sqrt(4854.0);  // the largest mode of the Poisson source at 128 x 128
  const auto kept = [&](IntegratorKind kind, int64_t steps, Spacing spacing) {
    return deviation_kept({.kind = kind, .steps = steps, .spacing = spacing}, s);
  };
  EXPECT_LT(kept(IntegratorKind::euler, 100, Spacing::uniform), 0.8);
  EXPECT_LT(kept(IntegratorKind::heun, 50, Spacing::uniform), 0.85);
  EXPECT_GT(kept(IntegratorKind::euler, 100, Spacing::quadratic), 0.93);
  EXPECT_GT(kept(IntegratorKind::heun, 50, Spacing::quadratic), 0.98);
  EXPECT_NEAR(kept(IntegratorKind::adaptive, 1, Spacing::uniform), 1, 1e-4);
}

// Fine scales of a field are far below the noise; what a sampler leaves of the noise there is what a residual sees.
TEST(TimeGrid, NoNoiseIsLeftInModesThatTheDataLacks) {
  const double s = 1e-3;
  for (const auto kind : {IntegratorKind::euler, IntegratorKind::heun})
    for (const auto spacing : {Spacing::uniform, Spacing::quadratic})
      EXPECT_LT(deviation_kept({.kind = kind, .steps = 50, .spacing = spacing}, s), 1.01);
}

TEST(TimeGrid, KeepsTheOrderOfTheIntegrators) {
  const auto error = [](IntegratorKind kind, int64_t steps) {
    return std::abs(deviation_kept({.kind = kind, .steps = steps, .spacing = Spacing::quadratic}, 3) - 1);
  };
  for (const int64_t steps : {100, 200, 400}) {
    EXPECT_NEAR(error(IntegratorKind::euler, steps) / error(IntegratorKind::euler, 2 * steps), 2, 0.1);
    EXPECT_NEAR(error(IntegratorKind::heun, steps) / error(IntegratorKind::heun, 2 * steps), 4, 0.3);
  }
}

}  // namespace
}  // namespace piddm
