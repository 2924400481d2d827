#include "piddm/eval/phases.h"

#include <cmath>
#include <fstream>

#include "piddm/core/rng.h"
#include "tests/testing.h"

namespace piddm {
namespace {

constexpr double kLow = 3, kHigh = 12;

/// Cells 0 and 1 as the two values.
Tensor phases(const Tensor& cells) { return kLow + (kHigh - kLow) * cells.to(torch::kFloat64); }

TEST(Between, CountsCellsFartherThanANinthOfTheGapFromBothValues) {
  const auto a = torch::tensor({3.0, 12.0, 3.99, 4.01, 7.5, 10.99, 11.01, 2.0, 14.0, 5.0}, torch::kFloat64);
  const auto got = between_values(torch::stack({a.view({2, 5}), a.view({2, 5}) * 0 + kHigh}), kLow, kHigh);
  EXPECT_NEAR(got[0].item<double>(), 0.4, 1e-15);
  EXPECT_EQ(got[1].item<double>(), 0);
}

TEST(InterfaceLength, OfStripesAndAHalfPlane) {
  const auto rows = torch::arange(6).view({6, 1}).expand({6, 9}),
             columns = torch::arange(9).view({1, 9}).expand({6, 9});
  const double pairs = 6 * 8 + 5 * 9;
  const auto share = [&](const Tensor& cells) {
    return interface_length(phases(cells).unsqueeze(0), kLow, kHigh).item<double>();
  };
  EXPECT_NEAR(share(columns < 4), 6 / pairs, 1e-15);
  EXPECT_NEAR(share(rows < 4), 9 / pairs, 1e-15);
  EXPECT_NEAR(share(rows.remainder(2)), 45 / pairs, 1e-15);
  EXPECT_NEAR(share((rows + columns).remainder(2)), 1, 1e-15);
  EXPECT_EQ(share(rows < 0), 0);
}

TEST(Islands, AreThoseOfScipy) {
  std::ifstream file(testing::golden("islands.txt"));
  int64_t h = 0, w = 0, expected = 0, cases = 0;
  while (file >> h >> w >> expected) {
    std::vector<int64_t> cells;
    std::string row;
    for (int64_t i = 0; i < h && file >> row; ++i)
      for (const char c : row) cells.push_back(c - '0');
    const auto field = phases(torch::tensor(cells).view({1, h, w}));
    EXPECT_EQ(islands(field, kLow, kHigh).item<double>(), static_cast<double>(expected)) << h << "x" << w;
    EXPECT_EQ(islands(field.transpose(1, 2), kLow, kHigh).item<double>(), static_cast<double>(expected));
    ++cases;
  }
  EXPECT_EQ(cases, 21);
}

TEST(Islands, OfManySamplesAreThoseOfEach) {
  const auto cells = uniform(1, Stream::noise, 0, 300, {16, 24}, torch::kFloat64) > 0.4;
  const auto all = islands(phases(cells), kLow, kHigh);
  for (const int64_t i : {0, 150, 299})
    EXPECT_EQ(all[i].item<double>(), islands(phases(cells[i].unsqueeze(0)), kLow, kHigh).item<double>());
}

TEST(Phases, OfAFieldThatIsNotFiniteAreNot) {
  auto a = phases(torch::zeros({2, 4, 4}));
  a[1][2][2] = NAN;
  for (const auto& values :
       {between_values(a, kLow, kHigh), interface_length(a, kLow, kHigh), islands(a, kLow, kHigh)}) {
    EXPECT_TRUE(std::isfinite(values[0].item<double>()));
    EXPECT_TRUE(std::isnan(values[1].item<double>()));
  }
  EXPECT_ERROR(islands(a[0], kLow, kHigh), ExitCode::data, "expected fields (N,H,W), got (4,4)");
}

}  // namespace
}  // namespace piddm
