#include "piddm/plot/colormap.h"

#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "tests/testing.h"

namespace piddm {
namespace {

double linear(uint8_t channel) {
  const double x = channel / 255.0;
  return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
}

/// CIE L* (0..100): a lightness independent of the space the maps are built in.
double lightness(Rgb c) {
  const double y = 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
  return y > 0.008856 ? 116 * std::cbrt(y) - 16 : 903.3 * y;
}

TEST(Colormap, SequentialGrowsEvenlyInLightness) {
  const double first = lightness(map_color(Colors::sequential, 0)), last = lightness(map_color(Colors::sequential, 1));
  EXPECT_LT(first, 15);
  EXPECT_GT(last, 88);
  double previous = first;
  for (int i = 1; i <= 64; ++i) {
    const double current = lightness(map_color(Colors::sequential, i / 64.0));
    EXPECT_GT(current, previous) << i;
    EXPECT_NEAR(current, first + (last - first) * i / 64, 0.5) << i;
    previous = current;
  }
}

TEST(Colormap, DivergingIsLightInTheMiddleAndEvenlyDarkAtTheEnds) {
  EXPECT_GT(lightness(map_color(Colors::diverging, 0.5)), 94);
  for (const double offset : {0.1, 0.25, 0.4, 0.5}) {
    const Rgb low = map_color(Colors::diverging, 0.5 - offset), high = map_color(Colors::diverging, 0.5 + offset);
    EXPECT_NEAR(lightness(low), lightness(high), 0.5) << offset;
    EXPECT_GT(low.b, low.r) << offset;
    EXPECT_GT(high.r, high.b) << offset;
  }
}

TEST(Colormap, ClampsAndFlagsWhatIsNotFinite) {
  EXPECT_EQ(map_color(Colors::sequential, -3), map_color(Colors::sequential, 0));
  EXPECT_EQ(map_color(Colors::diverging, 7), map_color(Colors::diverging, 1));
  EXPECT_EQ(map_color(Colors::sequential, std::nan("")), kSignal);
  EXPECT_EQ(map_color(Colors::diverging, std::numeric_limits<double>::infinity()), kSignal);
  for (int i = 0; i <= 1000; ++i) {
    EXPECT_NE(map_color(Colors::sequential, i / 1000.0), kSignal);
    EXPECT_NE(map_color(Colors::diverging, i / 1000.0), kSignal);
  }
}

TEST(Colormap, CurvesHaveTenColours) {
  std::set<std::tuple<int, int, int>> seen;
  for (int i = 0; i < 10; ++i) seen.emplace(curve_color(i).r, curve_color(i).g, curve_color(i).b);
  EXPECT_EQ(seen.size(), 10U);
  EXPECT_EQ(curve_color(10), curve_color(0));
  EXPECT_EQ(curve_color(-1), curve_color(9));
}

}  // namespace
}  // namespace piddm
