#pragma once
// What the tests of the closed-form PDEs share.

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "piddm/files/npy.h"
#include "piddm/pde/pde.h"
#include "tests/testing.h"

namespace piddm::testing {

inline PdePtr pde(const std::string& name, const GridSize& grid, const json& parameters = json::object()) {
  return make_pde({.name = name, .grid = grid, .parameters = parameters});
}

/// A coefficient channel [1,1,H,W] of this value.
inline Tensor constant(double value, const GridSize& grid) {
  return torch::full({1, 1, grid.height(), grid.width()}, value, torch::kFloat64);
}

/// The exact sample (u, s), [1,2,H,W].
inline Tensor exact_sample(const Pde& pde, double scalar) {
  const Tensor s = constant(scalar, pde.grid());
  return torch::cat({pde.solve(s), s}, 1);
}

/// An array of closed_forms.npz with one axis more, for the channel.
inline Tensor reference(const std::string& name) {
  static const Npz file = read_npz(golden("closed_forms.npz"));
  return file.arrays.at(name).unsqueeze(1);
}

/// Largest deviation between autograd and central differences along random directions, relative to the gradient's norm
/// (the standard deviation of the directional derivative), so that a direction across the gradient does no harm.
inline double gradient_deviation(const std::function<Tensor(const Tensor&)>& f, const Tensor& x, double step = 1e-5) {
  const Tensor leaf = x.detach().clone().requires_grad_(true);
  const Tensor gradient = torch::autograd::grad({f(leaf)}, {leaf})[0];
  double worst = 0;
  for (int probe = 0; probe < 20; ++probe) {
    const Tensor direction = torch::randn_like(x), shift = step * direction;
    const Tensor numeric = (f(x.detach() + shift) - f(x.detach() - shift)) / (2 * step);
    worst = std::max(worst, (numeric - (gradient * direction).sum()).abs().item<double>());
  }
  return worst / gradient.norm().item<double>();
}

/// Root mean square of the residual of exact samples over the points where `region(x, t)` holds, x and t the
/// coordinates of the scored points as [h,1] and [w].
inline double residual_rms(const Pde& pde, double scalar, const Tensor& x, const Tensor& t,
                           const std::function<Tensor(const Tensor&, const Tensor&)>& region) {
  const Tensor r = pde.residual(exact_sample(pde, scalar)).fields[0].interior[0][0];
  const Tensor mask = region(x, t).expand_as(r);
  return r.masked_select(mask).square().mean().sqrt().item<double>();
}

/// Orders observed from one grid to the next (N-1 doubles) for values of a function of the grid.
inline std::vector<double> orders(const std::function<double(int64_t)>& value, const std::vector<int64_t>& grids) {
  std::vector<double> result;
  double coarse = value(grids[0]);
  for (size_t i = 1; i < grids.size(); ++i) {
    const double fine = value(grids[i]);
    result.push_back(std::log2(coarse / fine));
    coarse = fine;
  }
  return result;
}

/// Coordinates of the scored points: x [h,1] and t [w], for x in [0,1] with both ends stored.
inline std::pair<Tensor, Tensor> inner_nodes(int64_t grid, double duration = 1) {
  const Tensor index = torch::arange(1, grid - 1, torch::kFloat64) / (grid - 1);
  return {index.unsqueeze(1), index * duration};
}

}  // namespace piddm::testing
