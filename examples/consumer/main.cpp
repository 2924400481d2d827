// Uses piddm from a project of its own:
//
//   cmake --install build --prefix PREFIX
//   cmake -S examples/consumer -B consumer -DCMAKE_PREFIX_PATH=PREFIX && cmake --build consumer && consumer/consumer
//
// Draws four samples x = (u, a) of Darcy flow on the unit square,
//
//   -div(a grad u) = 1,   u = 0 on the wall,
//
// disturbs u by a smooth 1 %, and decodes: u becomes the discrete solution for the sample's own a again.
// Printed is the mean of R^2 over the grid, before and after.

#include <fmt/format.h>

#include "piddm/pde/pde.h"

int main() {
  const auto pde = piddm::make_pde({.name = "darcy", .grid = 32});
  auto x = pde->sample(/*seed=*/1, /*first=*/0, /*count=*/4);

  const auto ramp = torch::linspace(0, 6.28, pde->grid().width(), torch::kFloat64);
  auto u = x.narrow(1, 0, pde->num_solution_channels());
  u.mul_(1 + 0.01 * ramp.sin());

  const auto before = pde->pde_error(x), after = pde->pde_error(pde->decode(x).x);
  fmt::print("sample  disturbed  decoded\n");
  for (int64_t i = 0; i < x.size(0); ++i)
    fmt::print("{:6}  {:9.2e}  {:7.1e}\n", i, before[i].item<double>(), after[i].item<double>());
  return (after < 1e-6 * before).all().item<bool>() ? 0 : 1;
}
