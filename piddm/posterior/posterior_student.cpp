#include "piddm/posterior/posterior_student.h"

#include "piddm/model/fno.h"
#include "piddm/posterior/noise.h"

namespace piddm {

namespace {

const HeadOptions& checked(const HeadOptions& heads, const Model& model) {
  require<UsageError>(!heads.band_limited,
                      "heads.band_limited: a posterior has no latent on the grid; its noise has "
                      "the modes of draw.modes");
  const auto* fno = dynamic_cast<const Fno*>(model.network.get());
  const int64_t conditions = posterior_conditions(*model.pde, model.draw);
  require<UsageError>(
      fno && fno->options().conditions == conditions && fno->options().channels == model.pde->num_channels(),
      "draw: the network of this posterior was not made for {} channels and {} conditions", model.pde->num_channels(),
      conditions);
  return heads;
}

}  // namespace

int64_t posterior_conditions(const Pde& pde, const DrawOptions& draw) {
  check_bounds(draw, "draw");
  require<UsageError>(draw.channels() > 0,
                      "draw: without a channel of noise all draws are the same; set draw.smooth = 4");
  return draw.channels() + encoding_channels(pde) - pde.num_channels();
}

PosteriorStudent::PosteriorStudent(const Model& model, const HeadOptions& heads)
    : network_(model.network),
      pde_(model.pde),
      draw_(model.draw),
      device_(model.device()),
      heads_(model, checked(heads, model)) {}

Tensor PosteriorStudent::noise(uint64_t seed, Stream stream, int64_t first, int64_t count) const {
  return draw_noise(draw_, pde_->grid(), seed, stream, first, count, device_);
}

Tensor PosteriorStudent::images(const Target& known, int64_t count) const {
  if (!known.empty()) return encode(footprints_of(known), *pde_);
  const auto& grid = pde_->grid();
  return torch::zeros({count, encoding_channels(*pde_), grid.height(), grid.width()}, torch::device(device_));
}

Tensor PosteriorStudent::operator()(const Tensor& noise, const Tensor& images) const {
  const auto t = torch::ones({1}, images.options().requires_grad(false));
  return heads_((*network_)(torch::cat({noise, images}, 1), t));
}

}  // namespace piddm
