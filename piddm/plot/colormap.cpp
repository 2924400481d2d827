#include "piddm/plot/colormap.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace piddm {
namespace {

struct Oklab {
  double lightness, a, b;
};

constexpr std::array<Oklab, 8> kSequential = {{{0.25, 0.029, -0.080},
                                               {0.35, 0.023, -0.133},
                                               {0.45, -0.017, -0.124},
                                               {0.55, -0.067, -0.080},
                                               {0.65, -0.108, 0.000},
                                               {0.75, -0.129, 0.090},
                                               {0.85, -0.090, 0.153},
                                               {0.95, -0.031, 0.122}}};

constexpr std::array<Oklab, 9> kDiverging = {{{0.34, -0.015, -0.109},
                                              {0.50, -0.033, -0.131},
                                              {0.66, -0.043, -0.107},
                                              {0.82, -0.033, -0.056},
                                              {0.965, 0.000, 0.005},
                                              {0.82, 0.049, 0.049},
                                              {0.66, 0.122, 0.079},
                                              {0.50, 0.147, 0.075},
                                              {0.34, 0.102, 0.041}}};

constexpr std::array<Rgb, 10> kCurves = {{{31, 98, 178},
                                          {224, 116, 26},
                                          {30, 143, 104},
                                          {196, 52, 75},
                                          {126, 84, 178},
                                          {134, 97, 66},
                                          {36, 166, 196},
                                          {200, 96, 168},
                                          {128, 134, 20},
                                          {96, 104, 116}}};

uint8_t to_srgb(double linear) {
  const double x = std::clamp(linear, 0.0, 1.0);
  const double encoded = x <= 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1 / 2.4) - 0.055;
  return static_cast<uint8_t>(std::lround(255 * encoded));
}

// Oklab -> cone response -> linear sRGB, matrices of the definition.
Rgb to_rgb(const Oklab& c) {
  const double l = std::pow(c.lightness + 0.3963377774 * c.a + 0.2158037573 * c.b, 3);
  const double m = std::pow(c.lightness - 0.1055613458 * c.a - 0.0638541728 * c.b, 3);
  const double s = std::pow(c.lightness - 0.0894841775 * c.a - 1.2914855480 * c.b, 3);
  return {to_srgb(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          to_srgb(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          to_srgb(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

Oklab interpolate(std::span<const Oklab> points, double value) {
  const double position = value * static_cast<double>(points.size() - 1);
  const size_t i = std::min(static_cast<size_t>(position), points.size() - 2);
  const double w = position - static_cast<double>(i);
  return {std::lerp(points[i].lightness, points[i + 1].lightness, w), std::lerp(points[i].a, points[i + 1].a, w),
          std::lerp(points[i].b, points[i + 1].b, w)};
}

}  // namespace

Rgb map_color(Colors colors, double value) {
  if (!std::isfinite(value)) return kSignal;
  const auto points =
      colors == Colors::sequential ? std::span<const Oklab>(kSequential) : std::span<const Oklab>(kDiverging);
  return to_rgb(interpolate(points, std::clamp(value, 0.0, 1.0)));
}

Rgb curve_color(int index) {
  constexpr int count = static_cast<int>(kCurves.size());
  return kCurves[static_cast<size_t>((index % count + count) % count)];
}

}  // namespace piddm
