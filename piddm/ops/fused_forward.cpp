#include "piddm/ops/fused_forward.h"

#include "piddm/core/cuda.h"
#include "piddm/ops/local_skip.h"

namespace piddm {

FusedForward::FusedForward(const Tensor& x, const Tensor& coordinates, const FnoWeights& w, const FusedPlan& plan,
                           Precision precision)
    : x_(x), coordinates_(coordinates), w_(w), plan_(plan), precision_(precision), device_(x.device()) {
  s_ = {.batch = x.size(0),
        .inputs = x.size(1),
        .outputs = w.project.w2.size(0),
        .fixed = coordinates.size(0),
        .height = x.size(2),
        .width = x.size(3),
        .channels = w.lift.w2.size(0),
        .points = x.size(2) * x.size(3),
        .layers = static_cast<int64_t>(w.layers.size()),
        .hidden_in = w.lift.w1.size(0),
        .hidden_out = w.project.w1.size(0),
        .kept1 = plan.kept1,
        .kept2 = plan.kept2,
        .padded = cuda::padded_channels(as_int(w.lift.w2.size(0))),
        .padded_in = cuda::round_up(as_int(w.lift.w1.size(0)), 16),
        .padded_out = cuda::round_up(as_int(w.project.w1.size(0)), 16)};
}

Tensor FusedForward::run(FusedKept* kept, bool recompute) {
  pack_forward();
  auto h = activation();
  lift(h);
  auto words = this->words();
  analyse(plan_.analysis, plan_.mean, h, words);
  for (int64_t l = 0; l < s_.layers; ++l) {
    if (kept) kept->inputs.push_back(recompute && l % 2 == 1 ? Tensor() : h);
    const auto modes = this->modes();
    to_modes(words, modes);
    if (kept) kept->modes.push_back(modes);
    auto z = kept ? activation() : h;
    layer(l, h, modes, z, l + 1 < s_.layers ? words : Tensor());
    h = z;
  }
  if (kept) kept->inputs.push_back(h);
  return project(h);
}

cuda::Stream FusedForward::stream() const {
  if constexpr (cuda::kBuilt) return cuda::current_stream();
  return nullptr;
}

Tensor FusedForward::job(const Tensor& view, int64_t padded_depth, int64_t padded_columns, bool wide_k, bool wide_n,
                         bool activated) {
  auto target = gpu_storage({padded_depth, padded_columns}, device_, precision_);
  jobs_.push_back(pack_job(view, target, wide_k, wide_n, activated));
  return target;
}

void FusedForward::run_jobs() {
  if constexpr (cuda::kBuilt) cuda::pack(precision_, jobs_, stream());
  jobs_.clear();
}

void FusedForward::pack_forward() {
  const auto& l = w_.lift;
  const auto& p = w_.project;
  packed_.lift1 = job(l.w1.t(), 16, s_.padded_in, false, false);
  packed_.lift2 = job(l.w2.t(), s_.padded_in, s_.padded, false, true, true);
  packed_.project1 = job(p.w1.t(), s_.padded, s_.padded_out, true, false);
  packed_.project2 = job(p.w2.t(), s_.padded_out, 8, false, false, true);
  for (size_t i = 0; i < w_.layers.size(); ++i)
    packed_.skip.push_back(
        w_.layers[i].local() ? Tensor() : job(w_.layers[i].skip.t(), s_.padded, s_.padded, false, false, i > 0));
  run_jobs();
}

Tensor FusedForward::interleaved(const Tensor& fields, bool with_coordinates) const {
  const int count = as_int(fields.size(1)), fixed = with_coordinates ? as_int(s_.fixed) : 0;
  const int width = cuda::narrow_width(count + fixed);
  auto out = gpu_storage({s_.batch, s_.points, width}, device_, precision_);
  if constexpr (cuda::kBuilt)
    cuda::interleave(precision_,
                     {.batch = as_int(s_.batch),
                      .count = count,
                      .fixed = fixed,
                      .width = width,
                      .points = s_.points,
                      .fields = floats(fields),
                      .coordinates = floats(coordinates_),
                      .out = out.data_ptr()},
                     stream());
  return out;
}

void FusedForward::lift(const Tensor& h) {
  const auto input = interleaved(x_, true);
  const cuda::Lift l{.batch = as_int(s_.batch),
                     .narrow = as_int(input.size(2)),
                     .hidden = as_int(s_.hidden_in),
                     .channels = as_int(s_.channels),
                     .points = s_.points,
                     .bias_per_sample = w_.lift.bias1.size(0) > 1,
                     .x = input.data_ptr(),
                     .bias1 = floats(w_.lift.bias1),
                     .bias2 = floats(w_.lift.bias2),
                     .w1 = packed_.lift1.data_ptr(),
                     .w2 = packed_.lift2.data_ptr(),
                     .y = h.data_ptr()};
  if constexpr (cuda::kBuilt) cuda::lift(precision_, l, stream());
}

Tensor FusedForward::project(const Tensor& z) {
  auto y = torch::empty({s_.batch, s_.outputs, s_.height, s_.width}, x_.options().requires_grad(false));
  const cuda::Project p{.batch = as_int(s_.batch),
                        .hidden = as_int(s_.hidden_out),
                        .channels = as_int(s_.channels),
                        .outputs = as_int(s_.outputs),
                        .points = s_.points,
                        .x = z.data_ptr(),
                        .bias1 = floats(w_.project.bias1),
                        .bias2 = floats(w_.project.bias2),
                        .w1 = packed_.project1.data_ptr(),
                        .w2 = packed_.project2.data_ptr(),
                        .y = y.data_ptr<float>()};
  if constexpr (cuda::kBuilt) cuda::project(precision_, p, stream());
  return y;
}

void FusedForward::analyse(const Tensor& basis, double scale, const Tensor& x, const Tensor& words) {
  const cuda::Analysis a{.rows = s_.batch * s_.height,
                         .width = as_int(s_.width),
                         .channels = as_int(s_.channels),
                         .kept2 = as_int(s_.kept2),
                         .scale = static_cast<float>(scale),
                         .x = x.data_ptr(),
                         .basis = basis.data_ptr(),
                         .words = words.data_ptr()};
  if constexpr (cuda::kBuilt) cuda::analyse(precision_, a, stream());
}

void FusedForward::to_modes(const Tensor& words, const Tensor& modes) {
  along_h(words, plan_.to_modes, modes, s_.height, s_.kept1, {words.stride(1), words.stride(0), words.stride(2)},
          {modes.stride(0), modes.stride(2), modes.stride(1)});
}

void FusedForward::to_grid(const Tensor& modes, const Tensor& words) {
  along_h(modes, plan_.to_grid, words, s_.kept1, s_.height, {modes.stride(0), modes.stride(2), modes.stride(1)},
          {words.stride(1), words.stride(0), words.stride(2)});
}

void FusedForward::along_h(const Tensor& in, const Tensor& basis, const Tensor& out, int64_t n_in, int64_t n_out,
                           std::array<int64_t, 3> from, std::array<int64_t, 3> to) {
  const cuda::AlongH a{.batch = as_int(s_.batch),
                       .kept2 = as_int(s_.kept2),
                       .channels = as_int(s_.channels),
                       .n_in = as_int(n_in),
                       .n_out = as_int(n_out),
                       .in_i = from[0] / 2,
                       .in_b = from[1] / 2,
                       .in_k2 = from[2] / 2,
                       .out_j = to[0] / 2,
                       .out_b = to[1] / 2,
                       .out_k2 = to[2] / 2,
                       .in = in.data_ptr(),
                       .basis = basis.data_ptr(),
                       .out = out.data_ptr()};
  if constexpr (cuda::kBuilt) cuda::transform(precision_, a, stream());
}

Tensor FusedForward::mixed(const Tensor& weight, const Tensor& in, bool adjoint) {
  auto out = modes();
  auto m = mixing<cuda::ModeMixing>(weight);
  m.adjoint = adjoint;
  m.weight = floats(weight);
  m.in = in.data_ptr();
  m.out = out.data_ptr();
  if constexpr (cuda::kBuilt) cuda::mix(precision_, m, stream());
  return out;
}

Tensor FusedForward::activated(int64_t l, const Tensor& input) const { return l > 0 ? torch::gelu(input) : input; }

void FusedForward::layer(int64_t l, const Tensor& input, const Tensor& modes, const Tensor& z, const Tensor& next) {
  const bool local = w_.layers[l].local();
  const auto x = local ? local_skip(activated(l, input), w_.layers[l].skip, precision_) : input;
  const auto words = next.defined() ? next : this->words();
  to_grid(mixed(w_.layers[l].spectral, modes, false), words);
  const cuda::LayerForward f{.rows = s_.batch * s_.height,
                             .width = as_int(s_.width),
                             .channels = as_int(s_.channels),
                             .kept2 = as_int(s_.kept2),
                             .activate = l > 0,
                             .given = local,
                             .scale = static_cast<float>(plan_.mean),
                             .x = x.data_ptr(),
                             .words = words.data_ptr(),
                             .synthesis = plan_.synthesis.data_ptr(),
                             .analysis = plan_.analysis_activated.data_ptr(),
                             .skip = local ? nullptr : packed_.skip[l].data_ptr(),
                             .bias = floats(w_.layers[l].bias),
                             .z = z.data_ptr(),
                             .next = next.defined() ? next.data_ptr() : nullptr};
  if constexpr (cuda::kBuilt) cuda::layer_forward(precision_, f, stream());
}

}  // namespace piddm
