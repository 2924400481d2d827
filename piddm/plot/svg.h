#pragma once
// The drawing primitives of a Canvas as SVG 1.1 elements, in the canvas' pixels. Text is real text, set to the width it
// has on the raster, so that the layout holds whatever font the viewer has.

#include <string>
#include <string_view>
#include <vector>

#include "piddm/plot/canvas.h"

namespace piddm {

std::string svg_rect(const Rect& rect, Rgb color);

/// One path with round ends and joints; one point is a disc, points that are not finite leave gaps, "" if nothing is
/// left.
std::string svg_polyline(const std::vector<Point>& points, Rgb color, double thickness);

/// Position and anchor as in Canvas::text.
std::string svg_text(int x, int y, std::string_view line, const TextStyle& style);

/// A PNG stretched over `place`, its pixels kept as sharp rectangles.
std::string svg_image(const Rect& place, std::string_view png);

/// Elements of another picture of the size of `place`, moved there and cut at its edges.
std::string svg_picture(const Rect& place, std::string_view elements);

/// The file.
std::string svg_document(int width, int height, std::string_view elements);

}  // namespace piddm
