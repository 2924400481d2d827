#include "piddm/plot/scatter_chart.h"

#include <cmath>
#include <regex>

#include "tests/testing.h"

namespace piddm {
namespace {

/// Centres of the discs in the order of drawing, read from the SVG.
std::vector<Point> discs(const Canvas& canvas) {
  const std::string svg = canvas.encode_svg();
  const std::regex disc("<circle cx=\"([^\"]+)\" cy=\"([^\"]+)\"");
  std::vector<Point> points;
  for (auto it = std::sregex_iterator(svg.begin(), svg.end(), disc); it != std::sregex_iterator(); ++it)
    points.push_back({std::stod((*it)[1]), std::stod((*it)[2])});
  return points;
}

/// Top left corners of all texts that read `label`.
std::vector<Point> labels(const Canvas& canvas, const std::string& label) {
  const std::string svg = canvas.encode_svg();
  const std::regex text("<text x=\"([^\"]+)\" y=\"([^\"]+)\"[^>]*>" + label + "</text>");
  std::vector<Point> places;
  for (auto it = std::sregex_iterator(svg.begin(), svg.end(), text); it != std::sregex_iterator(); ++it)
    places.push_back({std::stod((*it)[1]), std::stod((*it)[2]) - text_height()});
  return places;
}

TEST(ScatterChart, PutsPointsWhereTheyBelong) {
  const auto points = discs(scatter_chart({{"a", {{"", 1e-3, 1}, {"", 1e-1, 1e-2}}}, {"b", {{"", 10, 1e-4}}}}, "", "",
                                          "", {.log_x = true, .log_y = true}));
  ASSERT_EQ(points.size(), 3U);
  EXPECT_NEAR(points[1].x, (points[0].x + points[2].x) / 2, 1);
  EXPECT_NEAR(points[1].y, (points[0].y + points[2].y) / 2, 1);
  EXPECT_LT(points[0].y, points[2].y);
}

TEST(ScatterChart, LabelsStandBesideTheirPointsAndApartFromEachOther) {
  std::vector<ScatterPoint> crowd;
  for (int i = 0; i < 4; ++i) crowd.push_back({"name", 1 + 0.004 * i, 1 + 0.004 * i});
  crowd.push_back({"far", 2, 2});
  const Canvas canvas = scatter_chart({{"", crowd}}, "", "", "");
  const auto places = labels(canvas, "name");
  ASSERT_EQ(places.size(), 4U);
  for (size_t i = 0; i < places.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      EXPECT_TRUE(std::abs(places[i].x - places[j].x) >= text_width("name") ||
                  std::abs(places[i].y - places[j].y) >= text_height())
          << i << " " << j;
  const auto far = labels(canvas, "far");
  ASSERT_EQ(far.size(), 1U);
  EXPECT_GT(far[0].x, discs(canvas).back().x);
}

TEST(ScatterChart, LabelsStayInsideTheFrame) {
  const std::string label = "a label that is quite long";
  const Canvas canvas = scatter_chart({{"", {{"", 0, 0}, {label, 1, 1}}}}, "", "", "");
  ASSERT_EQ(labels(canvas, label).size(), 1U);
  EXPECT_LT(labels(canvas, label)[0].x + text_width(label), canvas.width() - 20);
}

TEST(ScatterChart, TheFrontierJoinsThePointsNoOtherBeats) {
  const std::vector<ScatterSeries> series = {{"", {{"", 1, 10}, {"", 2, 11}, {"", 3, 5}, {"", 4, 5}, {"", 5, 1}}}};
  const std::string plain = scatter_chart(series, "", "", "").encode_svg();
  const Canvas canvas = scatter_chart(series, "", "", "", {.frontier = true});
  EXPECT_THAT(plain, ::testing::Not(::testing::HasSubstr("<path")));
  const auto points = discs(canvas);
  ASSERT_EQ(points.size(), 5U);
  EXPECT_THAT(canvas.encode_svg(),
              ::testing::HasSubstr(fmt::format("d=\"M{} {}L{} {}L{} {}\"", points[0].x, points[0].y, points[2].x,
                                               points[2].y, points[4].x, points[4].y)));
}

TEST(ScatterChart, DrawsErrorBarsAlongBothAxes) {
  const auto lines = [](double x_error, double y_error) {
    const std::string svg = scatter_chart({{"", {{"", 1, 1, x_error, y_error}, {"", 3, 3}}}}, "", "", "").encode_svg();
    int n = 0;
    for (size_t at = svg.find("<path"); at != std::string::npos; at = svg.find("<path", at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(lines(0, 0), 0);
  EXPECT_EQ(lines(0.5, 0), 3);
  EXPECT_EQ(lines(0.5, 0.5), 6);
  EXPECT_EQ(lines(NAN, 0.5), 3);
}

TEST(ScatterChart, CountsWhatItCannotShow) {
  const Canvas canvas = scatter_chart({{"a", {{"x", 0, 1}, {"y", 1, 1}, {"z", 1, NAN}}}}, "", "", "", {.log_x = true});
  EXPECT_EQ(discs(canvas).size(), 1U);
  EXPECT_THAT(canvas.encode_svg(), ::testing::HasSubstr("2 of 3 points not shown: not positive or not finite"));
  EXPECT_THAT(scatter_chart({}, "", "", "").encode_svg(), ::testing::HasSubstr("no data"));
}

}  // namespace
}  // namespace piddm
