#pragma once
// Drawing by Cairo, the same for PNG, SVG and PDF. Lengths are in units of 1/96 inch, whatever the resolution; the
// origin is the top left corner, x to the right, y downwards.
//
// The only file that needs Cairo is painter.cpp. Without it (CMake option PIDDM_CAIRO) everything compiles all the
// same, can_draw() is false and a Painter is a ResourceError.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "piddm/core/tensor.h"
#include "piddm/plot/colormap.h"

namespace piddm {

bool can_draw();  ///< built with Cairo

enum class PictureFormat { png, svg, pdf };

struct Point {
  double x = 0, y = 0;
  bool finite() const;
};

struct Rect {
  double x = 0, y = 0, width = 0, height = 0;
  double right() const { return x + width; }
  double bottom() const { return y + height; }
  double middle() const { return x + width / 2; }
  double centre() const { return y + height / 2; }
  bool contains(const Rect& other) const;
  bool overlaps(const Rect& other) const;
};

enum class Anchor { start, middle, end };

struct TextStyle {
  Rgb color = kInk;
  double size = 10;  ///< of the font, in units
  bool bold = false;
  Anchor anchor = Anchor::start;  ///< which part of the line the given position marks
  bool rotated = false;           ///< by 90 degrees: read from bottom to top
};

double text_width(std::string_view text, const TextStyle& style = {});
inline double line_height(const TextStyle& style = {}) { return 1.3 * style.size; }

/// Lines of at most `width`, broken at spaces; a word that is longer is cut and ends in an ellipsis.
std::vector<std::string> wrapped(const std::string& text, double width, const TextStyle& style = {});

struct Stroke {
  Rgb color = kInk;
  double width = 1;
  std::vector<double> dashes = {};  ///< lengths on and off
};

/// Eight shapes to tell series apart without colour; the index wraps around.
struct Marker {
  int shape = 0;
  double size = 6;
};

/// A line of text where it was drawn.
struct PlacedText {
  std::string text;
  Rect box;
};

class Painter {
 public:
  /// `dpi` counts for PNG and for pictures inside SVG and PDF.
  Painter(double width, double height, PictureFormat format, double dpi);
  ~Painter();
  Painter(const Painter&) = delete;
  Painter& operator=(const Painter&) = delete;

  void fill(const Rect& rect, Rgb color, double opacity = 1);
  void outline(const Rect& rect, const Stroke& stroke);
  void polygon(const std::vector<Point>& points, Rgb color, double opacity);

  /// A point that is not finite leaves a gap.
  void polyline(const std::vector<Point>& points, const Stroke& stroke);
  void line(Point from, Point to, const Stroke& stroke) { polyline({from, to}, stroke); }
  void marker(Point at, Rgb color, const Marker& marker);

  /// Slanted lines inside the rectangle, one of four patterns; 0: none.
  void hatch(const Rect& rect, Rgb color, int pattern);

  /// (x, y) is the start, middle or end (style.anchor) of the baseline's line box: y is its vertical middle; of rotated
  /// text x is the middle.
  void text(Point at, std::string_view line, const TextStyle& style = {});

  /// Pixels [rows,columns,3] uint8, row 0 on top, without smoothing.
  void image(const Rect& rect, const Tensor& pixels);

  /// What is drawn until end_clip() is cut at the rectangle.
  void begin_clip(const Rect& rect);
  void end_clip();

  const std::vector<PlacedText>& texts() const { return texts_; }

  /// The file's bytes; the same drawing gives the same bytes. SVG and PDF carry the texts (description, real text).
  std::string finish();

 private:
  struct Surface;
  std::unique_ptr<Surface> surface_;
  std::vector<PlacedText> texts_;
};

}  // namespace piddm
