#pragma once
// A small proportional bitmap font for pictures: printable ASCII, capitals 9 pixels high, drawn for this project.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace piddm {

inline constexpr int kFontRows = 12;     ///< full height of a glyph
inline constexpr int kFontAscent = 9;    ///< rows above the baseline: the height of a capital
inline constexpr int kFontTracking = 2;  ///< empty columns between two glyphs

struct Glyph {
  int width = 0;                          ///< columns, without tracking
  std::array<uint8_t, kFontRows> rows{};  ///< from the top; bit 7 is the leftmost column

  bool ink(int column, int row) const { return (rows[static_cast<size_t>(row)] >> (7 - column)) & 1; }
};

/// One glyph a character. Whatever is not printable ASCII is a hollow box, one a character of the UTF-8 text.
std::vector<Glyph> glyphs_of(std::string_view text);

/// Columns that `text` takes at scale 1, tracking only between glyphs.
int font_width(std::string_view text);

}  // namespace piddm
