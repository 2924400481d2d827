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

void check_transfer(const Model& model, const GridSize& own, const GridSize& grid) {
  require<UsageError>(model.kind != ModelKind::posterior,
                      "grid {}: single values are no function that could be carried to another grid; a posterior "
                      "answers on its own, {}",
                      grid.text(), own.text());
  require<UsageError>(model.kind == ModelKind::student,
                      "grid {}: only a student runs on another grid; this teacher belongs to {}", grid.text(),
                      own.text());
  const auto& network = *model.network;
  require<UsageError>(network.on_any_grid(),
                      "grid {}: a network of type '{}' is bound to the grid it was trained on, {}", grid.text(),
                      network.type(), own.text());
  const auto modes = network.modes();
  for (size_t axis = 0; axis < modes.size(); ++axis) {
    const int64_t most = modes[axis], trained = *(own.begin() + axis), points = *(grid.begin() + axis);
    require<UsageError>(points > most,
                        "grid {}: too coarse for the {} Fourier modes of the network; at least {} points", grid.text(),
                        most, most + 1);
    require<UsageError>(most <= trained,
                        "grid {}: the network was trained on {} points, which do not hold its {} Fourier modes; the "
                        "rest is untrained",
                        grid.text(), trained, most);
  }
}

/// Of one axis; undefined where its points stay as they are.
Tensor interpolation_like(const Tensor& x, int64_t from, int64_t to) {
  return from == to ? Tensor() : interpolation(from, to).to(x.options().requires_grad(false));
}

}  // namespace

Tensor resample(const Tensor& x, const GridSize& grid) {
  require<DataError>(x.dim() >= 2, "[resample] expected fields (...,H,W), got {}", shape_string(x));
  const auto rows = interpolation_like(x, x.size(-2), grid.height());
  const auto columns = interpolation_like(x, x.size(-1), grid.width());
  const auto y = rows.defined() ? torch::matmul(rows, x) : x;
  return columns.defined() ? torch::matmul(y, columns.t()) : y;
}

Model on_grid(const Model& model, const GridSize& grid) {
  const auto own = model.latent_grid.value_or(model.pde->grid());
  if (grid == model.pde->grid()) return model;
  check_transfer(model, own, grid);
  Model out = model;
  out.latent_grid = grid == own ? std::nullopt : std::optional(own);
  auto options = model.pde->options();
  options.grid = grid;
  out.pde = make_pde(options);
  return out;
}

}  // namespace piddm
