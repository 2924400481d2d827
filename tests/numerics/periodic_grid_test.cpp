#include "piddm/numerics/periodic_grid.h"

#include <numbers>

#include "piddm/numerics/map_samples.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using piddm::testing::gradient_error;
using piddm::testing::relative_error;

constexpr double kTwoPi = 2 * std::numbers::pi;

Tensor points(int64_t n) { return torch::arange(n, torch::kFloat64) / static_cast<double>(n); }

TEST(PeriodicGrid, NestedGridsAreMultiples) {
  EXPECT_EQ(nested_grid(128, 256), 256);
  EXPECT_EQ(nested_grid(32, 256), 256);
  EXPECT_EQ(nested_grid(100, 256), 300);
  EXPECT_EQ(nested_grid(200, 256), 400);
  EXPECT_EQ(last_unaliased_mode(256), 85);
  EXPECT_EQ(last_unaliased_mode(255), 84);  // 85 + 85 = -85 + 255
}

TEST(PeriodicGrid, InterpolantIsExactBelowTheLastMode) {
  for (const int64_t n : {8, 9}) {
    const auto f = [](const Tensor& x) { return 0.5 + (kTwoPi * 3 * x + 0.4).cos() - 2 * (kTwoPi * x).sin(); };
    for (const int64_t factor : {1, 2, 5}) {
      const int64_t m = factor * n;
      const Tensor modes = interpolant_modes(f(points(n)), m);
      EXPECT_EQ(modes.size(0), m / 2 + 1);
      if (factor == 1) continue;
      EXPECT_LT(relative_error(values_at(modes, m, m), f(points(m))), 1e-14) << n << " in " << m;
      EXPECT_LT(relative_error(values_at(modes, m, n), f(points(n))), 1e-14) << n << " in " << m;
    }
  }
}

TEST(PeriodicGrid, LastModeIsACosine) {
  const Tensor zigzag = (kTwoPi * 4 * points(8)).cos();
  EXPECT_LT(relative_error(values_at(interpolant_modes(zigzag, 24), 24, 24), (kTwoPi * 4 * points(24)).cos()), 1e-14);
}

TEST(PeriodicGrid, InterpolantInTwoDimensions) {
  for (const int64_t n : {8, 9}) {
    const auto f = [](const Tensor& p) {
      const Tensor x = p.unsqueeze(1), y = p.unsqueeze(0);
      return (kTwoPi * (3 * x - 2 * y) + 0.3).cos() + (kTwoPi * (x + 3 * y)).sin() + 0.2 * (kTwoPi * y).cos();
    };
    const Tensor modes = interpolant_modes_2d(f(points(n)).expand({2, n, n}), 3 * n);
    EXPECT_LT(relative_error(values_at_2d(modes, 3 * n, 3 * n)[1], f(points(3 * n))), 1e-14);
  }
  const Tensor noise =
      torch::randn({8, 8}, torch::kFloat64);  // with modes 4 on both axes: still passes through the data
  EXPECT_LT(relative_error(values_at_2d(interpolant_modes_2d(noise, 24), 24, 8), noise), 1e-14);
  EXPECT_LT(gradient_error(
                [](const Tensor& u) { return values_at_2d(interpolant_modes_2d(u, 16), 16, 16).pow(3).sum(); }, noise),
            1e-7);
}

TEST(PeriodicGrid, WavenumbersFollowTheTransforms) {
  for (const int64_t m : {6, 7}) {
    EXPECT_TRUE(torch::allclose(full_wavenumbers(m), torch::fft::fftfreq(m, 1.0 / m, torch::kFloat64)));
    EXPECT_TRUE(torch::allclose(half_wavenumbers(m), torch::fft::rfftfreq(m, 1.0 / m, torch::kFloat64)));
  }
}

TEST(MapSamples, GivesTheSolverOneSampleAtATimeAndKeepsTheOrder) {
  const Tensor x = torch::randn({5, 3}, torch::kFloat64);
  const Tensor y = map_samples(x, 2, [](const Tensor& part) {
    EXPECT_EQ(part.size(0), 1);
    return part * 2;
  });
  EXPECT_TRUE(torch::equal(y, x * 2));
  EXPECT_FALSE(y.is_inference());
}

}  // namespace
}  // namespace piddm
