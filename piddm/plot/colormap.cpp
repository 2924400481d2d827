#include "piddm/plot/colormap.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace piddm {
namespace {

/// The two colour axes of Oklab; lightness follows from the map.
struct Hue {
  double a, b;
};

constexpr std::array<Hue, 8> kSequential = {{{0.029, -0.080},
                                             {0.023, -0.133},
                                             {-0.017, -0.124},
                                             {-0.067, -0.080},
                                             {-0.108, 0.000},
                                             {-0.129, 0.090},
                                             {-0.090, 0.153},
                                             {-0.031, 0.122}}};

constexpr std::array<Hue, 9> kDiverging = {{{-0.015, -0.109},
                                            {-0.033, -0.131},
                                            {-0.043, -0.107},
                                            {-0.033, -0.056},
                                            {0.000, 0.000},
                                            {0.049, 0.049},
                                            {0.122, 0.079},
                                            {0.147, 0.075},
                                            {0.102, 0.041}}};

// Lightness L* of the ends of the sequential map, and of the middle and the ends of the diverging one.
constexpr double kDark = 12, kLight = 93, kPale = 96, kStrong = 28;
constexpr size_t kEntries = 1024;

// Okabe and Ito's colours for all kinds of colour vision, in an order that alternates dark and light, then greys.
constexpr std::array<Rgb, 10> kCurves = {{{0, 84, 150},
                                          {214, 94, 0},
                                          {0, 142, 105},
                                          {170, 51, 119},
                                          {86, 170, 220},
                                          {120, 72, 20},
                                          {210, 150, 0},
                                          {70, 40, 130},
                                          {110, 116, 128},
                                          {150, 30, 40}}};

struct Linear {
  double r, g, b;
};

double clamped(double x) { return std::clamp(x, 0.0, 1.0); }

uint8_t to_srgb(double x) {
  const double encoded = x <= 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1 / 2.4) - 0.055;
  return static_cast<uint8_t>(std::lround(255 * encoded));
}

// Oklab -> cone response -> linear sRGB, matrices of the definition; cut to what a screen shows.
Linear to_linear(double lightness, const Hue& c) {
  const double l = std::pow(lightness + 0.3963377774 * c.a + 0.2158037573 * c.b, 3);
  const double m = std::pow(lightness - 0.1055613458 * c.a - 0.0638541728 * c.b, 3);
  const double s = std::pow(lightness - 0.0894841775 * c.a - 1.2914855480 * c.b, 3);
  return {clamped(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          clamped(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          clamped(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

double cie_lightness(const Linear& c) {
  const double y = 0.2126 * c.r + 0.7152 * c.g + 0.0722 * c.b;
  return y > 216.0 / 24389 ? 116 * std::cbrt(y) - 16 : 24389.0 / 27 * y;
}

/// The colour of this hue with this L*, by bisection.
Rgb with_lightness(double wanted, const Hue& hue) {
  double low = 0, high = 1.1;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (cie_lightness(to_linear(middle, hue)) < wanted ? low : high) = middle;
  }
  const auto c = to_linear((low + high) / 2, hue);
  return {to_srgb(c.r), to_srgb(c.g), to_srgb(c.b)};
}

Hue interpolate(std::span<const Hue> points, double value) {
  const double position = value * static_cast<double>(points.size() - 1);
  const size_t i = std::min(static_cast<size_t>(position), points.size() - 2);
  const double w = position - static_cast<double>(i);
  return {std::lerp(points[i].a, points[i + 1].a, w), std::lerp(points[i].b, points[i + 1].b, w)};
}

using ColorTable = std::array<Rgb, kEntries + 1>;

ColorTable make_table(Colors colors) {
  ColorTable table;
  for (size_t i = 0; i <= kEntries; ++i) {
    const double value = static_cast<double>(i) / kEntries;
    table[i] = colors == Colors::sequential
                   ? with_lightness(std::lerp(kDark, kLight, value), interpolate(kSequential, value))
                   : with_lightness(std::lerp(kPale, kStrong, std::abs(2 * value - 1)), interpolate(kDiverging, value));
  }
  return table;
}

}  // namespace

Rgb map_color(Colors colors, double value) {
  static const ColorTable sequential = make_table(Colors::sequential), diverging = make_table(Colors::diverging);
  if (!std::isfinite(value)) return kSignal;
  const auto entry = static_cast<size_t>(std::lround(clamped(value) * kEntries));
  return (colors == Colors::sequential ? sequential : diverging)[entry];
}

Rgb curve_color(int index) {
  constexpr int count = static_cast<int>(kCurves.size());
  return kCurves[static_cast<size_t>((index % count + count) % count)];
}

}  // namespace piddm
