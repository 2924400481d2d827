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
      basis_(basis_of(model, heads)),
      heads_(model, heads) {}

Tensor Student::operator()(const Tensor& e) const {
  const auto on_own_grid = resample(e, grid_);
  const auto latent = basis_ ? band_limit(on_own_grid, *basis_) : on_own_grid;
  const auto t = torch::ones({1}, latent.options().requires_grad(false));
  return heads_(process_->clean(latent, (*network_)(latent, t), t));
}

}  // namespace piddm
