#include "piddm/plot/picture_file.h"

#include "piddm/plot/figure_file.h"
#include "tests/plot/picture.h"
#include "tests/testing.h"

namespace piddm {
namespace {

Figure small() { return {.title = "t", .rows = {{.panels = {FieldPanel{.title = "u", .field = torch::eye(16)}}}}}; }

TEST(PictureFile, WritesThePictureOrKeepsTheFigure) {
  const testing::TempDir dir;
  for (const char* name : {"a.png", "a.svg", "a.pdf"}) {
    const auto written = write_picture(small(), dir / name);
    EXPECT_EQ(written, can_draw() ? dir / name : dir / (std::string(name) + ".figure"));
    EXPECT_TRUE(std::filesystem::exists(written));
  }
  EXPECT_ERROR(write_picture(small(), dir / "a.gif"), ExitCode::usage, "a.gif: a picture must be .png, .svg or .pdf");
}

/// The process's style for the length of a test.
struct Styled {
  explicit Styled(const PictureStyle& style) { set_picture_style(style); }
  ~Styled() { set_picture_style({}); }
  Styled(const Styled&) = delete;
  Styled& operator=(const Styled&) = delete;
};

TEST(PictureFile, ByTheWayFollowsTheStyleOfTheProcess) {
  const testing::TempDir dir;
  const auto written = [&](const char* name) {
    return std::filesystem::exists(dir / (std::string(name) + (can_draw() ? "" : ".figure")));
  };
  write_sheet(small(), dir.path(), "plain");
  write_chart(small(), dir.path(), "chart");
  EXPECT_TRUE(written("plain.png") && written("chart.png") && written("chart.svg"));
  EXPECT_FALSE(written("plain.svg"));
  const Styled styled({.extension = ".pdf", .dpi = 96});
  EXPECT_EQ(picture_name("a"), "a.pdf");
  write_sheet(small(), dir.path(), "styled");
  write_chart(small(), dir.path(), "styled-chart");
  EXPECT_TRUE(written("styled.pdf") && written("styled-chart.pdf"));
  EXPECT_FALSE(written("styled.png") || written("styled-chart.png") || written("styled-chart.svg"));
}

TEST(PictureFile, ByTheWayHasTheResolutionOfTheProcess) {
  if (!can_draw()) GTEST_SKIP() << "built without Cairo";
  const testing::TempDir dir;
  const Styled styled({.dpi = 96});
  write_sheet(small(), dir.path(), "a");
  EXPECT_EQ(testing::read_text(dir / "a.png"), render(small(), PictureFormat::png, 96).bytes);
}

TEST(PictureFile, DrawsKeptFiguresWithTheSameBytes) {
  const testing::TempDir dir;
  save_figure(small(), dir / "b.png.figure");
  save_figure(small(), dir / "a.svg.figure");
  EXPECT_EQ(kept_figures(dir.path()), (std::vector{dir / "a.svg.figure", dir / "b.png.figure"}));
  EXPECT_ERROR(draw_kept_figure(dir / "a.png"), ExitCode::usage, "not a kept figure");
  if (!can_draw()) GTEST_SKIP() << "built without Cairo";
  EXPECT_EQ(draw_kept_figure(dir / "b.png.figure"), dir / "b.png");
  EXPECT_EQ(testing::read_text(dir / "b.png"), render(small(), PictureFormat::png).bytes);
  EXPECT_EQ(draw_kept_figure(dir / "b.png.figure", 96, ".pdf"), dir / "b.pdf");
  EXPECT_THAT(testing::read_text(dir / "b.pdf"), ::testing::StartsWith("%PDF-1."));
}

TEST(PictureFile, IsInFullColour) {
  if (!can_draw()) GTEST_SKIP() << "built without Cairo";
  const Figure figure{.rows = {{.panels = {FieldPanel{.field = torch::arange(1024).reshape({32, 32})}}}}};
  const auto pixels = testing::read_png(render(figure, PictureFormat::png).bytes).reshape({-1, 3}).to(torch::kInt64);
  const auto codes = pixels.select(1, 0) * 65536 + pixels.select(1, 1) * 256 + pixels.select(1, 2);
  EXPECT_GT(std::get<0>(at::_unique(codes)).numel(), 400);
}

}  // namespace
}  // namespace piddm
