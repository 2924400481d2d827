#pragma once
// Pictures in tests: pixels of a rendered PNG, and what is wrong with where its texts stand.

#include "piddm/data/dataset.h"
#include "piddm/plot/picture_file.h"

namespace piddm::testing {

/// Pixels of an 8-bit RGB PNG without interlace, [rows,columns,3] uint8: a reader of its own, by zlib.
Tensor read_png(const std::string& bytes);

/// How many pixels have exactly this colour, and the box around them.
struct ColorBox {
  int64_t count = 0, left = 1 << 30, right = -1, top = 1 << 30, bottom = -1;
};
ColorBox find_color(const Tensor& pixels, Rgb color);
Rgb pixel(const Tensor& pixels, int64_t row, int64_t column);

/// "" if every text is inside the page and no two overlap; else the first that is not or do.
std::string text_fault(const RenderedPicture& picture);

/// Samples of a PDE on 16 x 16 points.
Dataset data_of(const std::string& pde, int64_t n = 3);

const FieldPanel& field_at(const Figure& figure, size_t row, size_t column);

}  // namespace piddm::testing
