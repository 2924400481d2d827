#include "piddm/model/fno.h"

#include <cmath>

#include "piddm/model/inputs.h"
#include "piddm/ops/pointwise_mlp.h"

namespace piddm {

namespace {

void check_options(const FnoOptions& o) {
  check_bounds(o, "model");
  check_modes(o.modes);
  check_time_features(o.time_features);
  require<UsageError>(o.skip != 2, "model.skip: must be 1 or 3, is 2");
}

/// The 3x3 skip of activations [C, B H W].
Tensor convolved(const Tensor& h, const Tensor& skip, const SpectralBasis& grid) {
  const auto planes = h.view({h.size(0), -1, grid.height, grid.width}).transpose(0, 1);
  return apply_skip(planes, skip).transpose(0, 1).reshape({skip.size(0), -1});
}

std::vector<int64_t> skip_shape(const FnoOptions& o) {
  return o.skip == 1 ? std::vector<int64_t>{o.width, o.width} : std::vector<int64_t>{o.width, o.width, o.skip, o.skip};
}

}  // namespace

// In float64: phases go up to 2000, where float32 has lost four digits.
Tensor time_encoding(const Tensor& t, int64_t features) {
  const int64_t n = features / 2;
  const auto options = t.options().dtype(torch::kFloat64).requires_grad(false);
  const auto exponent = torch::arange(n, options) / static_cast<double>(n - 1);
  const auto frequency = 2000.0 * torch::pow(torch::full({}, 2000.0, options), -exponent);
  const auto phase = t.to(torch::kFloat64).view({-1, 1}) * frequency.view({1, n});
  return torch::cat({phase.sin(), phase.cos()}, 1).to(t.scalar_type());
}

Fno::Fno(const FnoOptions& options, uint64_t seed) : options_(options) {
  check_options(options_);
  ParameterDraw parameter(*this, seed);
  const auto& o = options_;
  const int64_t inputs = o.inputs() + 2 + o.time_features;
  lift1_ = parameter("lift1.weight", {o.lifting, inputs}, std::sqrt(1.0 / inputs));
  lift1_bias_ = parameter("lift1.bias", {o.lifting}, 0);
  lift2_ = parameter("lift2.weight", {o.width, o.lifting}, std::sqrt(1.0 / o.lifting));
  lift2_bias_ = parameter("lift2.bias", {o.width}, 0);
  // Spectral and pointwise path carry half of the variance each; real and imaginary part half of that.
  for (int64_t i = 0; i < o.layers; ++i) {
    const std::string name = "layers." + std::to_string(i) + ".";
    layers_.push_back(
        {parameter(name + "spectral", {o.modes[0], o.modes[1] / 2 + 1, 2, o.width, o.width}, std::sqrt(0.25 / o.width)),
         parameter(name + "skip", skip_shape(o), std::sqrt(0.5 / (o.width * o.skip * o.skip))),
         parameter(name + "bias", {o.width}, 0)});
  }
  project1_ = parameter("project1.weight", {o.projection, o.width}, std::sqrt(1.0 / o.width));
  project1_bias_ = parameter("project1.bias", {o.projection}, 0);
  project2_ = parameter("project2.weight", {o.channels, o.projection}, std::sqrt(1.0 / o.projection));
  project2_bias_ = parameter("project2.bias", {o.channels}, 0);
}

// Networks without conditions are written as they were before there were any.
json Fno::options_json() const {
  json out = write_fields(options_);
  if (options_.conditions == 0) out.erase("conditions");
  return out;
}

const Fno::Grid& Fno::grid(const Tensor& x) {
  const int64_t h = x.size(2), w = x.size(3);
  const auto key = fmt::format("{}x{} {} {} {}", h, w, c10::toString(x.scalar_type()), x.device().str(),
                               x.is_cuda() ? static_cast<int>(precision()) : 0);
  const auto found = grids_.find(key);
  if (found != grids_.end()) return found->second;
  const auto options = x.options().requires_grad(false);
  Grid made{{options_.modes[0], options_.modes[1], h, w, options}, coordinates_of(h, w, options), {}, {}};
  if (options_.spectral == SpectralForm::fused && fused_on_cpu(x)) made.on_cpu.emplace(made.basis);
  if (options_.spectral == SpectralForm::fused && fused_on_cuda(x,
                                                                {.inputs = options_.inputs() + 2,
                                                                 .outputs = options_.channels,
                                                                 .width = options_.width,
                                                                 .hidden_in = options_.lifting,
                                                                 .hidden_out = options_.projection,
                                                                 .kept2 = made.basis.kept2},
                                                                precision()))
    made.on_cuda.emplace(made.basis, x.device(), precision());
  return grids_.emplace(key, std::move(made)).first->second;
}

// Bias of each sample, W_t encoding(t) + b: [B or 1, lifting].
Tensor Fno::time_bias(const Tensor& t) const {
  const auto by_time = lift1_.narrow(1, options_.inputs() + 2, options_.time_features);
  return torch::addmm(lift1_bias_, time_encoding(t, options_.time_features), by_time.t());
}

Tensor Fno::lift(const Tensor& x, const Tensor& t, const Tensor& coordinates) const {
  const int64_t batch = x.size(0), inputs = options_.inputs(), points = coordinates.size(1);
  const auto fields = x.transpose(0, 1).reshape({inputs, batch, points});
  const auto input = torch::cat({fields, coordinates.unsqueeze(1).expand({2, batch, points})}, 0);
  const auto by_space = lift1_.narrow(1, 0, inputs + 2);
  const auto hidden =
      by_space.matmul(input.view({inputs + 2, -1})).view({-1, batch, points}) + time_bias(t).t().unsqueeze(2);
  return torch::addmm(lift2_bias_.unsqueeze(1), lift2_, torch::gelu(hidden).view({options_.lifting, -1}));
}

Tensor Fno::spectral(const Tensor& x, const LayerWeights& layer, const Grid& grid) const {
  return options_.spectral == SpectralForm::fft ? spectral_fft(x, layer.spectral)
                                                : spectral_gemm(x, layer.spectral, grid.basis);
}

// Activations are [B,C,H,W].
Tensor Fno::fused_cpu(const Tensor& x, const Tensor& t, const Grid& g) const {
  const int64_t batch = x.size(0), height = x.size(2), width = x.size(3), points = height * width;
  const auto by_space = lift1_.narrow(1, 0, options_.inputs() + 2);
  auto h = pointwise_mlp(x.reshape({batch, options_.inputs(), points}), g.coordinates,
                         {by_space, time_bias(t), lift2_, lift2_bias_});
  h = h.view({batch, options_.width, height, width});
  for (size_t i = 0; i < layers_.size(); ++i) h = spectral_layer(h, layers_[i], *g.on_cpu, i + 1 < layers_.size());
  h = pointwise_mlp(h.view({batch, options_.width, points}), g.coordinates.narrow(0, 0, 0),
                    {project1_, project1_bias_.unsqueeze(0), project2_, project2_bias_});
  return h.view({batch, options_.channels, height, width});
}

Tensor Fno::fused_cuda(const Tensor& x, const Tensor& t, const Grid& g) const {
  const auto by_space = lift1_.narrow(1, 0, options_.inputs() + 2);
  const auto by_time = lift1_.narrow(1, options_.inputs() + 2, options_.time_features);
  const bool learning = torch::GradMode::is_enabled() && lift1_.requires_grad();
  const auto bias = learning || t.requires_grad() ? time_bias(t) : time_bias_on_cuda(t, by_time, lift1_bias_);
  const FnoWeights weights{{by_space, bias, lift2_, lift2_bias_},
                           layers_,
                           {project1_, project1_bias_.unsqueeze(0), project2_, project2_bias_}};
  return fused_fno(x, g.coordinates, weights, *g.on_cuda, precision(), options_.recompute);
}

// Activations are [C,B,H,W].
Tensor Fno::composed(const Tensor& x, const Tensor& t, const Grid& g) const {
  const int64_t batch = x.size(0), height = x.size(2), width = x.size(3), channels = options_.width;
  auto h = lift(x, t, g.coordinates);  // [width, B H W]
  for (size_t i = 0; i < layers_.size(); ++i) {
    const auto& layer = layers_[i];
    const auto k = spectral(h.view({channels, batch, height, width}), layer, g).reshape({channels, -1});
    const auto z = k + layer.bias.unsqueeze(1);
    h = layer.local() ? z + convolved(h, layer.skip, g.basis) : torch::addmm(z, layer.skip, h);
    if (i + 1 < layers_.size()) h = torch::gelu(h);
  }
  h = torch::gelu(torch::addmm(project1_bias_.unsqueeze(1), project1_, h));
  h = torch::addmm(project2_bias_.unsqueeze(1), project2_, h);
  return h.view({options_.channels, batch, height, width}).transpose(0, 1);
}

bool Fno::takes_gradient(const Tensor& x) const {
  return options_.inputs() <= cuda::kMaxOutputs || !x.requires_grad() || !torch::GradMode::is_enabled();
}

Tensor Fno::forward(const Tensor& x, const Tensor& t) {
  check_inputs("fno", x, t, options_.inputs());
  const auto& g = grid(x);
  if (g.on_cuda && takes_gradient(x)) return fused_cuda(x, t, g);
  return g.on_cpu ? fused_cpu(x, t, g) : composed(x, t, g);
}

}  // namespace piddm
