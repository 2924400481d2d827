#pragma once
// PDEs on rectangles: other points and other lengths along the two axes.

#include "tests/flux_darcy.h"

namespace piddm::testing {

/// 1.5 times the PDE's own length along x, 0.8 times along the other axis, where it lets them be chosen.
inline PdePtr on_rectangle(const std::string& name, const GridSize& grid, json parameters = json::object()) {
  const auto usual = any_pde(name, grid);
  for (const auto& p : usual->parameters()) {
    if (p.name == "length_x") parameters[p.name] = 1.5 * p.value.get<double>();
    if (p.name == "length_y" || p.name == "duration") parameters[p.name] = 0.8 * p.value.get<double>();
  }
  return any_pde(name, grid, parameters);
}

}  // namespace piddm::testing
