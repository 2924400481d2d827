#include "tests/plot/picture.h"

#include <zlib.h>

#include <cstdlib>

#include "piddm/core/progress.h"
#include "tests/testing.h"

namespace piddm::testing {

namespace {

uint32_t number_at(const std::string& bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = (value << 8) | static_cast<uint8_t>(bytes[at + i]);
  return value;
}

std::string inflated(const std::string& packed, size_t size) {
  std::string out(size, '\0');
  auto length = static_cast<uLongf>(size);
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(out.data()), &length, reinterpret_cast<const Bytef*>(packed.data()),
                       static_cast<uLong>(packed.size())),
            Z_OK);
  return out;
}

int paeth(int a, int b, int c) {
  const int p = a + b - c, pa = std::abs(p - a), pb = std::abs(p - b), pc = std::abs(p - c);
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

}  // namespace

Tensor read_png(const std::string& bytes) {
  const auto width = static_cast<int64_t>(number_at(bytes, 16)), height = static_cast<int64_t>(number_at(bytes, 20));
  EXPECT_EQ(bytes.substr(24, 5), std::string("\x08\x02\0\0\0", 5)) << "8 bits, RGB, no interlace";
  std::string packed;
  for (size_t at = 8; at + 12 <= bytes.size(); at += number_at(bytes, at) + 12)
    if (bytes.substr(at + 4, 4) == "IDAT") packed += bytes.substr(at + 8, number_at(bytes, at));
  const int64_t stride = 3 * width;
  const auto raw = inflated(packed, static_cast<size_t>(height * (stride + 1)));
  auto pixels = torch::zeros({height, width, 3}, torch::kUInt8);
  auto* out = pixels.data_ptr<uint8_t>();
  for (int64_t row = 0; row < height; ++row) {
    const auto* line = reinterpret_cast<const uint8_t*>(raw.data()) + row * (stride + 1);
    for (int64_t i = 0; i < stride; ++i) {
      const int left = i >= 3 ? out[row * stride + i - 3] : 0, up = row > 0 ? out[(row - 1) * stride + i] : 0;
      const int corner = i >= 3 && row > 0 ? out[(row - 1) * stride + i - 3] : 0;
      const int predicted[] = {0, left, up, (left + up) / 2, paeth(left, up, corner)};
      out[row * stride + i] = static_cast<uint8_t>(line[i + 1] + predicted[line[0]]);
    }
  }
  return pixels;
}

Rgb pixel(const Tensor& pixels, int64_t row, int64_t column) {
  const auto* p = pixels.data_ptr<uint8_t>() + 3 * (row * pixels.size(1) + column);
  return {p[0], p[1], p[2]};
}

ColorBox find_color(const Tensor& pixels, Rgb color) {
  ColorBox box;
  for (int64_t row = 0; row < pixels.size(0); ++row)
    for (int64_t column = 0; column < pixels.size(1); ++column) {
      if (pixel(pixels, row, column) != color) continue;
      ++box.count;
      box.left = std::min(box.left, column), box.right = std::max(box.right, column);
      box.top = std::min(box.top, row), box.bottom = std::max(box.bottom, row);
    }
  return box;
}

std::string text_fault(const RenderedPicture& picture) {
  const Rect page{0, 0, picture.size.width, picture.size.height};
  for (size_t i = 0; i < picture.texts.size(); ++i) {
    const auto& [text, box] = picture.texts[i];
    if (!page.contains(box)) return "'" + text + "' leaves the page";
    for (size_t j = 0; j < i; ++j)
      if (picture.texts[j].box.overlaps(box)) return "'" + text + "' overlaps '" + picture.texts[j].text + "'";
  }
  return "";
}

Dataset data_of(const std::string& pde, int64_t n) {
  set_progress_mode(ProgressMode::silent);
  return make_dataset(*make_pde({.name = pde, .grid = 16}), 0, 0, n);
}

const FieldPanel& field_at(const Figure& figure, size_t row, size_t column) {
  return std::get<FieldPanel>(figure.rows.at(row).panels.at(column));
}

}  // namespace piddm::testing
