#include "piddm/model/grid_transfer.h"

#include <cmath>

namespace piddm {

namespace {

// P[i,j] = 1/N (1 + 2 sum_{0 < k < min(N,n)/2} cos 2 pi k (x_i - y_j)): from N cell centres y to n cell centres x,
// [n,N] float64.
Tensor interpolation(int64_t from, int64_t to) {
  const auto centres = [](int64_t n) { return (torch::arange(n, torch::kFloat64) + 0.5) / static_cast<double>(n); };
  const auto distance = centres(to).unsqueeze(1) - centres(from).unsqueeze(0);
  auto sum = torch::ones_like(distance);
  for (int64_t k = 1; 2 * k < std::min(from, to); ++k)
    sum += 2 * torch::cos(2 * M_PI * static_cast<double>(k) * distance);
  return sum / static_cast<double>(from);
}

void check_transfer(const Model& model, int64_t own, int64_t grid) {
  require<UsageError>(model.kind == ModelKind::student,
                      "grid {}: only a student runs on another grid; this teacher belongs to {}", grid, own);
  const auto& network = *model.network;
  require<UsageError>(network.on_any_grid(),
                      "grid {}: a network of type '{}' is bound to the grid it was trained on, {}", grid,
                      network.type(), own);
  for (const auto modes : network.modes()) {
    require<UsageError>(grid > modes, "grid {}: too coarse for the {} Fourier modes of the network; at least {} points",
                        grid, modes, modes + 1);
    require<UsageError>(modes <= own,
                        "grid {}: the network was trained on {} points, which do not hold its {} Fourier modes; the "
                        "rest is untrained",
                        grid, own, modes);
  }
}

}  // namespace

Tensor resample(const Tensor& x, int64_t n) {
  require<DataError>(x.dim() >= 2 && x.size(-1) == x.size(-2), "[resample] expected a square grid, got {}",
                     shape_string(x));
  const int64_t from = x.size(-1);
  if (from == n) return x;
  const auto p = interpolation(from, n).to(x.options().requires_grad(false));
  return torch::matmul(torch::matmul(p, x), p.t());
}

Model on_grid(const Model& model, int64_t grid) {
  const int64_t own = model.latent_grid > 0 ? model.latent_grid : model.pde->grid();
  if (grid == model.pde->grid()) return model;
  check_transfer(model, own, grid);
  Model out = model;
  out.latent_grid = grid == own ? 0 : own;
  auto options = model.pde->options();
  options.grid = grid;
  out.pde = make_pde(options);
  return out;
}

}  // namespace piddm
