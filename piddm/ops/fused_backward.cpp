#include "piddm/ops/fused_backward.h"

#include <tuple>

#include "piddm/ops/local_skip.h"

namespace piddm {

FusedGradients FusedBackward::run(FusedKept& kept, const Tensor& dy, bool want_x, bool want_weights) {
  pack_backward();
  FusedGradients g;
  auto dz = activation();
  g.weights.project = project_backward(kept.inputs.back(), dy, dz, want_weights);
  kept.inputs.back() = Tensor();
  g.weights.layers.resize(s_.layers);
  auto words = this->words();
  analyse(plan_.analysis_adjoint, 1, dz, words);
  Tensor at_zero;  // of the gradient of h_0: its sum over the grid comes from the zero mode
  for (int64_t l = s_.layers - 1; l >= 0; --l) {
    const auto input = input_of(l, kept);
    at_zero = layer_backward(l, input, kept.modes[l], dz, words, want_weights ? &g.weights.layers[l] : nullptr);
    kept.inputs[l] = Tensor();
  }
  std::tie(g.x, g.weights.lift) = lift_backward(dz, want_x, want_weights);
  if (want_weights) g.weights.lift.bias2 = at_zero;
  return g;
}

void FusedBackward::pack_backward() {
  const auto& l = w_.lift;
  const auto& p = w_.project;
  pack_forward();  // the hidden layers, and layers that are computed again
  packed_back_.lift2_t = job(l.w2, s_.padded, s_.padded_in, true, false);
  packed_back_.lift2_t_natural = job(l.w2, s_.padded, s_.padded_in, false, false);
  packed_back_.project1_natural = job(p.w1.t(), s_.padded, s_.padded_out, false, false);
  packed_back_.lift1_back = job(l.w1.narrow(1, 0, s_.inputs), s_.padded_in, 8, false, false);
  packed_back_.project2_t = job(p.w2, 16, s_.padded_out, false, false);
  packed_back_.project1_back = job(p.w1, s_.padded_out, s_.padded, false, true);
  for (const auto& layer : w_.layers)
    packed_back_.skip.push_back(layer.local() ? Tensor() : job(layer.skip, s_.padded, s_.padded, false, false));
  run_jobs();
}

Tensor FusedBackward::input_of(int64_t l, const FusedKept& kept) {
  if (kept.inputs[l].defined()) return kept.inputs[l];
  auto z = activation();
  layer(l - 1, kept.inputs[l - 1], kept.modes[l - 1], z, {});
  return z;
}

cuda::MlpBackward FusedBackward::mlp(bool lifting, const Tensor& narrow, const Tensor& wide) const {
  const auto& w = lifting ? w_.lift : w_.project;
  const auto& p = packed_;
  const auto& back = packed_back_;
  return {.lifting = lifting,
          .batch = as_int(s_.batch),
          .narrow = as_int(narrow.size(2)),
          .hidden = as_int(w.w1.size(0)),
          .channels = as_int(s_.channels),
          .inputs = as_int(s_.inputs),
          .points = s_.points,
          .bias_per_sample = w.bias1.size(0) > 1,
          .bias1 = floats(w.bias1),
          .narrow_side = narrow.data_ptr(),
          .wide_side = wide.data_ptr(),
          .narrow_weight = (lifting ? p.lift1 : back.project2_t).data_ptr(),
          .wide_weight = (lifting ? back.lift2_t : p.project1).data_ptr(),
          .wide_weight_natural = (lifting ? back.lift2_t_natural : back.project1_natural).data_ptr(),
          .back_weight = (lifting ? back.lift1_back : back.project1_back).data_ptr(),
          .dx = nullptr,
          .wide_sums = nullptr,
          .narrow_sums = nullptr,
          .bias_sums = nullptr};
}

std::array<Tensor, 3> FusedBackward::weight_sums(cuda::MlpBackward m) {
  if constexpr (cuda::kBuilt) {
    const auto options = torch::dtype(torch::kFloat32).device(device_);
    const int blocks = cuda::mlp_gradient_blocks(precision_, m), slices = cuda::mlp_gradient_slices(m);
    auto wide = torch::empty({blocks, m.hidden, m.channels}, options);
    auto narrow = torch::empty({blocks, m.hidden, cuda::kMaxInputs}, options);
    auto bias = torch::empty({slices, m.batch, m.hidden}, options);
    m.wide_sums = wide.data_ptr<float>();
    m.narrow_sums = narrow.data_ptr<float>();
    m.bias_sums = bias.data_ptr<float>();
    cuda::mlp_weight_gradient(precision_, m, stream());
    return {wide.sum(0), narrow.sum(0), bias.sum(0)};
  }
  return {};
}

MlpWeights FusedBackward::project_backward(const Tensor& z, const Tensor& dy, const Tensor& dz, bool want_weights) {
  const auto narrow_side = interleaved(dy, false);
  auto m = mlp(false, narrow_side, z);
  m.dx = dz.data_ptr();
  if constexpr (cuda::kBuilt) cuda::mlp_input_gradient(precision_, m, stream());
  if (!want_weights) return {};
  const auto [wide, narrow, bias] = weight_sums(m);
  return {wide, bias.sum(0, true), narrow.narrow(1, 0, s_.outputs).t().contiguous(), dy.sum({0, 2, 3})};
}

std::pair<Tensor, MlpWeights> FusedBackward::lift_backward(const Tensor& dh, bool want_x, bool want_weights) {
  const auto narrow_side = interleaved(x_, true);
  auto m = mlp(true, narrow_side, dh);
  Tensor dx;
  if (want_x) {
    dx = torch::empty(x_.sizes(), x_.options().requires_grad(false));
    m.dx = dx.data_ptr();
    if constexpr (cuda::kBuilt) cuda::mlp_input_gradient(precision_, m, stream());
  }
  if (!want_weights) return {dx, {}};
  const auto [wide, narrow, bias] = weight_sums(m);
  return {dx,
          {narrow.narrow(1, 0, s_.inputs + s_.fixed).contiguous(), m.bias_per_sample ? bias : bias.sum(0, true),
           wide.t().contiguous(), Tensor()}};
}

Tensor FusedBackward::layer_backward(int64_t l, const Tensor& input, const Tensor& modes, const Tensor& dz,
                                     const Tensor& words, LayerWeights* gradient) {
  const auto& w = w_.layers[l];
  const auto dy_hat = this->modes();
  to_modes(words, dy_hat);
  if (gradient) {
    gradient->spectral = spectral_gradient(w.spectral, modes, dy_hat);
    gradient->bias = zero_mode(dy_hat);
  }
  const auto dx_hat = mixed(w.spectral, dy_hat, true);
  to_grid(dx_hat, words);
  const auto through = w.local() ? local_skip_backward(dz, activated(l, input), w.skip, precision_, gradient != nullptr)
                                 : std::pair{dz, Tensor()};
  cuda::LayerBackward b{.rows = s_.batch * s_.height,
                        .width = as_int(s_.width),
                        .channels = as_int(s_.channels),
                        .kept2 = as_int(s_.kept2),
                        .activate = l > 0,
                        .given = w.local(),
                        .dz = through.first.data_ptr(),
                        .x = input.data_ptr(),
                        .words = words.data_ptr(),
                        .synthesis = plan_.synthesis_adjoint.data_ptr(),
                        .analysis = plan_.analysis_adjoint.data_ptr(),
                        .skip = w.local() ? nullptr : packed_back_.skip[l].data_ptr(),
                        .dx = dz.data_ptr(),
                        .next = l > 0 ? words.data_ptr() : nullptr,
                        .dskip = nullptr};
  if constexpr (cuda::kBuilt) {
    Tensor shares;
    if (gradient && !w.local()) {
      shares = torch::empty({cuda::layer_backward_blocks(precision_, b), s_.channels, s_.channels},
                            torch::dtype(torch::kFloat32).device(device_));
      b.dskip = shares.data_ptr<float>();
    }
    cuda::layer_backward(precision_, b, stream());
    if (gradient) gradient->skip = w.local() ? through.second : shares.sum(0);
  }
  if (l > 0 || !gradient) return {};
  const auto by_skip = w.local() ? through.first.sum(at::IntArrayRef{0, 1, 2}, false, torch::kFloat32)
                                 : torch::mv(w.skip.t(), gradient->bias);
  return zero_mode(dx_hat) + by_skip;
}

Tensor FusedBackward::zero_mode(const Tensor& modes) const {
  return modes.select(0, -plan_.lowest1).select(0, 0).select(2, 0).to(torch::kFloat32).sum(0);
}

Tensor FusedBackward::spectral_gradient(const Tensor& weight, const Tensor& x, const Tensor& dy) {
  const bool all = s_.kept1 == weight.size(0) && s_.kept2 == weight.size(1);
  auto gradient = all ? torch::empty_like(weight) : torch::zeros_like(weight);
  auto m = mixing<cuda::ModeGradient>(weight);
  m.x = x.data_ptr();
  m.dy = dy.data_ptr();
  m.dweight = gradient.data_ptr<float>();
  if constexpr (cuda::kBuilt) cuda::mix_gradient(precision_, m, stream());
  return gradient;
}

}  // namespace piddm
