#include "piddm/model/ffno.h"

#include <cmath>

#include "piddm/model/fno.h"
#include "piddm/model/inputs.h"

namespace piddm {

namespace {

const FfnoOptions& checked(const FfnoOptions& o) {
  check_bounds(o, "model");
  check_modes(o.modes);
  check_time_features(o.time_features);
  return o;
}

// K along the last axis of x [C,B,R,N]: every row is a grid of one line for spectral_gemm, whose only k1 is 0.
Tensor along_last(const Tensor& x, const Tensor& weight, const SpectralBasis& line) {
  const auto rows = x.reshape({x.size(0), -1, 1, x.size(3)});
  return spectral_gemm(rows, weight.unsqueeze(0).expand({line.first1 + 1, -1, -1, -1, -1}), line).view(x.sizes());
}

}  // namespace

Ffno::Ffno(const FfnoOptions& options, uint64_t seed) : options_(checked(options)), draw_(*this, seed) {
  const auto& o = options_;
  lift_ = make_mlp("lift", o.channels + 2 + o.time_features, o.lifting, o.width);
  // The axes carry half of the variance each; real and imaginary part half of that.
  const double std = std::sqrt(0.25 / static_cast<double>(o.width));
  for (int64_t i = 0; i < o.layers; ++i) {
    const auto name = fmt::format("layers.{}.", i);
    layers_.push_back({draw_(name + "along_x", {o.modes[0] / 2 + 1, 2, o.width, o.width}, std),
                       draw_(name + "along_y", {o.modes[1] / 2 + 1, 2, o.width, o.width}, std),
                       make_mlp(name, o.width, o.hidden, o.width, 1 / std::sqrt(static_cast<double>(o.layers)))});
  }
  project_ = make_mlp("project", o.width, o.projection, o.channels);
}

MlpWeights Ffno::make_mlp(const std::string& name, int64_t in, int64_t hidden, int64_t out, double gain) {
  return {draw_(name + "1.weight", {hidden, in}, std::sqrt(1.0 / static_cast<double>(in))),
          draw_(name + "1.bias", {hidden}, 0),
          draw_(name + "2.weight", {out, hidden}, gain * std::sqrt(1.0 / static_cast<double>(hidden))),
          draw_(name + "2.bias", {out}, 0)};
}

const Ffno::Grid& Ffno::grid(const Tensor& x) {
  const int64_t h = x.size(2), w = x.size(3);
  const auto key = fmt::format("{}x{} {} {}", h, w, c10::toString(x.scalar_type()), x.device().str());
  const auto found = grids_.find(key);
  if (found != grids_.end()) return found->second;
  const auto options = x.options().requires_grad(false);
  Grid made{
      {2, options_.modes[1], 1, w, options}, {2, options_.modes[0], 1, h, options}, coordinates_of(h, w, options)};
  return grids_.emplace(key, std::move(made)).first->second;
}

Tensor Ffno::mlp(const Tensor& x, const Tensor& coordinates, const MlpWeights& weights) const {
  return options_.fused && fused_on_cpu(x) ? pointwise_mlp(x, coordinates, weights)
                                           : pointwise_mlp_formula(x, coordinates, weights);
}

// [width,B,H,W].
Tensor Ffno::lift(const Tensor& x, const Tensor& t, const Grid& g) const {
  const int64_t batch = x.size(0), channels = options_.channels;
  const auto by_space = lift_.w1.narrow(1, 0, channels + 2);
  const auto by_time = lift_.w1.narrow(1, channels + 2, options_.time_features);
  const auto bias = torch::addmm(lift_.bias1, time_encoding(t, options_.time_features), by_time.t());
  const auto h = mlp(x.reshape({batch, channels, -1}), g.coordinates, {by_space, bias, lift_.w2, lift_.bias2});
  return h.view({batch, options_.width, x.size(2), x.size(3)}).transpose(0, 1).contiguous();
}

// The MLP takes all points of the batch as one sample's.
Tensor Ffno::layer(const Tensor& x, const Layer& w, const Grid& g) const {
  const auto by_x = along_last(x.transpose(2, 3).contiguous(), w.along_x, g.columns).transpose(2, 3);
  const auto mixed = along_last(x, w.along_y, g.rows) + by_x;
  const MlpWeights weights{w.mlp.w1, w.mlp.bias1.unsqueeze(0), w.mlp.w2, w.mlp.bias2};
  const auto points = mixed.reshape({1, options_.width, -1});
  return x + mlp(points, g.coordinates.new_empty({0, points.size(2)}), weights).view(x.sizes());
}

Tensor Ffno::forward(const Tensor& x, const Tensor& t) {
  check_inputs("ffno", x, t, options_.channels);
  const auto& g = grid(x);
  auto h = lift(x, t, g);
  for (const auto& weights : layers_) h = layer(h, weights, g);
  const MlpWeights out{project_.w1, project_.bias1.unsqueeze(0), project_.w2, project_.bias2};
  const auto points = h.view({1, options_.width, -1});
  const auto y = mlp(points, g.coordinates.new_empty({0, points.size(2)}), out);
  return y.view({options_.channels, x.size(0), x.size(2), x.size(3)}).transpose(0, 1);
}

}  // namespace piddm
