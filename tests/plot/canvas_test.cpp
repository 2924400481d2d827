#include "piddm/plot/canvas.h"

#include <png.h>

#include <cmath>

#include "piddm/core/markup.h"
#include "tests/testing.h"

namespace piddm {
namespace {

constexpr Rgb kBlack{0, 0, 0};

struct DecodedPng {
  int width = 0, height = 0;
  std::vector<uint8_t> bytes;
  Rgb at(int x, int y) const {
    const uint8_t* p = bytes.data() + 3 * (y * width + x);
    return {p[0], p[1], p[2]};
  }
};

DecodedPng decode(const std::string& png) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_TRUE(png_image_begin_read_from_memory(&image, png.data(), png.size())) << image.message;
  image.format = PNG_FORMAT_RGB;
  DecodedPng out{static_cast<int>(image.width), static_cast<int>(image.height),
                 std::vector<uint8_t>(PNG_IMAGE_SIZE(image))};
  EXPECT_TRUE(png_image_finish_read(&image, nullptr, out.bytes.data(), 0, nullptr)) << image.message;
  return out;
}

int count(const Canvas& canvas, Rgb color) {
  int n = 0;
  for (int y = 0; y < canvas.height(); ++y)
    for (int x = 0; x < canvas.width(); ++x) n += canvas.at(x, y) == color;
  return n;
}

/// Sum over the canvas of how dark a black drawing on white is, in pixels.
double ink(const Canvas& canvas) {
  double sum = 0;
  for (int y = 0; y < canvas.height(); ++y)
    for (int x = 0; x < canvas.width(); ++x) sum += (255 - canvas.at(x, y).g) / 255.0;
  return sum;
}

TEST(Canvas, PngRoundTripKeepsEveryPixel) {
  Canvas canvas(7, 5, {1, 2, 3});
  for (int y = 0; y < 5; ++y)
    for (int x = 0; x < 7; ++x)
      canvas.fill_rect({x, y, 1, 1}, {static_cast<uint8_t>(30 * x), static_cast<uint8_t>(50 * y), 77});
  testing::TempDir dir;

  canvas.write_png(dir / "a.png");
  const DecodedPng decoded = decode(testing::read_text(dir / "a.png"));

  ASSERT_EQ(decoded.width, 7);
  ASSERT_EQ(decoded.height, 5);
  for (int y = 0; y < 5; ++y)
    for (int x = 0; x < 7; ++x)
      EXPECT_EQ(decoded.at(x, y), (Rgb{static_cast<uint8_t>(30 * x), static_cast<uint8_t>(50 * y), 77}));
  EXPECT_EQ(testing::read_text(dir / "a.png"), canvas.encode_png());
}

TEST(Canvas, RefusesImpossibleSizes) {
  EXPECT_ERROR(Canvas(0, 4), ExitCode::usage, "picture of 0x4 pixels");
  EXPECT_ERROR(Canvas(4, 1 << 20), ExitCode::usage, "4x1048576");
  EXPECT_ERROR(Canvas(4, 4).at(4, 0), ExitCode::usage, "pixel (4,0) is outside 4x4");
}

TEST(Canvas, CutsRectanglesAtItsEdges) {
  Canvas canvas(10, 8);
  canvas.fill_rect({-3, -2, 5, 4}, kBlack);
  canvas.fill_rect({8, 6, 100, 100}, kBlack);
  EXPECT_EQ(count(canvas, kBlack), 2 * 2 + 2 * 2);
  EXPECT_EQ(canvas.at(1, 1), kBlack);
  EXPECT_EQ(canvas.at(2, 1), kWhite);
}

TEST(Canvas, OutlineStaysInside) {
  Canvas canvas(10, 10);
  canvas.outline_rect({2, 3, 5, 4}, kBlack);
  EXPECT_EQ(count(canvas, kBlack), 2 * 5 + 2 * 2);
  EXPECT_EQ(canvas.at(2, 3), kBlack);
  EXPECT_EQ(canvas.at(6, 6), kBlack);
  EXPECT_EQ(canvas.at(3, 4), kWhite);
}

TEST(Canvas, LineThroughPixelCentresIsExact) {
  Canvas canvas(20, 9);
  canvas.line({4.5, 4.5}, {14.5, 4.5}, kBlack);
  for (int x = 4; x <= 14; ++x) EXPECT_EQ(canvas.at(x, 4), kBlack);
  EXPECT_EQ(canvas.at(9, 3), kWhite);
  EXPECT_EQ(canvas.at(2, 4), kWhite);
}

TEST(Canvas, SlantedLineCoversItsArea) {
  Canvas canvas(80, 60);
  canvas.line({10, 10}, {65, 45}, kBlack, 3);
  const double length = std::hypot(55, 35);
  EXPECT_NEAR(ink(canvas), 3 * length + M_PI * 2.25, 0.02 * 3 * length);
  EXPECT_GT(ink(canvas) - count(canvas, kBlack), 10) << "no soft edge";
}

TEST(Canvas, PolylineIsNotDarkerAtJointsAndSkipsGaps) {
  Canvas once(40, 40), twice(40, 40), gap(40, 40);
  once.polyline({{5, 5}, {35, 20}}, {128, 128, 128});
  twice.polyline({{5, 5}, {35, 20}, {5, 5}}, {128, 128, 128});
  EXPECT_EQ(once.encode_png(), twice.encode_png());

  gap.polyline({{5.5, 5.5}, {15.5, 5.5}, {NAN, 3}, {25.5, 5.5}, {35.5, 5.5}}, kBlack);
  EXPECT_EQ(gap.at(10, 5), kBlack);
  EXPECT_EQ(gap.at(20, 5), kWhite);
  EXPECT_EQ(gap.at(30, 5), kBlack);
}

TEST(Canvas, OnePointIsADisc) {
  Canvas canvas(20, 20);
  canvas.polyline({{10, 10}}, kBlack, 8);
  EXPECT_NEAR(ink(canvas), M_PI * 16, 1.5);
  canvas.polyline({}, kBlack);
  canvas.polyline({{NAN, 1}}, kBlack);
  canvas.line({-1e9, 500}, {1e9, 500}, kBlack);
  EXPECT_NEAR(ink(canvas), M_PI * 16, 1.5);
}

TEST(Canvas, TextScalesAndTurns) {
  Canvas small(40, 40), large(40, 40), turned(40, 40);
  small.text(3, 4, "L", {.color = kBlack});
  EXPECT_EQ(count(small, kBlack), 9 + 4);
  EXPECT_EQ(small.at(3, 4), kBlack);
  EXPECT_EQ(small.at(7, 12), kBlack);
  EXPECT_EQ(small.at(7, 11), kWhite);

  large.text(3, 4, "L", {.color = kBlack, .scale = 3});
  EXPECT_EQ(count(large, kBlack), 9 * (9 + 4));
  EXPECT_EQ(large.at(5, 30), kBlack);

  turned.text(3, 30, "L", {.color = kBlack, .rotated = true});
  EXPECT_EQ(count(turned, kBlack), 9 + 4);
  EXPECT_EQ(turned.at(3, 29), kBlack);   // top of the stem
  EXPECT_EQ(turned.at(11, 29), kBlack);  // foot of the stem
  EXPECT_EQ(turned.at(11, 25), kBlack);  // end of the foot, upwards
  EXPECT_EQ(turned.at(3, 25), kWhite);
}

TEST(Canvas, EnlargedSlantsAreSmooth) {
  Canvas canvas(30, 30);
  canvas.text(2, 2, "/", {.color = kBlack, .scale = 3});
  EXPECT_EQ(count(canvas, kBlack), 9 * 9 + 4 * 2);  // four steps, both sides of each filled: one pixel full, two soft
  EXPECT_EQ(count(canvas, kWhite), 900 - 9 * 9 - 4 * 2 * 3);
}

TEST(Canvas, TextAnchorsAndWidthAgree) {
  const std::string word = "Hello 123";
  for (const bool bold : {false, true}) {
    for (const int scale : {1, 2}) {
      Canvas start(300, 40), end(300, 40), middle(300, 40);
      const TextStyle style{.color = kBlack, .scale = scale, .bold = bold};
      TextStyle to_end = style, to_middle = style;
      to_end.anchor = Anchor::end;
      to_middle.anchor = Anchor::middle;
      start.text(20, 5, word, style);
      end.text(20 + text_width(word, style), 5, word, to_end);
      middle.text(20 + text_width(word, style) / 2, 5, word, to_middle);
      EXPECT_EQ(start.encode_png(), end.encode_png());
      EXPECT_EQ(start.encode_png(), middle.encode_png());
      int last = 0;
      for (int x = 0; x < 300; ++x)
        for (int y = 0; y < 40; ++y)
          if (start.at(x, y) == kBlack) last = x;
      EXPECT_EQ(last + 1, 20 + text_width(word, style));
    }
  }
}

TEST(Canvas, HeatMapShowsXToTheRightAndYUpwards) {
  const Tensor field = torch::tensor({0.0, 1.0, 2.0, 3.0, 4.0, std::nan("")}).reshape({3, 2});  // field[x][y]
  Canvas canvas(10, 8);
  canvas.heat_map(1, 2, {.field = field, .low = 0, .high = 4, .scale_x = 2, .scale_y = 3});
  const auto color = [](double value) { return map_color(Colors::sequential, value / 4); };
  EXPECT_EQ(canvas.at(1, 7), color(0));
  EXPECT_EQ(canvas.at(2, 5), color(0));
  EXPECT_EQ(canvas.at(1, 2), color(1));
  EXPECT_EQ(canvas.at(3, 7), color(2));
  EXPECT_EQ(canvas.at(4, 4), color(3));
  EXPECT_EQ(canvas.at(6, 5), color(4));
  EXPECT_EQ(canvas.at(6, 4), kSignal);
  EXPECT_EQ(canvas.at(7, 4), kWhite);
  EXPECT_EQ(canvas.at(0, 4), kWhite);
}

TEST(Canvas, HeatMapOfAConstantIsTheMiddleColour) {
  Canvas canvas(4, 4);
  canvas.heat_map(0, 0, {.field = torch::full({4, 4}, 2.5), .low = 2.5, .high = 2.5, .colors = Colors::diverging});
  EXPECT_EQ(count(canvas, map_color(Colors::diverging, 0.5)), 16);
  EXPECT_ERROR(canvas.heat_map(0, 0, {.field = torch::zeros({1, 2, 2})}), ExitCode::data,
               "expected a field (H,W), got (1,2,2)");
}

int occurrences(const std::string& text, const std::string& part) {
  int n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(Canvas, WritesDownWhatIsDrawnAsSvg) {
  Canvas canvas(40, 30, {1, 2, 3});
  canvas.fill_rect({4, 5, 6, 7}, {255, 0, 16});
  canvas.polyline({{1, 2}, {3.5, 4.25}, {NAN, 0}, {5, 6}, {7, 8}}, kBlack, 2);
  canvas.polyline({{9.5, 8.5}}, kBlack, 6);
  canvas.text(10, 20, "a<b", {.bold = true, .anchor = Anchor::end});
  testing::TempDir dir;
  canvas.write_svg(dir / "a.svg");
  const std::string svg = testing::read_text(dir / "a.svg");
  EXPECT_EQ(svg, canvas.encode_svg());
  EXPECT_THAT(svg, ::testing::StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  for (const char* part : {"viewBox=\"0 0 40 30\"", "<rect x=\"0\" y=\"0\" width=\"40\" height=\"30\" fill=\"#010203\"",
                           "<rect x=\"4\" y=\"5\" width=\"6\" height=\"7\" fill=\"#ff0010\"",
                           "d=\"M1 2L3.5 4.25M5 6L7 8\"", "<circle cx=\"9.5\" cy=\"8.5\" r=\"3\"", "x=\"10\" y=\"29\"",
                           "font-weight=\"bold\"", "text-anchor=\"end\"", ">a&lt;b</text>"})
    EXPECT_THAT(svg, ::testing::HasSubstr(part));
  EXPECT_THAT(svg, ::testing::EndsWith("</svg>\n"));
}

TEST(Canvas, SvgLeavesOutWhatHasNoInk) {
  const std::string blank = Canvas(9, 9).encode_svg();
  Canvas canvas(9, 9);
  canvas.polyline({}, kBlack);
  canvas.polyline({{NAN, 1}}, kBlack);
  canvas.polyline({{1, 1}, {2, NAN}, {3, 3}}, kBlack);
  canvas.text(1, 1, "");
  canvas.fill_rect({2, 2, 0, 4}, kBlack);
  EXPECT_EQ(canvas.encode_svg(), blank);
}

TEST(Canvas, SvgKeepsTheWidthOfText) {
  Canvas canvas(200, 200);
  const TextStyle style{.scale = 2, .rotated = true};
  canvas.text(3, 100, "wide", style);
  EXPECT_THAT(canvas.encode_svg(), ::testing::HasSubstr(fmt::format("textLength=\"{}\"", text_width("wide", style))));
  EXPECT_THAT(canvas.encode_svg(), ::testing::HasSubstr("translate(21 100) rotate(-90)"));
}

TEST(Canvas, SvgEmbedsHeatMapsAsOnePicture) {
  Canvas canvas(40, 40), cells(3, 2);
  const Tensor field = torch::arange(6, torch::kFloat64).reshape({3, 2});
  canvas.heat_map(5, 6, {.field = field, .low = 0, .high = 5, .scale_x = 4, .scale_y = 7});
  cells.heat_map(0, 0, {.field = field, .low = 0, .high = 5});
  const std::string svg = canvas.encode_svg();
  EXPECT_EQ(occurrences(svg, "<image "), 1);
  EXPECT_EQ(occurrences(svg, "<rect "), 1);
  EXPECT_THAT(svg, ::testing::HasSubstr("<image x=\"5\" y=\"6\" width=\"12\" height=\"14\""));
  EXPECT_THAT(svg, ::testing::HasSubstr("data:image/png;base64," + base64(cells.encode_png()) + "\""));
}

TEST(Canvas, SvgOfAPastedPictureIsMovedAndCut) {
  Canvas inner(10, 8, {9, 9, 9}), outer(40, 30);
  inner.line({1, 1}, {5, 5}, kBlack);
  outer.paste(12, 13, inner);
  const std::string svg = outer.encode_svg();
  const size_t place = svg.find("<svg x=\"12\" y=\"13\" width=\"10\" height=\"8\">");
  ASSERT_NE(place, std::string::npos);
  EXPECT_GT(svg.find("M1 1L5 5"), place);
  EXPECT_EQ(occurrences(svg, "<svg "), occurrences(svg, "</svg>"));
}

}  // namespace
}  // namespace piddm
