#include "piddm/plot/font.h"

#include <set>

#include "tests/testing.h"

namespace piddm {
namespace {

std::string printable() {
  std::string text;
  for (char c = ' '; c <= '~'; ++c) text += c;
  return text;
}

TEST(Font, DrawsEveryPrintableCharacterDifferently) {
  std::set<std::array<uint8_t, kFontRows>> shapes;
  for (const Glyph& glyph : glyphs_of(printable())) {
    shapes.insert(glyph.rows);
    EXPECT_GE(glyph.width, 1);
    EXPECT_LE(glyph.width, 7);
  }
  EXPECT_EQ(shapes.size(), 95U);
}

TEST(Font, KeepsDigitsEquallyWideAndOnTheBaseline) {
  for (const Glyph& digit : glyphs_of("0123456789")) {
    EXPECT_EQ(digit.width, 5);
    EXPECT_NE(digit.rows[0], 0);
    EXPECT_NE(digit.rows[kFontAscent - 1], 0);
    EXPECT_EQ(digit.rows[kFontAscent], 0);
  }
}

TEST(Font, HasTheRightShape) {
  const Glyph l = glyphs_of("L").front();
  for (int row = 0; row < kFontAscent; ++row)
    for (int column = 0; column < l.width; ++column)
      EXPECT_EQ(l.ink(column, row), column == 0 || row == kFontAscent - 1);
}

TEST(Font, ShowsUnknownCharactersAsOneBoxEach) {
  const auto glyphs = glyphs_of("\xCE\xBB\n");
  ASSERT_EQ(glyphs.size(), 2U);
  EXPECT_EQ(glyphs[0].rows, glyphs[1].rows);
  EXPECT_EQ(glyphs[0].rows[0], 0b11111000);
}

TEST(Font, WidthCountsTrackingBetweenGlyphsOnly) {
  EXPECT_EQ(font_width(""), 0);
  EXPECT_EQ(font_width("0"), 5);
  EXPECT_EQ(font_width("00"), 10 + kFontTracking);
}

}  // namespace
}  // namespace piddm
