#include "piddm/numerics/random_fields/gaussian_conditioning.h"

#include "piddm/core/error.h"

namespace piddm {

CgResult condition_gaussian(const GaussianMap& map, const NoisyValues& data, const LinearMap& preconditioner,
                            const PosteriorNoise& noise, const CgOptions& options) {
  require<DataError>(data.values.sizes() == data.precision.sizes(),
                     "[gaussian conditioning] values {} and precisions {} do not fit", shape_string(data.values),
                     shape_string(data.precision));
  const torch::NoGradGuard no_grad;
  const Tensor& w = data.precision;
  Tensor weighted = torch::where(w > 0, w * data.values, torch::zeros_like(w));
  if (noise.eta.defined()) weighted = weighted + w.sqrt() * noise.eta;
  Tensor b = map.transposed(weighted);
  if (noise.xi.defined()) b = b + noise.xi;
  const auto hessian = [&](const Tensor& xi) { return xi + map.transposed(w * map.apply(xi)); };
  return conjugate_gradient(hessian, preconditioner, b, {}, options);
}

}  // namespace piddm
