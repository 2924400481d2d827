#include "piddm/plot/axis.h"

#include <cmath>

#include "tests/testing.h"

namespace piddm {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> labels_of(const ChartAxis& axis) {
  std::vector<std::string> out;
  for (const Tick& tick : axis.ticks)
    if (!tick.label.empty()) out.push_back(tick.label);
  return out;
}

TEST(ChartAxis, LinearTicksAreRoundNumbers) {
  EXPECT_THAT(labels_of(make_axis({0, 1}, false, 0)), ElementsAre("0", "0.2", "0.4", "0.6", "0.8", "1.0"));
  EXPECT_EQ(labels_of(make_axis({0, 18}, false, 0)).size(), 10U);
  EXPECT_THAT(labels_of(make_axis({-13, 17}, false, 0)), ElementsAre("-10", "-5", "0", "5", "10", "15"));
  EXPECT_THAT(labels_of(make_axis({0, 30000}, false, 0)),
              ElementsAre("0", "5000", "10000", "15000", "20000", "25000", "30000"));
  EXPECT_THAT(labels_of(make_axis({0, 3e-7}, false, 0)),
              ElementsAre("0", "5e-8", "1.0e-7", "1.5e-7", "2.0e-7", "2.5e-7", "3.0e-7"));
}

TEST(ChartAxis, PaddingLeavesRoom) {
  const ChartAxis axis = make_axis({2, 4}, false, 0.05);
  EXPECT_DOUBLE_EQ(axis.low, 1.9);
  EXPECT_DOUBLE_EQ(axis.high, 4.1);
  EXPECT_NEAR(axis.position(3), 0.5, 1e-15);
}

TEST(ChartAxis, LogTicksAreDecadesWithMinorOnesBetween) {
  const ChartAxis axis = make_axis({1e-6, 1e-2}, true, 0);
  EXPECT_THAT(labels_of(axis), ElementsAre("1e-6", "1e-5", "1e-4", "1e-3", "1e-2"));
  EXPECT_EQ(axis.ticks.size(), 4 * 9 + 1U);
  EXPECT_NEAR(axis.position(1e-4), 0.5, 1e-12);
}

TEST(ChartAxis, LogLabelsThinOutOverManyDecadesAndFillUpOverFew) {
  EXPECT_LE(labels_of(make_axis({1e-30, 1e10}, true, 0)).size(), 9U);
  EXPECT_GE(labels_of(make_axis({1e-30, 1e10}, true, 0)).size(), 4U);
  EXPECT_THAT(labels_of(make_axis({1, 100}, true, 0)), ElementsAre("1", "2", "5", "10", "20", "50", "100"));
  EXPECT_THAT(labels_of(make_axis({0.2, 0.7}, true, 0)), ElementsAre("0.2", "0.3", "0.4", "0.5", "0.6", "0.7"));
}

TEST(ChartAxis, CopesWithNothingAndWithEqualValues) {
  for (const bool log : {false, true}) {
    for (const std::vector<double>& values :
         {std::vector<double>{}, {5}, {5, 5, 5}, {1e-12}, {NAN, INFINITY}, {1e7, 1e7 + 1e-6}}) {
      const ChartAxis axis = make_axis(values, log, 0.05);
      EXPECT_LT(axis.low, axis.high);
      EXPECT_GE(labels_of(axis).size(), 2U);
      const double place = !values.empty() && axis.shows(values[0]) ? axis.position(values[0]) : 0.5;
      EXPECT_NEAR(place, 0.5, 1e-6);
    }
  }
  EXPECT_LT(make_axis({0, 0}, false, 0).low, 0);
}

TEST(ChartAxis, LeavesOutWhatItCannotShow) {
  const ChartAxis axis = make_axis({-1, 0, NAN, 1, 1000}, true, 0);
  EXPECT_DOUBLE_EQ(axis.low, 1);
  EXPECT_DOUBLE_EQ(axis.high, 1000);
  EXPECT_FALSE(axis.shows(0));
  EXPECT_FALSE(axis.shows(NAN));
  EXPECT_TRUE(axis.shows(1e-5));
  EXPECT_TRUE(make_axis({}, false, 0).shows(-1));
}

TEST(ChartAxis, TicksLieWithinTheRange) {
  for (const bool log : {false, true}) {
    for (double high = 1.3; high < 1e9; high *= 7.7) {
      const ChartAxis axis = make_axis({1.1, high}, log, 0.05);
      EXPECT_GE(labels_of(axis).size(), 2U) << high;
      EXPECT_LE(labels_of(axis).size(), 11U) << high;
      for (const Tick& tick : axis.ticks) {
        EXPECT_GE(axis.position(tick.value), -1e-9);
        EXPECT_LE(axis.position(tick.value), 1 + 1e-9);
      }
    }
  }
}

}  // namespace
}  // namespace piddm
