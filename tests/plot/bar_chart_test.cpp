#include "piddm/plot/bar_chart.h"

#include <cmath>

#include "tests/testing.h"

namespace piddm {
namespace {

/// Left, right, top and bottom of a colour, and how often it occurs.
struct Area {
  int left = 1 << 20, right = -1, top = 1 << 20, bottom = -1, count = 0;
  int height() const { return bottom - top + 1; }
};

/// Left of `until`, where the legend is not.
Area area_of(const Canvas& canvas, Rgb color, int until) {
  Area area;
  for (int y = 0; y < canvas.height(); ++y) {
    for (int x = 0; x < std::min(until, canvas.width()); ++x) {
      if (canvas.at(x, y) != color) continue;
      area.left = std::min(area.left, x);
      area.right = std::max(area.right, x);
      area.top = std::min(area.top, y);
      area.bottom = std::max(area.bottom, y);
      ++area.count;
    }
  }
  return area;
}

TEST(BarChart, HeightsAreProportionalToValues) {
  const Canvas canvas = bar_chart({"g"}, {{"a", {4}}, {"b", {2}}, {"c", {1}}}, "", "");
  const auto height = [&](int series) { return area_of(canvas, curve_color(series), 660).height(); };
  EXPECT_NEAR(height(0), 2 * height(1), 2);
  EXPECT_NEAR(height(1), 2 * height(2), 2);
  EXPECT_EQ(area_of(canvas, curve_color(0), 660).bottom, area_of(canvas, curve_color(2), 660).bottom);
}

TEST(BarChart, SeriesStandSideBySideInTheirGroup) {
  const Canvas canvas = bar_chart({"one", "two"}, {{"a", {1, NAN}}, {"b", {1, 1}}}, "", "");
  const Area a = area_of(canvas, curve_color(0), 660), b = area_of(canvas, curve_color(1), 660);
  EXPECT_LT(a.right, b.left);
  EXPECT_GT(b.right - b.left, 3 * (a.right - a.left));  // in both groups
}

TEST(BarChart, LogScaleTurnsFactorsIntoEqualSteps) {
  const Canvas canvas = bar_chart({"g"}, {{"", {1e-6}}, {"", {1e-3}}, {"", {1}}}, "", "", true);
  const int small = area_of(canvas, curve_color(0), 660).top, middle = area_of(canvas, curve_color(1), 660).top,
            large = area_of(canvas, curve_color(2), 660).top;
  EXPECT_NEAR(small - middle, middle - large, 2);
  EXPECT_GT(area_of(canvas, curve_color(0), 660).count, 0) << "the smallest bar is invisible";
}

TEST(BarChart, NegativeBarsHangFromZero) {
  const Canvas canvas = bar_chart({"g"}, {{"", {2}}, {"", {-2}}}, "", "");
  const Area up = area_of(canvas, curve_color(0), 660), down = area_of(canvas, curve_color(1), 660);
  EXPECT_LE(up.bottom, down.top + 1);
  EXPECT_NEAR(up.height(), down.height(), 2);
}

TEST(BarChart, ErrorBarsStickOutOfTheirBar) {
  const Canvas canvas = bar_chart({"g"}, {{"", {2}, {1}}}, "", "");
  const Area bar = area_of(canvas, curve_color(0), 660);
  int above = 0;
  for (int y = 0; y < bar.top; ++y) above += canvas.at((bar.left + bar.right) / 2 + 1, y) == (Rgb{70, 75, 85});
  EXPECT_NEAR(2 * above, bar.height(), 12);
}

TEST(BarChart, GrowsWithItsNames) {
  const std::vector<std::string> groups(9, "a rather long name of a group");
  const Canvas canvas = bar_chart(groups, {{"a", std::vector<double>(9, 1)}}, "", "");
  EXPECT_GT(canvas.width(), 9 * text_width(groups[0]));
  EXPECT_LT(bar_chart({"x"}, {{"a", {1}}}, "", "").width(), 800);
}

TEST(BarChart, CountsWhatItCannotShowAndRefusesWrongSizes) {
  const auto svg = [](const Canvas& canvas) { return canvas.encode_svg(); };
  EXPECT_THAT(svg(bar_chart({"x", "y"}, {{"a", {1, NAN}}, {"b", {-1, 2}}}, "", "", true)),
              ::testing::HasSubstr("2 of 4 bars not shown"));
  EXPECT_THAT(svg(bar_chart({}, {}, "empty", "")), ::testing::HasSubstr("no data"));
  EXPECT_THAT(svg(bar_chart({"x"}, {{"a", {0}}}, "", "")), ::testing::Not(::testing::HasSubstr("no data")));
  EXPECT_ERROR(bar_chart({"x"}, {{"a", {1, 2}}}, "", ""), ExitCode::usage, "series 'a': 2 values for 1 groups");
  EXPECT_ERROR(bar_chart({"x"}, {{"a", {1}, {1, 2}}}, "", ""), ExitCode::usage, "series 'a': 2 errors for 1 groups");
}

}  // namespace
}  // namespace piddm
