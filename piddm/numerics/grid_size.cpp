#include "piddm/numerics/grid_size.h"

#include <charconv>

namespace piddm {

namespace {

[[noreturn]] void refuse(const json& j, const std::string& path) {
  throw UsageError("{}: expected points per side, 64 or 64x32 (in a config [64, 32]), got {}", path, j.dump());
}

int64_t side(std::string_view text, const json& j, const std::string& path) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) refuse(j, path);
  return value;
}

int64_t side(const json& entry, const json& j, const std::string& path) {
  if (!entry.is_number_integer()) refuse(j, path);
  int64_t value = 0;
  detail::read_value(entry, value, path);
  return value;
}

}  // namespace

std::string GridSize::text() const { return fmt::format("{}x{}", height(), width()); }

json GridSize::to_json() const { return square() ? json(height()) : json{height(), width()}; }

GridSize GridSize::from_json(const json& j, const std::string& path) {
  if (j.is_string()) {
    const auto text = j.get<std::string>();
    const auto cross = text.find('x');
    if (cross == std::string::npos) return side(std::string_view(text), j, path);
    return {side(std::string_view(text).substr(0, cross), j, path),
            side(std::string_view(text).substr(cross + 1), j, path)};
  }
  if (!j.is_array()) return side(j, j, path);
  if (j.size() != 2) refuse(j, path);
  return {side(j[0], j, path), side(j[1], j, path)};
}

}  // namespace piddm
