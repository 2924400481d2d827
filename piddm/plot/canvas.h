#pragma once
// An RGB raster to draw pictures on. The origin is the top left pixel, x to the right, y downwards; whatever falls
// outside is cut off. What is drawn is written down as SVG at the same time (svg.h), so that every picture can be saved
// either way.

#include <cmath>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "piddm/core/tensor.h"
#include "piddm/plot/colormap.h"
#include "piddm/plot/font.h"

namespace piddm {

/// Pixel coordinates; the centre of the top left pixel is (0.5, 0.5).
struct Point {
  double x = 0, y = 0;
  bool finite() const { return std::isfinite(x) && std::isfinite(y); }
};

struct Rect {
  int x = 0, y = 0, width = 0, height = 0;
  int right() const { return x + width; }
  int bottom() const { return y + height; }
};

enum class Anchor { start, middle, end };

struct TextStyle {
  Rgb color = kInk;
  int scale = 1;      ///< integer enlargement of the font, slants smoothed; capitals are 9*scale pixels high
  bool bold = false;  ///< strokes one font pixel wider
  Anchor anchor = Anchor::start;  ///< which part of the line the given position marks
  bool rotated = false;           ///< by 90 degrees: read from bottom to top
};

int text_width(std::string_view text, const TextStyle& style = {});  ///< pixels along the reading direction
int text_height(const TextStyle& style = {});                        ///< of capitals; descenders take a third more

/// How a field becomes colours: `low` and `high` are the ends of the map.
struct HeatMap {
  Tensor field;  ///< [H,W]
  double low = 0, high = 1;
  Colors colors = Colors::sequential;
  int scale_x = 1, scale_y = 1;  ///< pixels a grid point
  Rgb non_finite = kSignal;
};

class Canvas {
 public:
  Canvas(int width, int height, Rgb background = kWhite);

  int width() const { return width_; }
  int height() const { return height_; }
  Rgb at(int x, int y) const;

  void fill_rect(const Rect& rect, Rgb color);
  void outline_rect(const Rect& rect, Rgb color);  ///< one pixel wide, inside the rectangle

  /// Anti-aliased, round ends. A polyline is blended once, so joints are not darker; one point is a disc;
  /// a point that is not finite leaves a gap.
  void line(Point from, Point to, Rgb color, double thickness = 1);
  void polyline(const std::vector<Point>& points, Rgb color, double thickness = 1);

  /// (x, y) is where the line of text starts, its middle or its end (style.anchor) and the top of its capitals; for
  /// rotated text the anchor counts along y, upwards, and x is the top of the capitals, i.e. their left edge on the
  /// canvas.
  void text(int x, int y, std::string_view line, const TextStyle& style = {});

  /// H = x to the right, W = y upwards, lower left grid point at the lower left; (x, y) is the top left corner. A map
  /// with low = high shows its middle colour; non-finite values take `non_finite`.
  void heat_map(int x, int y, const HeatMap& heat);

  /// A copy of another canvas with its top left corner at (x, y).
  void paste(int x, int y, const Canvas& other);

  std::string encode_png() const;
  void write_png(const std::filesystem::path& path) const;

  /// The same picture as vector graphics: lines, areas and text stay sharp at any size, heat maps are embedded
  /// pictures.
  std::string encode_svg() const;
  void write_svg(const std::filesystem::path& path) const;

 private:
  void paint(const Rect& rect, Rgb color);  ///< fill_rect on the raster alone
  void draw_glyph(int x, int y, int along, const Glyph& glyph, const TextStyle& style);
  void blend(int x, int y, Rgb color, double coverage);
  Rect covered(const std::vector<Point>& points, double reach) const;
  size_t index(int x, int y) const {
    return static_cast<size_t>(y) * static_cast<size_t>(width_) + static_cast<size_t>(x);
  }

  int width_, height_;
  std::vector<Rgb> pixels_;
  std::string svg_;  ///< elements in the order of drawing
};

}  // namespace piddm
