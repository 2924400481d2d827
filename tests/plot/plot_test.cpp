#include "piddm/plot/plot.h"

#include <cmath>

#include "tests/testing.h"

namespace piddm {
namespace {

struct Box {
  int left = 1 << 20, right = -1, top = 1 << 20, bottom = -1, count = 0;
};

/// Where a colour occurs.
Box find(const Canvas& canvas, Rgb color) {
  Box box;
  for (int y = 0; y < canvas.height(); ++y) {
    for (int x = 0; x < canvas.width(); ++x) {
      if (canvas.at(x, y) != color) continue;
      box.left = std::min(box.left, x);
      box.right = std::max(box.right, x);
      box.top = std::min(box.top, y);
      box.bottom = std::max(box.bottom, y);
      ++box.count;
    }
  }
  return box;
}

bool margin_is_empty(const Canvas& canvas, int margin) {
  for (int y = 0; y < canvas.height(); ++y)
    for (int x = 0; x < canvas.width(); ++x)
      if ((x < margin || y < margin || x >= canvas.width() - margin || y >= canvas.height() - margin) &&
          canvas.at(x, y) != kWhite)
        return false;
  return true;
}

Panel ramp(int64_t nx, int64_t ny) {
  return {"ramp", torch::arange(nx * ny, torch::kFloat64).reshape({nx, ny}), std::nullopt, Colors::sequential};
}

TEST(ContactSheet, EnlargesEachAxisByItsOwnInteger) {
  for (const auto& [points, pixels] :
       std::vector<std::pair<int, int>>{{16, 144}, {32, 160}, {64, 192}, {128, 256}, {256, 256}}) {
    Panel panel{"", torch::full({points, 48}, NAN), std::nullopt, Colors::sequential};
    const Box box = find(contact_sheet({{panel}}), kSignal);
    EXPECT_EQ(box.right - box.left + 1, pixels);
    EXPECT_EQ(box.bottom - box.top + 1, 144);
    EXPECT_EQ(box.count, pixels * 144);
  }
}

TEST(ContactSheet, PutsTheOriginAtTheLowerLeft) {
  Panel panel = ramp(16, 16);
  panel.field[0][0] = NAN;
  const Canvas marked = contact_sheet({{panel}});
  panel.field[0][0] = 0;
  panel.field.fill_(NAN);
  const Box corner = find(marked, kSignal), all = find(contact_sheet({{panel}}), kSignal);
  EXPECT_EQ(corner.count, 81);
  EXPECT_EQ(corner.left, all.left);
  EXPECT_EQ(corner.bottom, all.bottom);
}

TEST(ContactSheet, DrawsGapsInGreyWithoutAlarm) {
  Panel panel = ramp(16, 16);
  panel.field[3][4] = NAN;
  EXPECT_GT(find(contact_sheet({{panel}}), kSignal).count, 0);
  const int height = contact_sheet({{panel}}).height();
  panel.gaps = true;
  EXPECT_EQ(find(contact_sheet({{panel}}), kSignal).count, 0);
  EXPECT_LT(contact_sheet({{panel}}).height(), height);  // no line that counts them
}

TEST(ContactSheet, TakesTheRangeOfFiniteValuesOrTheGivenOne) {
  Panel panel = ramp(144, 144);
  panel.field[70][70] = INFINITY;
  EXPECT_GT(find(contact_sheet({{panel}}), map_color(Colors::sequential, 1)).count, 0);
  panel.field = torch::full({144, 144}, 5.0);
  panel.range = {0, 5};
  EXPECT_GE(find(contact_sheet({{panel}}), map_color(Colors::sequential, 1)).count, 144 * 144);
  panel.range = {5, 10};
  EXPECT_GE(find(contact_sheet({{panel}}), map_color(Colors::sequential, 0)).count, 144 * 144);
}

TEST(ContactSheet, DivergingPanelsAreSymmetricAboutZero) {
  const Panel panel{"", torch::tensor({0.0, 4.0}).repeat({144, 72}), std::nullopt, Colors::diverging};
  const Canvas canvas = contact_sheet({{panel}});
  EXPECT_GE(find(canvas, map_color(Colors::diverging, 0.5)).count, 144 * 72);
  EXPECT_GE(find(canvas, map_color(Colors::diverging, 1)).count, 144 * 72);
}

TEST(ContactSheet, KeepsItsMarginsFreeWhateverIsShown) {
  const Panel constant{"constant", torch::ones({16, 16}), std::nullopt, Colors::diverging};
  const Panel broken{"a title that is much longer than its panel is wide", torch::full({20, 16}, NAN), std::nullopt,
                     Colors::sequential};
  const Canvas canvas =
      contact_sheet({{ramp(32, 32), constant}, {broken}, {}}, "A title of some length", {"one", "two", "three"});
  EXPECT_TRUE(margin_is_empty(canvas, 16));
  EXPECT_TRUE(margin_is_empty(contact_sheet({}, "nothing"), 16));
  EXPECT_TRUE(margin_is_empty(contact_sheet({{ramp(16, 16)}}, "A title much wider than the only panel below it"), 16));
}

TEST(ContactSheet, NamesThePanelThatIsWrong) {
  EXPECT_ERROR(contact_sheet({{{"u", torch::zeros({1, 4, 4}), {}, {}}}}), ExitCode::data,
               "panel 'u': expected a field (H,W), got (1,4,4)");
  EXPECT_ERROR(contact_sheet({{{"u", torch::zeros({4, 4}), std::pair(2.0, 1.0), {}}}}), ExitCode::usage,
               "range from 2 to 1");
  EXPECT_ERROR(contact_sheet({{ramp(4, 4)}}, "", {"a", "b"}), ExitCode::usage, "2 row labels for 1 rows");
}

TEST(LineChart, DrawsACurveFromCornerToCorner) {
  const Canvas canvas = line_chart({{"", {0, 1}, {0, 1}}, {"", {0, 1}, {1, 0}}}, "", "", "");
  const Box rising = find(canvas, curve_color(0)), falling = find(canvas, curve_color(1));
  EXPECT_GT(rising.right - rising.left, 600);
  EXPECT_GT(rising.bottom - rising.top, 300);
  EXPECT_NEAR(rising.left, falling.left, 2);
  EXPECT_NEAR(rising.top, falling.top, 2);
  EXPECT_EQ(canvas.at(rising.left + 1, rising.bottom - 2), curve_color(0));
  EXPECT_EQ(canvas.at(falling.left + 1, falling.top + 2), curve_color(1));
}

TEST(LineChart, MarksSinglePointsAndLeavesGaps) {
  EXPECT_GT(find(line_chart({{"", {3}, {4}}}, "", "", ""), curve_color(0)).count, 15);
  const Canvas whole = line_chart({{"", {0, 1, 2, 3}, {1, 1, 1, 1}}}, "", "", "");
  const Canvas gap = line_chart({{"", {0, 1, 2, 3}, {1, NAN, 1, 1}}}, "", "", "");
  EXPECT_LT(find(gap, curve_color(0)).count, 0.5 * find(whole, curve_color(0)).count);
}

TEST(LineChart, ShowsALonePointOfALongCurve) {
  Curve curve{"", std::vector<double>(100), std::vector<double>(100, NAN)};
  for (size_t i = 0; i < 100; ++i) curve.x[i] = static_cast<double>(i);
  curve.y[50] = 2;
  EXPECT_GT(find(line_chart({curve}, "", "", ""), curve_color(0)).count, 15);
}

TEST(LineChart, LogScaleTurnsAnExponentialIntoALine) {
  Curve curve{"", {}, {}};
  for (int i = 0; i <= 100; ++i) {
    curve.x.push_back(i);
    curve.y.push_back(std::pow(10.0, -i / 10.0));
  }
  const Canvas canvas = line_chart({curve}, "", "", "", true);
  const Box box = find(canvas, curve_color(0));
  Box middle;
  for (int y = 0; y < canvas.height(); ++y)
    if (canvas.at((box.left + box.right) / 2, y) == curve_color(0)) middle.top = std::min(middle.top, y);
  EXPECT_NEAR(middle.top, (box.top + box.bottom) / 2, 2);
}

TEST(LineChart, TwoLogScalesTurnAPowerLawIntoALine) {
  Curve curve{"", {}, {}};
  for (int i = 1; i <= 1000; ++i) {
    curve.x.push_back(i);
    curve.y.push_back(std::pow(i, -3.0));
  }
  const Canvas canvas = line_chart({curve}, "", "", "", true, true);
  const Box box = find(canvas, curve_color(0));
  Box middle;
  for (int y = 0; y < canvas.height(); ++y)
    if (canvas.at((box.left + box.right) / 2, y) == curve_color(0)) middle.top = std::min(middle.top, y);
  EXPECT_NEAR(middle.top, (box.top + box.bottom) / 2, 2);
  EXPECT_TRUE(margin_is_empty(line_chart({{"", {0, -1, 2}, {1, 1, 1}}}, "", "x", "y", true, true), 16));
}

TEST(ContactSheet, AxisLettersStandBesideTheMap) {
  Panel panel{"", torch::full({16, 16}, NAN), std::nullopt, Colors::sequential};
  const Canvas plain = contact_sheet({{panel}});
  panel.x_label = "x";
  panel.y_label = "t";
  const Canvas lettered = contact_sheet({{panel}});
  EXPECT_GT(lettered.width(), plain.width());
  EXPECT_EQ(lettered.height(), plain.height());
  EXPECT_EQ(find(lettered, kSignal).count, find(plain, kSignal).count);
  EXPECT_GT(find(lettered, kFaintInk).right, find(lettered, kSignal).right);
  EXPECT_LT(find(lettered, kFaintInk).left, find(lettered, kSignal).left);
  EXPECT_TRUE(margin_is_empty(lettered, 16));
}

TEST(LineChart, ErrorBarsReachAsFarAsTheError) {
  const Canvas plain = line_chart({{"", {0, 1, 2}, {0, 5, 10}}}, "", "", "");
  const Canvas barred = line_chart({{"", {0, 1, 2}, {0, 5, 10}, {0, 5, NAN}}}, "", "", "");
  const auto middle = [](const Canvas& canvas) {
    const Box all = find(canvas, curve_color(0));
    int rows = 0;
    for (int y = 0; y < canvas.height(); ++y) rows += canvas.at((all.left + all.right) / 2, y) == curve_color(0);
    return std::pair(rows, all.bottom - all.top);
  };
  EXPECT_LT(middle(plain).first, 12);
  EXPECT_NEAR(middle(barred).first, middle(barred).second, 12);  // half the range to either side
  const Canvas below = line_chart({{"", {0, 1}, {1, 2}, {5, 0}}}, "", "", "", true);
  EXPECT_GT(find(below, curve_color(0)).count, 100) << "a bar down to a negative value on a log axis";
  EXPECT_ERROR(line_chart({{"loss", {1, 2}, {1, 2}, {1}}}, "", "", ""), ExitCode::usage,
               "curve 'loss': 1 errors and 2 y values");
}

TEST(LineChart, SurvivesWhateverItIsGiven) {
  const std::vector<Curve> hard = {
      {"empty", {}, {}}, {"zero", {0, 1}, {0, -1}}, {"nan", {NAN, 1}, {1, INFINITY}}, {"flat", {2, 2}, {3, 3}}};
  for (const bool log : {false, true}) {
    EXPECT_TRUE(margin_is_empty(line_chart(hard, "hard", "x", "y", log), 16));
    EXPECT_TRUE(margin_is_empty(
        line_chart({}, "A title that is a good deal wider than the chart that stands below it, by a few words", "", "",
                   log),
        16));
    EXPECT_TRUE(margin_is_empty(line_chart({{"wide", {0, 1e9}, {-1e-9, 123456789}}}, "", "step", "loss", log), 16));
  }
  EXPECT_TRUE(margin_is_empty(line_chart(std::vector<Curve>(40, {"many curves", {0, 1}, {0, 1}}), "", "", ""), 16));
  EXPECT_ERROR(line_chart({{"loss", {1, 2}, {1}}}, "", "", ""), ExitCode::usage,
               "curve 'loss': 2 x values and 1 y values");
}

}  // namespace
}  // namespace piddm
