#include "piddm/numerics/random_fields/periodic_field.h"

#include <cmath>
#include <numbers>

#include "tests/testing.h"

namespace piddm {
namespace {

using piddm::testing::relative_error;

const PeriodicLaw kLine = {.scale = 49, .tau = 7, .gamma = 2.5};
const PeriodicLaw kSquare = {.scale = std::sqrt(686.0), .tau = 7, .gamma = 2.5};
constexpr double kTurn = 2 * std::numbers::pi;

double deviation(const PeriodicLaw& law, int64_t k2) {
  return law.scale * std::pow(kTurn * kTurn * static_cast<double>(k2) + 49, -1.25);
}

Tensor line(int64_t n) { return torch::arange(n, torch::kFloat64) / static_cast<double>(n); }

TEST(PeriodicLine, IsTheSumOfItsModes) {
  for (const int64_t n : {8, 9}) {
    const Tensor xi = normal(5, Stream::coefficients, 3, 1, {n / 2, 2}, torch::kFloat64)[0];
    Tensor expected = torch::zeros({n}, torch::kFloat64);
    for (int64_t k = 1; k <= n / 2; ++k) {
      const Tensor angle = kTurn * k * line(n);
      expected += std::sqrt(2.0) * deviation(kLine, k * k) * (xi[k - 1][0] * angle.cos() + xi[k - 1][1] * angle.sin());
    }
    EXPECT_LT(relative_error(PeriodicLine(n, kLine).sample(5, 3, 1)[0], expected), 1e-13) << n;
  }
}

TEST(PeriodicPlane, IsTheSumOfItsModesByShells) {
  for (const int64_t n : {6, 7}) {
    const int64_t last = (n - 1) / 2, offset = 4;
    const Tensor xi = normal(5, Stream::coefficients, 3, 1, {offset + 4 * last * (last + 1)}, torch::kFloat64)[0];
    Tensor expected = torch::zeros({n, n}, torch::kFloat64);
    int64_t position = offset;
    const auto add = [&](int64_t k, int64_t l) {
      const Tensor angle = kTurn * (k * line(n).unsqueeze(1) + l * line(n));
      expected += std::sqrt(2.0) * deviation(kSquare, k * k + l * l) *
                  (xi[position] * angle.cos() + xi[position + 1] * angle.sin());
      position += 2;
    };
    for (int64_t m = 1; m <= last; ++m) {
      add(m, 0);
      for (int64_t l = 1; l < m; ++l) add(m, l), add(-m, l);
      for (int64_t k = -m; k <= m; ++k) add(k, m);
    }
    EXPECT_EQ(position, xi.size(0));
    EXPECT_LT(relative_error(PeriodicPlane(n, kSquare, offset).sample(5, 3, 1)[0], expected), 1e-13) << n;
  }
}

TEST(PeriodicField, ExactDeviationsOfThePublishedLaws) {
  EXPECT_NEAR(std::sqrt(PeriodicLine(128, kLine).pointwise_variance_mean()), 0.2741, 5e-5);
  EXPECT_NEAR(std::sqrt(PeriodicPlane(128, kSquare).pointwise_variance_mean()), 0.2620, 5e-5);
}

TEST(PeriodicField, SampleVarianceMatchesTheSumOfModes) {
  const auto compare = [](const Tensor& variance, double expected) {  // one independent number a sample
    const double error = variance.std().item<double>() / std::sqrt(static_cast<double>(variance.size(0)));
    EXPECT_NEAR(variance.mean().item<double>(), expected, 4 * error);
    EXPECT_LT(error, 0.04 * expected);
  };
  for (const int64_t n : {32, 33}) {
    const PeriodicLine line(n, kLine);
    compare(line.sample(1, 0, 4000).square().mean(1), line.pointwise_variance_mean());
    const PeriodicPlane square(n, kSquare);
    compare(square.sample(1, 0, 1000).square().mean({1, 2}), square.pointwise_variance_mean());
  }
}

TEST(PeriodicPlane, EveryModeHasItsVariance) {
  const Tensor modes = torch::fft::fft2(PeriodicPlane(9, kSquare).sample(2, 0, 4000), {}, {-2, -1}, "forward");
  Tensor ratio = modes.abs().square().mean(0);
  EXPECT_LT(ratio[0][0].item<double>(), 1e-28);  // zero mean, sample by sample
  for (int64_t k = 0; k < 9; ++k)
    for (int64_t l = 0; l < 9; ++l) {
      if (k == 0 && l == 0) continue;
      const int64_t a = k > 4 ? k - 9 : k, b = l > 4 ? l - 9 : l;
      const double s = deviation(kSquare, a * a + b * b);
      EXPECT_NEAR(ratio[k][l].item<double>() / (s * s), 1, 5 * std::sqrt(1.0 / 4000)) << a << " " << b;
    }
}

TEST(PeriodicField, SameFunctionOnEveryGrid) {
  const Tensor coarse = torch::fft::rfft(PeriodicLine(10, kLine).sample(3, 5, 2), {}, -1, "forward");
  const Tensor fine = torch::fft::rfft(PeriodicLine(33, kLine).sample(3, 5, 2), {}, -1, "forward");
  EXPECT_LT(relative_error(torch::view_as_real(fine.narrow(1, 0, 5)), torch::view_as_real(coarse.narrow(1, 0, 5))),
            1e-13);
  const auto modes = [](int64_t n) {
    const Tensor all = torch::fft::fft2(PeriodicPlane(n, kSquare).sample(3, 5, 2), {}, {-2, -1}, "forward");
    return torch::view_as_real(all.roll({4, 4}, {1, 2}).narrow(1, 0, 9).narrow(2, 0, 9));  // |k|, |l| <= 4
  };
  EXPECT_LT(relative_error(modes(24), modes(10)), 1e-13);
}

TEST(PeriodicField, SameBitsForAnyBatchSplit) {
  const PeriodicPlane square(16, kSquare);
  const PeriodicLine line(16, kLine);
  const Tensor all = square.sample(7, 10, 8), lines = line.sample(7, 10, 8);
  for (const int64_t split : {1, 3})
    for (int64_t i = 0; i < 8; i += split) {
      const int64_t count = std::min(split, 8 - i);
      EXPECT_TRUE(torch::equal(square.sample(7, 10 + i, count), all.narrow(0, i, count))) << split << " " << i;
      EXPECT_TRUE(torch::equal(line.sample(7, 10 + i, count), lines.narrow(0, i, count))) << split << " " << i;
    }
}

TEST(PeriodicField, RefusesNonsense) {
  EXPECT_ERROR(PeriodicLine(8, {.tau = 0}), ExitCode::usage, "tau = 0");
  EXPECT_ERROR(PeriodicPlane(2, kSquare), ExitCode::usage, "n = 2");
}

}  // namespace
}  // namespace piddm
