#include "piddm/lab/mlp.h"

#include <cmath>

#include "piddm/core/rng.h"

namespace piddm {

Mlp::Mlp(const MlpOptions& options, uint64_t seed) : options_(options) {
  require<UsageError>(options.dimension >= 1 && options.width >= 1 && options.layers >= 1,
                      "mlp: every size must be at least 1");
  for (int64_t i = 0; i <= options.layers; ++i) {
    const int64_t in = i == 0 ? options.dimension + (options.time ? 1 : 0) : options.width;
    const int64_t out = i == options.layers ? options.dimension : options.width;
    const auto draw = (2 * uniform(seed, Stream::parameters, i, 1, {out * (in + 1)}).flatten() - 1) / std::sqrt(in);
    maps_.emplace_back(register_parameter(fmt::format("weight{}", i), draw.narrow(0, 0, out * in).reshape({out, in})),
                       register_parameter(fmt::format("bias{}", i), draw.narrow(0, out * in, out).clone()));
  }
}

Tensor Mlp::forward(const Tensor& x, const Tensor& t) {
  auto h = x.flatten(1);
  if (options_.time) h = torch::cat({h, t.to(x.dtype()).view({-1, 1}).expand({x.size(0), 1})}, 1);
  for (size_t i = 0; i < maps_.size(); ++i)
    h = torch::addmm(maps_[i].second, i == 0 ? h : torch::relu(h), maps_[i].first.t());
  return h.view(x.sizes());
}

}  // namespace piddm
