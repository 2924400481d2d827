#include "piddm/plot/painter.h"

#include "tests/testing.h"

namespace piddm {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Painting : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_draw()) GTEST_SKIP() << "built without Cairo";
  }
};

std::string draw_something(PictureFormat format) {
  Painter painter(60, 40, format, 96);
  painter.line({5, 5}, {55, 5}, {kInk, 2, {4, 2}});
  for (int shape = 0; shape < 8; ++shape) painter.marker({5.0 + 6 * shape, 15}, curve_color(shape), {shape, 5});
  for (int pattern = 0; pattern < 4; ++pattern) painter.hatch({5.0 + 12 * pattern, 20, 10, 8}, kInk, pattern);
  painter.image({5, 30, 8, 8}, torch::randint(0, 255, {4, 4, 3}, torch::kUInt8));
  painter.text({20, 34}, "a < b", {});
  return painter.finish();
}

TEST_F(Painting, TheSameDrawingGivesTheSameBytesInEveryFormat) {
  for (const auto format : {PictureFormat::png, PictureFormat::svg, PictureFormat::pdf}) {
    torch::manual_seed(1);
    const auto first = draw_something(format);
    torch::manual_seed(1);
    EXPECT_EQ(draw_something(format), first);
  }
}

TEST_F(Painting, WritesWhatTheFormatsBeginWith) {
  EXPECT_THAT(draw_something(PictureFormat::png), StartsWith("\x89PNG\r\n\x1a\n"));
  EXPECT_THAT(draw_something(PictureFormat::pdf), StartsWith("%PDF-1."));
  EXPECT_THAT(draw_something(PictureFormat::svg), HasSubstr("<svg"));
}

TEST_F(Painting, SvgCarriesItsTextForSearchesAndReaders) {
  EXPECT_THAT(draw_something(PictureFormat::svg), HasSubstr("<desc>a &lt; b\n</desc>"));
}

TEST_F(Painting, TextGrowsWithSizeLengthAndWeight) {
  EXPECT_NEAR(text_width("width", {.size = 20}), 2 * text_width("width", {.size = 10}), 0.05);
  EXPECT_NEAR(text_width("ab") + text_width("cd"), text_width("abcd"), 0.5);
  EXPECT_GT(text_width("width", {.bold = true}), text_width("width"));
}

TEST_F(Painting, NotesWhereTextStands) {
  Painter painter(200, 100, PictureFormat::png, 96);
  const double width = text_width("middle");
  painter.text({100, 50}, "middle", {.anchor = Anchor::middle});
  painter.text({20, 50}, "middle", {.anchor = Anchor::middle, .rotated = true});
  const auto& texts = painter.texts();
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_NEAR(texts[0].box.x, 100 - width / 2, 1e-9);
  EXPECT_NEAR(texts[0].box.width, width, 1e-9);
  EXPECT_NEAR(texts[0].box.centre(), 50, 1e-9);
  EXPECT_NEAR(texts[1].box.height, width, 1e-9);
  EXPECT_NEAR(texts[1].box.centre(), 50, 1e-9);
  EXPECT_NEAR(texts[1].box.middle(), 20, 1e-9);
}

TEST_F(Painting, WrapsAtSpacesAndCutsWhatIsTooLong) {
  const double width = text_width("one two");
  EXPECT_THAT(wrapped("one two three", width + 1), ::testing::ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("", width), ::testing::IsEmpty());
  const auto cut = wrapped("anextremelylongwordindeed", width);
  ASSERT_EQ(cut.size(), 1U);
  EXPECT_LE(text_width(cut[0]), width + 0.1);
  EXPECT_THAT(cut[0], ::testing::EndsWith("\u2026"));
}

TEST_F(Painting, RefusesPicturesNobodyCanOpen) {
  EXPECT_ERROR(Painter(1e6, 10, PictureFormat::png, 192), ExitCode::usage, "lower --dpi");
}

TEST(Rects, OverlapAndContain) {
  const Rect a{0, 0, 10, 10};
  EXPECT_TRUE(a.overlaps({9, 9, 5, 5}));
  EXPECT_FALSE(a.overlaps({10, 0, 5, 5}));
  EXPECT_TRUE(a.contains({2, 2, 8, 8}));
  EXPECT_FALSE(a.contains({2, 2, 9, 8}));
}

}  // namespace
}  // namespace piddm
