#include "piddm/plot/painter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "piddm/core/error.h"
#include "piddm/core/markup.h"

#ifdef PIDDM_WITH_CAIRO
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>
#endif

namespace piddm {

bool Point::finite() const { return std::isfinite(x) && std::isfinite(y); }

bool Rect::contains(const Rect& o) const {
  return o.x >= x && o.right() <= right() && o.y >= y && o.bottom() <= bottom();
}

bool Rect::overlaps(const Rect& o) const { return x < o.right() && o.x < right() && y < o.bottom() && o.y < bottom(); }

namespace {

/// As much of a word as fits, with an ellipsis.
std::string cut(std::string word, double width, const TextStyle& style) {
  while (word.size() > 1 && text_width(word + "\u2026", style) > width) {
    while (word.size() > 1 && (static_cast<unsigned char>(word.back()) & 0xC0) == 0x80) word.pop_back();
    word.pop_back();
  }
  return word + "\u2026";
}

}  // namespace

std::vector<std::string> wrapped(const std::string& text, double width, const TextStyle& style) {
  std::vector<std::string> lines;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find(' ', at), text.size());
    auto word = text.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    if (text_width(word, style) > width) word = cut(word, width, style);
    if (!lines.empty() && text_width(lines.back() + " " + word, style) <= width)
      lines.back() += " " + word;
    else
      lines.push_back(word);
  }
  return lines;
}

#ifdef PIDDM_WITH_CAIRO

namespace {

constexpr double kUnitsPerInch = 96, kPointsPerInch = 72;
constexpr const char* kFace = "DejaVu Sans";
constexpr const char* kDate = "2000-01-01T00:00:00Z";  // of a PDF: the same picture, the same bytes

cairo_status_t append(void* out, const unsigned char* data, unsigned int bytes) {
  static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(data), bytes);
  return CAIRO_STATUS_SUCCESS;
}

/// Unhinted, so that a text has the same width at every resolution.
void set_font(cairo_t* cairo, const TextStyle& style) {
  cairo_select_font_face(cairo, kFace, CAIRO_FONT_SLANT_NORMAL,
                         style.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(cairo, style.size);
  auto* options = cairo_font_options_create();
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  cairo_set_font_options(cairo, options);
  cairo_font_options_destroy(options);
}

/// A context that only measures.
cairo_t* measuring_context() {
  thread_local const std::unique_ptr<cairo_t, void (*)(cairo_t*)> context = [] {
    auto* surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
    std::unique_ptr<cairo_t, void (*)(cairo_t*)> made(cairo_create(surface), cairo_destroy);
    cairo_surface_destroy(surface);
    return made;
  }();
  return context.get();
}

double shift(Anchor anchor, double width) {
  return anchor == Anchor::start ? 0 : anchor == Anchor::middle ? -width / 2 : -width;
}

/// Cairo numbers the pictures of a process; here they are numbered from 0 in each file.
std::string renumbered(std::string svg) {
  for (const std::string name : {"surface", "image", "mask", "clip", "source-", "filter-", "compositing-group-"}) {
    std::vector<std::string> known;
    std::string out;
    size_t copied = 0;
    for (size_t at = svg.find(name); at != std::string::npos; at = svg.find(name, at + 1)) {
      size_t end = at + name.size();
      while (end < svg.size() && std::isdigit(static_cast<unsigned char>(svg[end]))) ++end;
      const auto before = at == 0 ? ' ' : svg[at - 1];
      if (end == at + name.size() || (before != '"' && before != '#')) continue;
      const auto number = svg.substr(at + name.size(), end - at - name.size());
      auto found = std::find(known.begin(), known.end(), number);
      if (found == known.end()) found = known.insert(known.end(), number);
      out += svg.substr(copied, at - copied) + name + std::to_string(found - known.begin());
      copied = end;
    }
    svg = out + svg.substr(copied);
  }
  return svg;
}

/// With the texts as its description, for readers and searches: Cairo draws letters as shapes.
std::string described(const std::string& svg, const std::vector<PlacedText>& texts) {
  const size_t element = svg.find("<svg"), end = svg.find('>', element);
  if (end == std::string::npos) return svg;
  std::string words;
  for (const auto& one : texts) words += escape_markup(one.text) + "\n";
  return svg.substr(0, end + 1) + "\n<desc>" + words + "</desc>" + svg.substr(end + 1);
}

void add_arc_marker(cairo_t* c, Point at, double r) { cairo_arc(c, at.x, at.y, r, 0, 2 * M_PI); }

void add_polygon_marker(cairo_t* c, Point at, double r, int corners, double turn) {
  for (int i = 0; i < corners; ++i) {
    const double angle = turn + 2 * M_PI * i / corners;
    cairo_line_to(c, at.x + r * std::cos(angle), at.y + r * std::sin(angle));
  }
  cairo_close_path(c);
}

}  // namespace

bool can_draw() { return true; }

struct Painter::Surface {
  PictureFormat format;
  std::string bytes;
  cairo_surface_t* surface = nullptr;
  cairo_t* cairo = nullptr;

  ~Surface() {
    if (cairo) cairo_destroy(cairo);
    if (surface) cairo_surface_destroy(surface);
  }
  void color(Rgb c, double opacity = 1) const {
    cairo_set_source_rgba(cairo, c.r / 255., c.g / 255., c.b / 255., opacity);
  }
  void path(const Rect& r) const { cairo_rectangle(cairo, r.x, r.y, r.width, r.height); }
  void stroke(const Stroke& s) const {
    color(s.color);
    cairo_set_line_width(cairo, s.width);
    cairo_set_dash(cairo, s.dashes.data(), static_cast<int>(s.dashes.size()), 0);
    cairo_stroke(cairo);
    cairo_set_dash(cairo, nullptr, 0, 0);
  }
};

Painter::Painter(double width, double height, PictureFormat format, double dpi)
    : surface_(std::make_unique<Surface>()) {
  auto& s = *surface_;
  s.format = format;
  double scale = dpi / kUnitsPerInch;
  if (format == PictureFormat::png) {
    const double w = std::ceil(width * scale - 1e-9), h = std::ceil(height * scale - 1e-9);
    require<UsageError>(w < 32768 && h < 32768,
                        "a picture of {:.0f} x {:.0f} pixels is too large: draw fewer samples or lower --dpi", w, h);
    s.surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(w), static_cast<int>(h));
  } else {
    scale = kPointsPerInch / kUnitsPerInch;
    const auto create =
        format == PictureFormat::svg ? cairo_svg_surface_create_for_stream : cairo_pdf_surface_create_for_stream;
    s.surface = create(append, &s.bytes, width * scale, height * scale);
    cairo_surface_set_fallback_resolution(s.surface, dpi, dpi);
    if (format == PictureFormat::pdf) cairo_pdf_surface_set_metadata(s.surface, CAIRO_PDF_METADATA_CREATE_DATE, kDate);
  }
  require<ResourceError>(cairo_surface_status(s.surface) == CAIRO_STATUS_SUCCESS,
                         "no memory for a picture of {:.0f} x {:.0f} units: {}", width, height,
                         cairo_status_to_string(cairo_surface_status(s.surface)));
  s.cairo = cairo_create(s.surface);
  cairo_scale(s.cairo, scale, scale);
  cairo_set_line_cap(s.cairo, CAIRO_LINE_CAP_BUTT);
  cairo_set_line_join(s.cairo, CAIRO_LINE_JOIN_ROUND);
  fill({0, 0, width + 1, height + 1}, kWhite);
}

Painter::~Painter() = default;

void Painter::fill(const Rect& rect, Rgb color, double opacity) {
  surface_->path(rect);
  surface_->color(color, opacity);
  cairo_fill(surface_->cairo);
}

void Painter::outline(const Rect& rect, const Stroke& stroke) {
  surface_->path(rect);
  surface_->stroke(stroke);
}

void Painter::polygon(const std::vector<Point>& points, Rgb color, double opacity) {
  for (const auto& p : points)
    if (p.finite()) cairo_line_to(surface_->cairo, p.x, p.y);
  surface_->color(color, opacity);
  cairo_fill(surface_->cairo);
}

void Painter::polyline(const std::vector<Point>& points, const Stroke& stroke) {
  bool drawing = false;
  for (const auto& p : points) {
    if (p.finite()) (drawing ? cairo_line_to : cairo_move_to)(surface_->cairo, p.x, p.y);
    drawing = p.finite();
  }
  surface_->stroke(stroke);
}

void Painter::marker(Point at, Rgb color, const Marker& marker) {
  auto* c = surface_->cairo;
  const double r = marker.size / 2;
  const int shape = marker.shape % 8;
  cairo_new_path(c);
  switch (shape % 4) {
    case 0:
      add_arc_marker(c, at, r);
      break;
    case 1:
      add_polygon_marker(c, at, 1.2 * r, 4, M_PI / 4);
      break;
    case 2:
      add_polygon_marker(c, at, 1.25 * r, 3, -M_PI / 2);
      break;
    default:
      add_polygon_marker(c, at, 1.3 * r, 4, 0);
      break;
  }
  if (shape >= 4) {  // the same shapes, hollow
    surface_->color(kWhite);
    cairo_fill_preserve(c);
    surface_->stroke({color, 1.2});
  } else {
    surface_->color(color);
    cairo_fill(c);
  }
}

void Painter::hatch(const Rect& rect, Rgb color, int pattern) {
  if (pattern % 4 == 0) return;
  constexpr double step = 5;
  begin_clip(rect);
  const double reach = rect.width + rect.height;
  for (double d = 0; d < reach; d += step) {
    if (pattern % 4 != 2) line({rect.x + d - rect.height, rect.bottom()}, {rect.x + d, rect.y}, {color, 0.8});
    if (pattern % 4 != 1) line({rect.x + d - rect.height, rect.y}, {rect.x + d, rect.bottom()}, {color, 0.8});
  }
  end_clip();
}

double text_width(std::string_view text, const TextStyle& style) {
  auto* context = measuring_context();
  set_font(context, style);
  cairo_text_extents_t extents;
  cairo_text_extents(context, std::string(text).c_str(), &extents);
  return extents.x_advance;
}

void Painter::text(Point at, std::string_view line, const TextStyle& style) {
  if (line.empty()) return;
  auto* c = surface_->cairo;
  const double width = text_width(line, style), along = shift(style.anchor, width), height = line_height(style);
  const double baseline = 0.36 * style.size;  // half the height of a capital
  texts_.push_back({std::string(line), style.rotated ? Rect{at.x - height / 2, at.y - along - width, height, width}
                                                     : Rect{at.x + along, at.y - height / 2, width, height}});
  cairo_save(c);
  cairo_translate(c, at.x, at.y);
  if (style.rotated) cairo_rotate(c, -M_PI / 2);
  set_font(c, style);
  surface_->color(style.color);
  cairo_move_to(c, along, baseline);
  cairo_show_text(c, std::string(line).c_str());
  cairo_restore(c);
}

void Painter::image(const Rect& rect, const Tensor& pixels) {
  const int64_t rows = pixels.size(0), columns = pixels.size(1);
  // Vector formats leave smoothing to the viewer: with large pixels there is nothing left to smooth.
  const int64_t repeat = surface_->format == PictureFormat::svg ? (511 + rows) / rows : 1;
  auto enlarged = pixels.repeat_interleave(repeat, 0).repeat_interleave(repeat, 1);
  const auto opaque = torch::full({rows * repeat, columns * repeat, 1}, 255, torch::kUInt8);
  enlarged = torch::cat({enlarged.flip(2), opaque}, 2).contiguous();  // B, G, R, unused: little-endian RGB24
  auto* image = cairo_image_surface_create_for_data(enlarged.data_ptr<uint8_t>(), CAIRO_FORMAT_RGB24,
                                                    static_cast<int>(columns * repeat), static_cast<int>(rows * repeat),
                                                    static_cast<int>(4 * columns * repeat));
  auto* c = surface_->cairo;
  cairo_save(c);
  cairo_translate(c, rect.x, rect.y);
  cairo_scale(c, rect.width / static_cast<double>(columns * repeat), rect.height / static_cast<double>(rows * repeat));
  cairo_set_source_surface(c, image, 0, 0);
  cairo_pattern_set_filter(cairo_get_source(c), CAIRO_FILTER_NEAREST);
  cairo_pattern_set_extend(cairo_get_source(c), CAIRO_EXTEND_PAD);
  cairo_rectangle(c, 0, 0, static_cast<double>(columns * repeat), static_cast<double>(rows * repeat));
  cairo_fill(c);
  cairo_restore(c);
  cairo_surface_flush(surface_->surface);
  cairo_surface_finish(image);
  cairo_surface_destroy(image);
}

void Painter::begin_clip(const Rect& rect) {
  cairo_save(surface_->cairo);
  surface_->path(rect);
  cairo_clip(surface_->cairo);
}

void Painter::end_clip() { cairo_restore(surface_->cairo); }

std::string Painter::finish() {
  auto& s = *surface_;
  if (s.format == PictureFormat::png) cairo_surface_write_to_png_stream(s.surface, append, &s.bytes);
  cairo_surface_finish(s.surface);
  const auto status = cairo_surface_status(s.surface);
  require<ResourceError>(status == CAIRO_STATUS_SUCCESS || status == CAIRO_STATUS_SURFACE_FINISHED,
                         "drawing failed: {}", cairo_status_to_string(status));
  return s.format == PictureFormat::svg ? described(renumbered(s.bytes), texts_) : s.bytes;
}

#else

bool can_draw() { return false; }

struct Painter::Surface {};

Painter::Painter(double, double, PictureFormat, double) {
  throw ResourceError("this build has no Cairo, so it draws no pictures: install libcairo2-dev and build again");
}
Painter::~Painter() = default;
void Painter::fill(const Rect&, Rgb, double) {}
void Painter::outline(const Rect&, const Stroke&) {}
void Painter::polygon(const std::vector<Point>&, Rgb, double) {}
void Painter::polyline(const std::vector<Point>&, const Stroke&) {}
void Painter::marker(Point, Rgb, const Marker&) {}
void Painter::hatch(const Rect&, Rgb, int) {}
void Painter::text(Point, std::string_view, const TextStyle&) {}
void Painter::image(const Rect&, const Tensor&) {}
void Painter::begin_clip(const Rect&) {}
void Painter::end_clip() {}
std::string Painter::finish() { return {}; }
double text_width(std::string_view text, const TextStyle& style) {
  return 0.6 * style.size * static_cast<double>(text.size());
}

#endif

}  // namespace piddm
