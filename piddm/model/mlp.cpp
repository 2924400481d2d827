#include "piddm/model/mlp.h"

#include <cmath>

#include "piddm/core/rng.h"
#include "piddm/model/inputs.h"

namespace piddm {

Mlp::Mlp(const MlpOptions& o, uint64_t seed) : options_(o) {
  check_bounds(o, "model");
  const int64_t entries = o.channels * o.points;
  ParameterCount count;
  for (int64_t i = 0; i <= o.layers; ++i) {
    const int64_t in = i == 0 ? entries + (o.time ? 1 : 0) : o.width;
    const int64_t out = i == o.layers ? entries : o.width;
    count.add({out, in + 1});
    const auto draw = (2 * uniform(seed, Stream::parameters, i, 1, {out * (in + 1)}).flatten() - 1) / std::sqrt(in);
    // copies: the references that register_parameter returns end with the next one
    const Tensor weight =
        register_parameter(fmt::format("weight{}", i), draw.narrow(0, 0, out * in).reshape({out, in}));
    const Tensor bias = register_parameter(fmt::format("bias{}", i), draw.narrow(0, out * in, out).clone());
    maps_.emplace_back(weight, bias);
  }
}

Tensor Mlp::forward(const Tensor& x, const Tensor& t) {
  check_inputs("mlp", x, t, options_.channels);
  require<DataError>(x.size(2) * x.size(3) == options_.points, "[mlp] made for {} points (model.points), got {}",
                     options_.points, shape_string(x));
  auto h = x.flatten(1);
  if (options_.time) h = torch::cat({h, t.to(x.dtype()).view({-1, 1}).expand({x.size(0), 1})}, 1);
  for (size_t i = 0; i < maps_.size(); ++i)
    h = torch::addmm(maps_[i].second, i == 0 ? h : torch::relu(h), maps_[i].first.t());
  return h.view(x.sizes());
}

}  // namespace piddm
