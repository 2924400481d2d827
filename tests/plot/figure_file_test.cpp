#include "piddm/plot/figure_file.h"

#include <cmath>

#include "tests/plot/picture.h"
#include "tests/testing.h"

namespace piddm {
namespace {

Figure everything() {
  FieldPanel field{.title = "u", .field = torch::randn({5, 7}, torch::kFloat64), .range = ColorRange{-1, 2.5}};
  field.field[1][2] = NAN;
  field.gaps = true;
  field.colors = Colors::diverging;
  field.x = {"x (m)", 0, 1, {{0.5, "half"}}};
  field.sensors = {{0.1, 0.2}};
  FieldPanel plain{.field = torch::ones({2, 2})};
  const NumberStrip strip{.title = "k", .marks = {{"true", 1, 0.5}}, .points = {1, 2}};
  const LineChart lines{.title = "l", .curves = {{"c", {1, 2}, {3, INFINITY}, {}, {1, 2}, {4, 5}}}, .log_y = true};
  const BarChart bars{.title = "b", .groups = {"g"}, .series = {{"s", {1}, {0.5}}}};
  const ScatterChart scatter{.title = "s", .series = {{"m", {{"p", 1, 2, 0.1, 0.2}}}}, .frontier = true};
  return {.title = "all", .rows = {{"row", {field, strip, plain}}, {"", {lines, bars, scatter}}}};
}

TEST(FigureFile, KeepsEveryKindOfPanelToTheBit) {
  const testing::TempDir dir;
  const auto figure = everything();
  save_figure(figure, dir / "a.figure");
  const auto read = load_figure(dir / "a.figure");
  EXPECT_EQ(read.title, "all");
  ASSERT_EQ(read.rows.size(), 2U);
  EXPECT_EQ(read.rows[0].label, "row");
  const auto& field = std::get<FieldPanel>(read.rows[0].panels[0]);
  EXPECT_TRUE(
      torch::equal(field.field.nan_to_num(9), std::get<FieldPanel>(figure.rows[0].panels[0]).field.nan_to_num(9)));
  EXPECT_EQ(field.range, (ColorRange{-1, 2.5}));
  EXPECT_EQ(std::get<FieldPanel>(read.rows[0].panels[2]).range, std::nullopt);
  EXPECT_EQ(field.colors, Colors::diverging);
  EXPECT_EQ(field.x.ticks.at(0).label, "half");
  EXPECT_TRUE(std::isinf(std::get<LineChart>(read.rows[1].panels[0]).curves[0].y[1]));
  if (can_draw()) {
    EXPECT_EQ(render(read, PictureFormat::png).bytes, render(figure, PictureFormat::png).bytes);
  }
}

TEST(FigureFile, SaysWhatIsNoFigure) {
  const testing::TempDir dir;
  testing::write_text(dir / "text.figure", "not CBOR at all");
  EXPECT_ERROR(load_figure(dir / "text.figure"), ExitCode::data, "text.figure: not a figure of this program");
  EXPECT_ERROR(load_figure(dir / "gone.figure"), ExitCode::data, "gone.figure");
  save_figure(everything(), dir / "cut.figure");
  const auto whole = testing::read_text(dir / "cut.figure");
  for (const size_t length : {whole.size() / 3, whole.size() - 1}) {
    testing::write_text(dir / "cut.figure", whole.substr(0, length));
    EXPECT_ERROR(load_figure(dir / "cut.figure"), ExitCode::data, "cut.figure: not a figure of this program");
  }
}

}  // namespace
}  // namespace piddm
