#include "piddm/pde/grid_axes.h"

#include <cmath>
#include <map>
#include <numbers>

namespace piddm {

namespace {

enum class Kind { centres, nodes, ring };  // walls half a spacing outside; walls on the end points; periodic

struct Extent {
  Kind kind = Kind::nodes;
  double length = 1;
};

GridAxis axis(const Extent& extent, int64_t n) {
  const auto cells = static_cast<double>(extent.kind == Kind::nodes ? n - 1 : n);
  const double spacing = extent.length / cells;
  return {.points = n,
          .first = extent.kind == Kind::centres ? 0.5 * spacing : 0,
          .spacing = spacing,
          .low = 0,
          .high = extent.length,
          .periodic = extent.kind == Kind::ring};
}

const std::map<std::string, std::pair<Extent, Extent>>& extents() {
  constexpr Extent centres{Kind::centres}, nodes{Kind::nodes}, ring{Kind::ring};
  static const std::map<std::string, std::pair<Extent, Extent>> table = {
      {"darcy", {centres, centres}},
      {"poisson", {nodes, nodes}},
      {"helmholtz", {nodes, nodes}},
      {"burgers", {ring, nodes}},
      {"navier-stokes", {ring, ring}},
      {"stokes", {nodes, nodes}},
      {"heat", {{Kind::ring, 2 * std::numbers::pi}, nodes}},
      {"pme", {nodes, nodes}},
      {"stefan", {nodes, {Kind::nodes, 0.1}}}};
  return table;
}

}  // namespace

std::optional<int64_t> GridAxis::nearest(double coordinate) const {
  if (!(coordinate >= low && coordinate <= high)) return {};
  const auto i = static_cast<int64_t>(std::floor((coordinate - first) / spacing + 0.5));
  if (periodic) return i % points;
  return std::clamp<int64_t>(i, 0, points - 1);
}

GridAxes grid_axes(const Pde& pde) {
  const auto found = extents().find(pde.name());
  require<UsageError>(found != extents().end(),
                      "[{}] the positions of its entries are not listed; name them by i and j", pde.name());
  return {axis(found->second.first, pde.grid()), axis(found->second.second, pde.grid())};
}

}  // namespace piddm
