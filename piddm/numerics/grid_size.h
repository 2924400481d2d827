#pragma once
// Points of a grid along H and along W. In configs and files a square is one number, `64`, another rectangle the list
// `[64, 32]`; on the command line and in messages it is `64x32`.

#include <array>
#include <string>

#include "piddm/core/fields.h"

namespace piddm {

class GridSize {
 public:
  GridSize() = default;
  GridSize(int64_t side) : sides_{side, side} {}  // NOLINT: a number is a square
  GridSize(int64_t height, int64_t width) : sides_{height, width} {}

  int64_t height() const { return sides_[0]; }
  int64_t width() const { return sides_[1]; }
  int64_t points() const { return sides_[0] * sides_[1]; }
  bool square() const { return sides_[0] == sides_[1]; }
  int64_t smaller() const { return sides_[0] < sides_[1] ? sides_[0] : sides_[1]; }

  bool operator==(const GridSize&) const = default;
  auto begin() const { return sides_.begin(); }
  auto end() const { return sides_.end(); }

  /// "64x32"; of a square "64x64".
  std::string text() const;

  /// 64, or [64, 32].
  json to_json() const;

  /// 64, [64, 32], "64" or "64x32"; a UsageError that begins with `path` for anything else.
  static GridSize from_json(const json& j, const std::string& path);

 private:
  std::array<int64_t, 2> sides_ = {0, 0};
};

}  // namespace piddm
