#include "piddm/plot/canvas.h"

#include <png.h>

#include <algorithm>
#include <cmath>

#include "piddm/core/error.h"
#include "piddm/files/atomic_file.h"
#include "piddm/plot/svg.h"

namespace piddm {
namespace {

constexpr int kMaxSide = 1 << 15;
static_assert(sizeof(Rgb) == 3, "rows go to libpng as they are");

// Share of the pixel at `p` under a stroke of this half width from a to b: a one pixel ramp along its edge.
double stroke_coverage(Point p, Point a, Point b, double half_width) {
  const double dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
  const double t = length2 > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length2, 0.0, 1.0) : 0.0;
  const double distance = std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
  return std::clamp(half_width + 0.5 - distance, 0.0, 1.0);
}

int clamp_pixel(double value, int size) { return static_cast<int>(std::clamp(value, 0.0, static_cast<double>(size))); }

Glyph bolder(Glyph glyph) {
  for (uint8_t& row : glyph.rows) row = static_cast<uint8_t>(row | (row >> 1));
  glyph.width += 1;
  return glyph;
}

/// How much of the pixel (column, row) of an enlarged glyph is inked. The inner corners of its staircases are filled,
/// which makes slants smooth.
double glyph_coverage(const Glyph& glyph, int column, int row, int scale) {
  const auto ink = [&](int c, int r) {
    return c >= 0 && c < glyph.width && r >= 0 && r < kFontRows && glyph.ink(c, r);
  };
  const int c = column / scale, r = row / scale, i = column % scale, j = row % scale;
  if (ink(c, r)) return 1;
  double coverage = 0;
  for (const int dx : {-1, 1}) {
    for (const int dy : {-1, 1}) {
      if (!ink(c + dx, r) || !ink(c, r + dy) || ink(c + dx, r + dy)) continue;
      const int from_corner = (dx < 0 ? i : scale - 1 - i) + (dy < 0 ? j : scale - 1 - j);
      coverage = std::max(coverage, std::clamp((scale - 1 - from_corner) * 0.7, 0.0, 1.0));
    }
  }
  return coverage;
}

int anchor_offset(Anchor anchor, int width) {
  return anchor == Anchor::start ? 0 : anchor == Anchor::middle ? width / 2 : width;
}

}  // namespace

int text_width(std::string_view text, const TextStyle& style) {
  const int widening = style.bold ? static_cast<int>(glyphs_of(text).size()) : 0;
  return (font_width(text) + widening) * style.scale;
}

int text_height(const TextStyle& style) { return kFontAscent * style.scale; }

Canvas::Canvas(int width, int height, Rgb background) : width_(width), height_(height) {
  require<UsageError>(width > 0 && height > 0 && width <= kMaxSide && height <= kMaxSide,
                      "[canvas] a picture of {}x{} pixels; each side must be 1..{}", width, height, kMaxSide);
  pixels_.resize(static_cast<size_t>(width) * static_cast<size_t>(height));
  fill_rect({0, 0, width, height}, background);
}

Rgb Canvas::at(int x, int y) const {
  require<UsageError>(x >= 0 && x < width_ && y >= 0 && y < height_, "[canvas] pixel ({},{}) is outside {}x{}", x, y,
                      width_, height_);
  return pixels_[index(x, y)];
}

void Canvas::blend(int x, int y, Rgb color, double coverage) {
  Rgb& p = pixels_[index(x, y)];
  const auto mix = [coverage](uint8_t under, uint8_t over) {
    return static_cast<uint8_t>(std::lround(under + coverage * (over - under)));
  };
  p = {mix(p.r, color.r), mix(p.g, color.g), mix(p.b, color.b)};
}

void Canvas::fill_rect(const Rect& rect, Rgb color) {
  svg_ += svg_rect(rect, color);
  paint(rect, color);
}

void Canvas::paint(const Rect& rect, Rgb color) {
  const int right = std::min(rect.right(), width_), bottom = std::min(rect.bottom(), height_);
  for (int y = std::max(rect.y, 0); y < bottom; ++y)
    for (int x = std::max(rect.x, 0); x < right; ++x) pixels_[index(x, y)] = color;
}

void Canvas::outline_rect(const Rect& rect, Rgb color) {
  fill_rect({rect.x, rect.y, rect.width, 1}, color);
  fill_rect({rect.x, rect.bottom() - 1, rect.width, 1}, color);
  fill_rect({rect.x, rect.y, 1, rect.height}, color);
  fill_rect({rect.right() - 1, rect.y, 1, rect.height}, color);
}

// The part of the canvas within `reach` of the finite points.
Rect Canvas::covered(const std::vector<Point>& points, double reach) const {
  int left = width_, right = 0, top = height_, bottom = 0;
  for (const Point& p : points) {
    if (!p.finite()) continue;
    left = std::min(left, clamp_pixel(p.x - reach, width_));
    right = std::max(right, clamp_pixel(p.x + reach + 1, width_));
    top = std::min(top, clamp_pixel(p.y - reach, height_));
    bottom = std::max(bottom, clamp_pixel(p.y + reach + 1, height_));
  }
  return {left, top, std::max(0, right - left), std::max(0, bottom - top)};
}

void Canvas::line(Point from, Point to, Rgb color, double thickness) { polyline({from, to}, color, thickness); }

void Canvas::polyline(const std::vector<Point>& points, Rgb color, double thickness) {
  svg_ += svg_polyline(points, color, thickness);
  const double half_width = thickness / 2;
  const Rect box = covered(points, half_width + 1);
  std::vector<double> coverage(static_cast<size_t>(box.width) * static_cast<size_t>(box.height), 0.0);
  const size_t segments = points.size() > 1 ? points.size() - 1 : points.size();
  for (size_t i = 0; i < segments; ++i) {
    const Point a = points[i], b = points[std::min(i + 1, points.size() - 1)];
    const Rect part = covered({a, b}, half_width + 1);
    if (!a.finite() || !b.finite()) continue;
    for (int y = part.y; y < part.bottom(); ++y) {
      for (int x = part.x; x < part.right(); ++x) {
        double& c = coverage[static_cast<size_t>((y - box.y) * box.width + x - box.x)];
        c = std::max(c, stroke_coverage({x + 0.5, y + 0.5}, a, b, half_width));
      }
    }
  }
  for (int y = box.y; y < box.bottom(); ++y)
    for (int x = box.x; x < box.right(); ++x)
      blend(x, y, color, coverage[static_cast<size_t>((y - box.y) * box.width + x - box.x)]);
}

void Canvas::text(int x, int y, std::string_view line, const TextStyle& style) {
  svg_ += svg_text(x, y, line, style);
  int along = -anchor_offset(style.anchor, text_width(line, style));
  for (const Glyph& glyph : glyphs_of(line)) {
    const Glyph shape = style.bold ? bolder(glyph) : glyph;
    draw_glyph(x, y, along, shape, style);
    along += (shape.width + kFontTracking) * style.scale;
  }
}

void Canvas::draw_glyph(int x, int y, int along, const Glyph& glyph, const TextStyle& style) {
  const int s = style.scale;
  for (int row = 0; row < kFontRows * s; ++row) {
    for (int column = 0; column < glyph.width * s; ++column) {
      const double coverage = glyph_coverage(glyph, column, row, s);
      const int px = style.rotated ? x + row : x + along + column,
                py = style.rotated ? y - 1 - along - column : y + row;
      if (coverage > 0 && px >= 0 && px < width_ && py >= 0 && py < height_) blend(px, py, style.color, coverage);
    }
  }
}

void Canvas::heat_map(int x, int y, const HeatMap& heat) {
  require<DataError>(heat.field.defined() && heat.field.dim() == 2, "[heat map] expected a field (H,W), got {}",
                     heat.field.defined() ? shape_string(heat.field) : "nothing");
  const Tensor field = heat.field.detach().to(torch::kCPU, torch::kFloat64).contiguous();
  const auto value = field.accessor<double, 2>();
  const int nx = static_cast<int>(field.size(0)), ny = static_cast<int>(field.size(1));
  const double span = heat.high - heat.low;
  Canvas cells(nx, ny);
  for (int i = 0; i < nx; ++i) {
    for (int j = 0; j < ny; ++j) {
      const double v = value[i][j];
      const double position = span > 0 ? (v - heat.low) / span : 0.5;
      const Rgb color = std::isfinite(v) ? map_color(heat.colors, position) : heat.non_finite;
      cells.paint({i, ny - 1 - j, 1, 1}, color);
      paint({x + i * heat.scale_x, y + (ny - 1 - j) * heat.scale_y, heat.scale_x, heat.scale_y}, color);
    }
  }
  svg_ += svg_image({x, y, nx * heat.scale_x, ny * heat.scale_y}, cells.encode_png());
}

void Canvas::paste(int x, int y, const Canvas& other) {
  svg_ += svg_picture({x, y, other.width_, other.height_}, other.svg_);
  for (int row = std::max(0, -y); row < std::min(other.height_, height_ - y); ++row)
    for (int column = std::max(0, -x); column < std::min(other.width_, width_ - x); ++column)
      pixels_[index(x + column, y + row)] = other.pixels_[other.index(column, row)];
}

std::string Canvas::encode_png() const {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width_);
  image.height = static_cast<png_uint_32>(height_);
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string bytes(size, '\0');
  const int ok = png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels_.data(), 3 * width_, nullptr);
  require<ResourceError>(ok != 0, "[canvas] encoding a {}x{} picture: {}", width_, height_, image.message);
  bytes.resize(size);
  return bytes;
}

void Canvas::write_png(const std::filesystem::path& path) const { write_file_atomically(path, encode_png()); }

std::string Canvas::encode_svg() const { return svg_document(width_, height_, svg_); }

void Canvas::write_svg(const std::filesystem::path& path) const { write_file_atomically(path, encode_svg()); }

}  // namespace piddm
