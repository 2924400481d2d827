#include "piddm/plot/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace piddm {
namespace {

constexpr double kLargest = 1e300;

/// "1.5e-7" from 1.5e-07.
std::string compact_scientific(double value, int decimals) {
  const std::string text = fmt::format("{:.{}e}", value, decimals);
  const size_t e = text.find('e');
  return fmt::format("{}e{}", text.substr(0, e), std::stoi(text.substr(e + 1)));
}

/// The 1, 2 or 5 times 10^k next to range / wanted.
double nice_step(double range, int wanted) {
  const double raw = range / wanted, power = std::pow(10.0, std::floor(std::log10(raw))), lead = raw / power;
  return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

int exponent_of(double value) { return static_cast<int>(std::floor(std::log10(std::abs(value)) + 1e-9)); }

std::string linear_label(double value, double step, double largest) {
  if (value == 0) return "0";
  const int step_exponent = exponent_of(step);
  if (largest >= 1e6 || step < 1e-4)
    return compact_scientific(value, std::clamp(exponent_of(value) - step_exponent, 0, 8));
  return fmt::format("{:.{}f}", value, std::max(0, -step_exponent));
}

std::vector<Tick> linear_ticks(double low, double high, int wanted) {
  const double step = nice_step(high - low, wanted), largest = std::max(std::abs(low), std::abs(high)),
               slack = 1e-9 * step;
  std::vector<Tick> ticks;
  for (double k = std::ceil((low - slack) / step);
       k * step <= high + slack && ticks.size() < 4 * static_cast<size_t>(wanted); ++k)
    ticks.push_back({k * step, linear_label(k * step, step, largest)});
  return ticks;
}

std::string decade_label(int exponent, bool plain) {
  return plain ? fmt::format("{:.{}f}", std::pow(10.0, exponent), std::max(0, -exponent))
               : fmt::format("1e{}", exponent);
}

std::vector<Tick> log_ticks(double low, double high, int wanted) {
  const int first = static_cast<int>(std::floor(std::log10(low))), last = static_cast<int>(std::ceil(std::log10(high)));
  const int most = wanted + 2, stride = (last - first + most - 1) / most;
  const bool plain = first >= -4 && last <= 4, minor = last - first <= 6, few = last - first <= 2;
  std::vector<Tick> ticks;
  for (int exponent = first; exponent <= last; ++exponent) {
    for (int digit = 1; digit <= (minor ? 9 : 1); ++digit) {
      const double value = digit * std::pow(10.0, exponent);
      if (value < low * (1 - 1e-9) || value > high * (1 + 1e-9)) continue;
      const bool decade = digit == 1 && exponent % stride == 0, between = few && (digit == 2 || digit == 5);
      if (!decade && !minor) continue;
      std::string label = decade ? decade_label(exponent, plain) : "";
      if (between)
        label = plain ? fmt::format("{:.{}f}", value, std::max(0, -exponent)) : fmt::format("{}e{}", digit, exponent);
      ticks.push_back({value, label});
    }
  }
  return ticks;
}

void widen(ChartAxis& axis, double padding) {
  if (axis.log) {
    const double ratio = axis.high > axis.low * (1 + 1e-9) ? std::pow(axis.high / axis.low, padding) : 2.0;
    axis.low /= ratio;
    axis.high *= ratio;
  } else {
    const double size = std::max(std::abs(axis.low), std::abs(axis.high));
    const double range = axis.high - axis.low;
    const double margin = range > 1e-9 * size ? padding * range : size > 0 ? 0.1 * size : 1.0;
    axis.low -= margin;
    axis.high += margin;
  }
}

}  // namespace

bool ChartAxis::shows(double value) const { return std::abs(value) < kLargest && (!log || value > 1 / kLargest); }

double ChartAxis::position(double value) const {
  if (log) return std::log(value / low) / std::log(high / low);
  return (value - low) / (high - low);
}

ChartAxis make_axis(const std::vector<double>& values, bool log, double padding, int wanted) {
  ChartAxis axis{log ? 0.1 : 0.0, 1.0, log, {}};
  std::vector<double> shown;
  for (const double value : values)
    if (axis.shows(value)) shown.push_back(value);
  if (!shown.empty()) {
    const auto [low, high] = std::minmax_element(shown.begin(), shown.end());
    axis.low = *low;
    axis.high = *high;
    widen(axis, padding);
  }
  axis.ticks = log && axis.high / axis.low >= 10 ? log_ticks(axis.low, axis.high, wanted)
                                                 : linear_ticks(axis.low, axis.high, wanted);
  return axis;
}

}  // namespace piddm
