// The grid of a PDE file: grid = { x = [0, 2, 64, "cells"], t = [0, 1, 33] }

#include <fmt/format.h>

#include "piddm/core/error.h"
#include "piddm/language/reading.h"

namespace piddm::reading {

namespace {

AxisText::Kind kind_of(const json& value, const std::string& where) {
  const auto kind = string_at(value, where + ", kind of points");
  if (kind == "cells") return AxisText::Kind::cells;
  if (kind == "nodes") return AxisText::Kind::nodes;
  if (kind == "periodic") return AxisText::Kind::periodic;
  throw UsageError("{}: {}", where, unknown_name_message("kind of points", kind, {"cells", "nodes", "periodic"}));
}

AxisText read_axis(Coordinate axis, const json& value, bool picture, const std::string& where) {
  const bool time = axis == Coordinate::t;
  const std::string form = time
                               ? "[start, end, points], such as [0, 1, 33]"
                               : "[start, end, points, kind], such as [0, 1, 64, \"cells\"]; kinds: cells (points half "
                                 "a cell inside the walls), nodes (the first and last on them), periodic (no walls)";
  require<UsageError>(value.is_array() && value.size() == (time ? 3u : 4u), "{}: expected {}, got {}", where, form,
                      value.dump());
  AxisText read{.axis = axis, .kind = time ? AxisText::Kind::time : kind_of(value[3], where)};
  require<UsageError>(number_at(value[0], where + ", start") == 0,
                      "{}: an axis starts at 0, got {}; write the equation in coordinates counted from there", where,
                      value[0].dump());
  read.length = number_at(value[1], where + ", end");
  require<UsageError>(read.length > 0, "{}: must end above 0, got {}", where, value[1].dump());
  require<UsageError>(value[2].is_number_integer(), "{}: expected a whole number of points, got {}", where,
                      value[2].dump());
  const auto points = value[2].get<double>(), fewest = picture ? double{kFewestPoints} : 2;
  require<UsageError>(points >= fewest && points <= double{kMostPoints}, "{}: between {} and {} points, got {}", where,
                      fewest, kMostPoints, value[2].dump());
  read.points = static_cast<int64_t>(points);
  return read;
}

}  // namespace

std::vector<AxisText> read_axes(const json& grid, const std::string& origin) {
  const auto where = place(origin, "grid");
  check_keys(grid, {"x", "y", "t"}, where, "axis");
  require<UsageError>(grid.contains("x"), "{}: the axis x is missing; write x = [0, 1, 64, \"cells\"]", where);
  require<UsageError>(grid.size() > 1,
                      "{}: x alone is too little; add t = [0, 1, 33] for a problem in time, or "
                      "y = [0, 1, 64, \"cells\"]",
                      where);
  std::vector<AxisText> axes;
  for (const auto axis : {Coordinate::x, Coordinate::y, Coordinate::t})
    if (grid.contains(letter(axis)))
      axes.push_back(read_axis(axis, grid[letter(axis)], axes.size() < 2, where + "." + letter(axis)));
  return axes;
}

}  // namespace piddm::reading
