#include "piddm/plot/page.h"

#include <cmath>

#include "tests/plot/picture.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using testing::find_color;
using testing::read_png;
using testing::text_fault;

class Pages : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_draw()) GTEST_SKIP() << "built without Cairo";
  }
};

FieldPanel ramp(int64_t nx, int64_t ny, const std::string& title = "ramp") {
  FieldPanel panel{.title = title, .field = torch::arange(nx * ny, torch::kFloat64).reshape({nx, ny})};
  panel.x = {"x (m)", 0, 1}, panel.y = {"y (m)", 0, 1};
  return panel;
}

Figure one(Panel panel) { return {.rows = {{.panels = {std::move(panel)}}}}; }

Tensor pixels_of(const Figure& figure) { return read_png(render(figure, PictureFormat::png).bytes); }

std::vector<std::string> words(const Figure& figure) {
  std::vector<std::string> out;
  for (const auto& text : render(figure, PictureFormat::png, 48).texts) out.push_back(text.text);
  return out;
}

/// The middle of entry [i,j] of a panel's field, in pixels of a picture with two pixels per unit.
Rgb color_of_entry(const Figure& figure, int64_t i, int64_t j) {
  const auto page = lay_out(figure);
  const auto& at = page.places[0][0].at;
  const auto& field = std::get<FieldPanel>(figure.rows[0].panels[0]).field;
  const double x = at.x + at.width * (static_cast<double>(i) + 0.5) / static_cast<double>(field.size(0));
  const double y = at.bottom() - at.height * (static_cast<double>(j) + 0.5) / static_cast<double>(field.size(1));
  return testing::pixel(pixels_of(figure), static_cast<int64_t>(2 * y), static_cast<int64_t>(2 * x));
}

TEST_F(Pages, XRunsToTheRightAndYUpwards) {
  const auto panel = ramp(16, 16);
  for (const auto& [i, j] : std::vector<std::pair<int64_t, int64_t>>{{0, 0}, {15, 0}, {0, 15}, {15, 15}, {7, 3}})
    EXPECT_EQ(color_of_entry(one(panel), i, j), map_color(Colors::sequential, static_cast<double>(16 * i + j) / 255))
        << i << " " << j;
}

TEST_F(Pages, FieldsUseTheirWholeColourRangeOrTheGivenOne) {
  auto panel = ramp(16, 16);
  EXPECT_EQ(color_of_entry(one(panel), 0, 0), map_color(Colors::sequential, 0));
  EXPECT_EQ(color_of_entry(one(panel), 15, 15), map_color(Colors::sequential, 1));
  panel.range = {0, 510};
  EXPECT_EQ(color_of_entry(one(panel), 15, 15), map_color(Colors::sequential, 0.5));
  panel.range = std::nullopt;
  panel.colors = Colors::diverging;
  EXPECT_EQ(color_of_entry(one(panel), 0, 0), map_color(Colors::diverging, 0.5));
}

TEST_F(Pages, PanelsAreAtLeast220PixelsAndHaveTheAspectOfTheDomain) {
  for (const size_t count : {1U, 4U, 8U}) {
    Figure figure{.rows = {{.panels = std::vector<Panel>(count, ramp(32, 32))}}};
    const auto page = lay_out(figure);
    for (const auto& place : page.places[0]) {
      EXPECT_GE(2 * place.at.width, 220);
      EXPECT_NEAR(place.at.width, place.at.height, 1e-9);
    }
  }
  auto wide = ramp(16, 16);
  wide.aspect = 2;
  const auto at = lay_out(one(wide)).places[0][0].at;
  EXPECT_NEAR(at.width, 2 * at.height, 1e-9);
  const auto tall = lay_out(one(ramp(16, 32))).places[0][0].at;
  EXPECT_NEAR(2 * tall.width, tall.height, 1e-9);
  EXPECT_GE(2 * at.height, 220);
}

TEST_F(Pages, ResolutionScalesThePicture) {
  const auto at_96 = read_png(render(one(ramp(16, 16)), PictureFormat::png, 96).bytes);
  const auto at_192 = read_png(render(one(ramp(16, 16)), PictureFormat::png, 192).bytes);
  EXPECT_NEAR(static_cast<double>(at_192.size(1)), 2.0 * static_cast<double>(at_96.size(1)), 1);
  EXPECT_NEAR(static_cast<double>(at_192.size(0)), 2.0 * static_cast<double>(at_96.size(0)), 1);
}

TEST_F(Pages, AxesAreNamedWithTheirUnits) {
  EXPECT_THAT(words(one(ramp(16, 16))), ::testing::IsSupersetOf({"x (m)", "y (m)", "ramp", "0", "1.0"}));
}

TEST_F(Pages, ColumnsOfOneScaleShareABarAndNeighboursDo) {
  auto other = ramp(16, 16);
  other.field = other.field * 2;
  Figure figure{.rows = {{.panels = {ramp(16, 16), other}}, {.panels = {ramp(16, 16), ramp(16, 16)}}}};
  const auto page = lay_out(figure);
  EXPECT_EQ(page.places[0][0].bar, Bar::none);
  EXPECT_EQ(page.places[1][0].bar, Bar::below);
  EXPECT_EQ(page.places[0][1].bar, Bar::right);
  EXPECT_EQ(page.places[1][1].bar, Bar::right);
  const auto row = lay_out({.rows = {{.panels = {ramp(16, 16), ramp(16, 16), other}}}});
  EXPECT_EQ(row.places[0][0].bar, Bar::none);
  EXPECT_EQ(row.places[0][1].bar, Bar::right);
  EXPECT_FALSE(row.places[0][1].y_axis);
}

TEST_F(Pages, GapsAreGreyAndOtherNonFiniteValuesAreCounted) {
  auto panel = ramp(16, 16);
  panel.field[3][4] = NAN;
  EXPECT_GT(find_color(pixels_of(one(panel)), kSignal).count, 50);
  EXPECT_THAT(words(one(panel)), ::testing::Contains("1 not finite"));
  panel.gaps = true;
  EXPECT_EQ(find_color(pixels_of(one(panel)), kSignal).count, 0);
}

TEST_F(Pages, SensorsStandWhereTheirCoordinatesAre) {
  auto panel = ramp(16, 16);
  panel.field = torch::zeros({16, 16});
  panel.sensors = {{0.25, 0.75}};
  const auto at = lay_out(one(panel)).places[0][0].at;
  const auto frame = pixels_of(one(panel))
                         .narrow(0, static_cast<int64_t>(2 * at.y), static_cast<int64_t>(2 * at.height))
                         .narrow(1, static_cast<int64_t>(2 * at.x), static_cast<int64_t>(2 * at.width))
                         .contiguous();
  const auto box = find_color(frame, kInk);
  EXPECT_NEAR(static_cast<double>(box.left + box.right) / 4, 0.25 * at.width, 1.5);
  EXPECT_NEAR(static_cast<double>(box.top + box.bottom) / 4, 0.25 * at.height, 1.5);
}

LineChart curves(bool log) {
  return {.title = "a title that is too long for one line of a chart that shares its row with another one",
          .x_label = "step",
          .y_label = "loss",
          .curves = {{"one", {1, 2, 3, 1000}, {1, 1e-3, NAN, 1e3}, {0.1, 1e-4, 0, 1}},
                     {"two with a longer name", {1, 10}, {5, 6}, {}, {4, 5}, {6, 7}}},
          .log_x = log,
          .log_y = log};
}

/// A page of everything.
Figure crowded() {
  auto scalar = NumberStrip{.title = "k", .marks = {{"true", 1, 0}, {"found", 1.5, 0.25}}, .points = {0, 1, 2, 2}};
  ScatterChart scatter{
      .x_label = "time", .y_label = "error", .series = {{"a", {{"p", 1, 1}, {"q", 2, 2, 0.5, 1}}}}, .frontier = true};
  Figure figure{.title = "A page with every kind of panel and a title that does not fit one line of the page at all"};
  figure.rows.push_back({"fields", {ramp(32, 32), ramp(30, 30, "a long title of a panel"), scalar}});
  figure.rows.push_back({"charts", {curves(true), curves(false)}});
  figure.rows.push_back({"", {scatter}});
  return figure;
}

TEST_F(Pages, TextsStayInsideThePageAndDoNotOverlap) {
  EXPECT_EQ(text_fault(render(crowded(), PictureFormat::png, 48)), "");
  for (const double scale : {1e-9, 1e-3, 1.0, 1e5, 1e9}) {
    auto panel = ramp(32, 32);
    panel.field = (panel.field - 300) * scale;
    panel.unit = "m/s";
    const Figure figure{.rows = {{"one", {panel, panel}}, {"two", {panel, ramp(16, 16)}}}};
    EXPECT_EQ(text_fault(render(figure, PictureFormat::png, 48)), "") << scale;
  }
}

TEST_F(Pages, LongBarChartsAreCutToThePagesWidth) {
  BarChart bars{.title = "bars", .y_label = "error", .log_y = true};
  for (int g = 0; g < 20; ++g) bars.groups.push_back("a group with a name " + std::to_string(g));
  for (const char* name : {"first", "second", "third"})
    bars.series.push_back({name, std::vector<double>(20, 1e-3), std::vector<double>(20, 1e-4)});
  const auto page = lay_out(one(bars));
  EXPECT_LE(page.size.width, kPageWidth + 1);
  EXPECT_GT(page.rows.size(), 2U);
  EXPECT_EQ(text_fault(render(one(bars), PictureFormat::png, 48)), "");
  EXPECT_THAT(words(one(bars)), ::testing::IsSupersetOf({"a group with a name 0", "a group with a name 19"}));
}

TEST_F(Pages, ChartsCountWhatTheyCannotShow) {
  EXPECT_THAT(words(one(curves(true))), ::testing::Contains("1 of 6 points not shown: not positive or not finite"));
  EXPECT_THAT(words(one(LineChart{})), ::testing::Contains("no data"));
}

TEST_F(Pages, SeriesHaveColoursOfTheirOwn) {
  const auto pixels = pixels_of(one(curves(false)));
  for (int i = 0; i < 2; ++i) EXPECT_GT(find_color(pixels, curve_color(i)).count, 100) << i;
}

TEST(Figures, NameThePanelThatIsWrong) {
  EXPECT_ERROR(check_figure(one(FieldPanel{.title = "u", .field = torch::zeros({1, 4, 4})})), ExitCode::data,
               "panel 'u': expected a field (H,W), got (1,4,4)");
  EXPECT_ERROR(check_figure(one(FieldPanel{.title = "u", .field = torch::zeros({4, 4}), .range = ColorRange{1, 0}})),
               ExitCode::usage, "range from 1 to 0");
  EXPECT_ERROR(check_figure(one(LineChart{.curves = {{"c", {1, 2}, {1}}}})), ExitCode::usage,
               "curve 'c': 2 x values and 1 y values");
  EXPECT_ERROR(check_figure(one(BarChart{.groups = {"g"}, .series = {{"s", {1, 2}}}})), ExitCode::usage,
               "bars 's': 2 values for 1 groups");
}

}  // namespace
}  // namespace piddm
