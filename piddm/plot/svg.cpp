#include "piddm/plot/svg.h"

#include <fmt/format.h>

#include <cmath>

#include "piddm/core/markup.h"

namespace piddm {

namespace {

constexpr double kCapitalHeight = 0.72;  ///< of the font size, in common sans-serif fonts

std::string hex(Rgb color) { return fmt::format("#{:02x}{:02x}{:02x}", color.r, color.g, color.b); }

double rounded(double value) { return std::round(100 * value) / 100; }

std::string at(Point p) { return fmt::format("{} {}", rounded(p.x), rounded(p.y)); }

std::string path_data(const std::vector<Point>& points) {
  std::string data;
  bool drawing = false;
  for (size_t i = 0; i + 1 < points.size(); ++i) {
    if (!points[i].finite() || !points[i + 1].finite()) {
      drawing = false;
      continue;
    }
    if (!drawing) data += "M" + at(points[i]);
    data += "L" + at(points[i + 1]);
    drawing = true;
  }
  return data;
}

std::string_view anchor_name(Anchor anchor) {
  return anchor == Anchor::start ? "start" : anchor == Anchor::middle ? "middle" : "end";
}

std::string place_attributes(const Rect& rect) {
  return fmt::format("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", rect.x, rect.y, rect.width, rect.height);
}

}  // namespace

std::string svg_rect(const Rect& rect, Rgb color) {
  if (rect.width <= 0 || rect.height <= 0) return "";
  return fmt::format("<rect {} fill=\"{}\" shape-rendering=\"crispEdges\"/>\n", place_attributes(rect), hex(color));
}

std::string svg_polyline(const std::vector<Point>& points, Rgb color, double thickness) {
  if (points.size() == 1 && points[0].finite())
    return fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"/>\n", rounded(points[0].x),
                       rounded(points[0].y), rounded(thickness / 2), hex(color));
  const std::string data = path_data(points);
  if (data.empty()) return "";
  return fmt::format(
      "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linecap=\"round\" "
      "stroke-linejoin=\"round\"/>\n",
      data, hex(color), rounded(thickness));
}

std::string svg_text(int x, int y, std::string_view line, const TextStyle& style) {
  if (line.empty()) return "";
  const int ascent = text_height(style);
  const std::string place = style.rotated ? fmt::format("transform=\"translate({} {}) rotate(-90)\"", x + ascent, y)
                                          : fmt::format("x=\"{}\" y=\"{}\"", x, y + ascent);
  return fmt::format(
      "<text {} font-size=\"{}\"{} fill=\"{}\" text-anchor=\"{}\" textLength=\"{}\" "
      "lengthAdjust=\"spacingAndGlyphs\">{}</text>\n",
      place, rounded(ascent / kCapitalHeight), style.bold ? " font-weight=\"bold\"" : "", hex(style.color),
      anchor_name(style.anchor), text_width(line, style), escape_markup(line));
}

std::string svg_image(const Rect& place, std::string_view png) {
  return fmt::format(
      "<image {} preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" "
      "xlink:href=\"data:image/png;base64,{}\"/>\n",
      place_attributes(place), base64(png));
}

std::string svg_picture(const Rect& place, std::string_view elements) {
  return fmt::format("<svg {}>\n{}</svg>\n", place_attributes(place), elements);
}

std::string svg_document(int width, int height, std::string_view elements) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" version=\"1.1\" "
      "width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" font-family=\"'DejaVu Sans', Verdana, Helvetica, Arial, "
      "sans-serif\">\n{2}</svg>\n",
      width, height, elements);
}

}  // namespace piddm
