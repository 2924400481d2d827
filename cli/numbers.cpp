#include "cli/numbers.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "piddm/core/fields.h"

namespace piddm::cli {

namespace {

template <class T>
std::errc read(const std::string& text, T& value) {
  const char* const begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  return end == text.data() + text.size() ? error : std::errc::invalid_argument;
}

}  // namespace

TextCheck whole_number(int64_t low, int64_t high) {
  return [low, high](const std::string& text) -> std::string {
    int64_t value = 0;
    const auto error = read(text, value);
    if (error == std::errc::invalid_argument) return fmt::format("must be a whole number, got '{}'", text);
    const bool beyond = error == std::errc::result_out_of_range;
    if (beyond ? text.starts_with('-') : value < low) return fmt::format("must be at least {}, got {}", low, text);
    if (beyond || value > high) return fmt::format("must be at most {}, got {}", high, text);
    return "";
  };
}

TextCheck grid_size(int64_t low, int64_t high) {
  return [side = whole_number(low, high)](const std::string& text) -> std::string {
    const auto cross = text.find('x');
    const auto said = side(text.substr(0, cross));
    return cross == std::string::npos || !said.empty() ? said : side(text.substr(cross + 1));
  };
}

TextCheck number_above(double low, double high) {
  return [low, high](const std::string& text) -> std::string {
    double value = 0;
    if (read(text, value) == std::errc() && value > low && value <= high) return "";
    return fmt::format("must be a number above {} and at most {}, got '{}'", low, high, text);
  };
}

TextCheck seed_number() { return whole_number(0, static_cast<int64_t>(kSeeds.high)); }

}  // namespace piddm::cli
