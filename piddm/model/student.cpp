#include "piddm/model/student.h"

#include <algorithm>

#include "piddm/model/grid_transfer.h"

namespace piddm {

namespace {

std::unique_ptr<SpectralBasis> basis_of(const Model& model, const HeadOptions& heads) {
  require<UsageError>(heads.band_modes == 0 || heads.band_limited, "heads.band_modes: needs heads.band_limited");
  if (!heads.band_limited) return nullptr;
  auto modes = model.network->modes();
  require<UsageError>(!modes.empty(), "heads.band_limited: a network of type '{}' has no Fourier modes",
                      model.network->type());
  if (heads.band_modes > 0)
    for (auto& m : modes) m = std::min(m, heads.band_modes);
  const auto options = model.network->parameters().front().options().requires_grad(false);
  return std::make_unique<SpectralBasis>(modes[0], modes[1], model.pde->grid().height(), model.pde->grid().width(),
                                         options);
}

}  // namespace

Student::Student(const Model& model, const HeadOptions& heads)
    : network_(model.network),
      process_(model.process),
      grid_(model.pde->grid()),
      evaluations_(heads.evaluations),
      basis_(basis_of(model, heads)),
      heads_(model, heads) {}

// t_i = 1 - i (1 - t_end)/N
Tensor Student::estimate(const Tensor& e) const {
  const auto on_own_grid = resample(e, grid_);
  auto x = basis_ ? band_limit(on_own_grid, *basis_) : on_own_grid;
  const double dt = (1 - process_->t_end()) / static_cast<double>(evaluations_);
  for (int64_t i = 0;; ++i) {
    const auto t = torch::full({1}, 1 - static_cast<double>(i) * dt, x.options().requires_grad(false));
    const auto v = (*network_)(x, t);
    if (i + 1 == evaluations_) return process_->clean(x, v, t);
    x = x - dt * v;
  }
}

Tensor Student::operator()(const Tensor& e) const { return heads_(estimate(e)); }

}  // namespace piddm
