#include "piddm/ops/fused_fno.h"

#include <algorithm>
#include <array>

#include "piddm/core/cuda.h"
#include "piddm/core/error.h"
#include "piddm/cuda/fno.h"

namespace piddm {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

const float* floats(const Tensor& x) { return x.data_ptr<float>(); }
int as_int(int64_t n) { return static_cast<int>(n); }

/// The weights as the kernels want them: every matrix in the orientation of each product it takes part in.
struct PackedWeights {
  Tensor lift1, lift2, project1, project2;                ///< forward
  Tensor lift2_t, lift1_back, project2_t, project1_back;  ///< backward
  Tensor lift2_t_natural, project1_natural;               ///< gradients of the weights
  std::vector<Tensor> skip, skip_back;
};

struct Sizes {
  int64_t batch, inputs, outputs, fixed, height, width, channels, points, layers, hidden_in, hidden_out, kept1, kept2;
  int padded, padded_in, padded_out;
};

/// The three passes over one batch. Tensors it holds are those of the weights' or the activations' storage.
class Pass {
 public:
  Pass(const Tensor& x, const Tensor& coordinates, const FnoWeights& w, const FusedPlan& plan, Precision precision)
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

  struct Kept {
    std::vector<Tensor>
        inputs;  ///< of each layer, before the activation; then the last layer's z. Undefined where not kept
    std::vector<Tensor> modes;  ///< of each layer's input
  };

  Tensor forward(Kept* kept, bool recompute) {
    pack_forward();
    auto h = activation();
    lift(h);
    auto words = this->words();
    analyse(h, words);
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

  struct Gradients {
    Tensor x;
    FnoWeights weights;
  };

  Gradients backward(Kept& kept, const Tensor& dy, bool want_x, bool want_weights) {
    pack_backward();
    Gradients g;
    auto dz = activation();
    g.weights.project = project_backward(kept.inputs.back(), dy, dz, want_weights);
    kept.inputs.back() = Tensor();
    g.weights.layers.resize(s_.layers);
    auto words = this->words();
    analyse_adjoint(dz, words);
    Tensor at_zero;  // of the gradient of h_0: its sum over the grid comes from the zero mode
    for (int64_t l = s_.layers - 1; l >= 0; --l) {
      const auto input = input_of(l, kept);
      at_zero = layer_backward(l, input, kept.modes[l], dz, words, want_weights ? &g.weights.layers[l] : nullptr);
      kept.inputs[l] = Tensor();
    }
    std::tie(g.x, g.weights.lift) = lift_backward(dz, want_x, want_weights);
    if (want_weights) g.weights.lift.bias2 = at_zero + torch::mv(w_.layers[0].skip.t(), g.weights.layers[0].bias);
    return g;
  }

 private:
  cuda::Stream stream() const {
    if constexpr (cuda::kBuilt) return cuda::current_stream();
    return nullptr;
  }
  Tensor activation() const { return gpu_storage({s_.batch, s_.height, s_.width, s_.channels}, device_, precision_); }
  Tensor words() const { return gpu_storage({s_.batch, s_.height, s_.kept2, s_.channels, 2}, device_, precision_); }
  Tensor modes() const { return gpu_storage({s_.kept1, s_.kept2, s_.batch, s_.channels, 2}, device_, precision_); }

  /// Adds a job: B[k,n] = source(k,n) of a [depth, columns] view.
  Tensor job(const Tensor& view, int64_t padded_depth, int64_t padded_columns, bool wide_k, bool wide_n,
             bool activated = false) {
    auto target = gpu_storage({padded_depth, padded_columns}, device_, precision_);
    jobs_.push_back(pack_job(view, target, wide_k, wide_n, activated));
    return target;
  }
  void run_jobs() {
    if constexpr (cuda::kBuilt) cuda::pack(precision_, jobs_, stream());
    jobs_.clear();
  }

  void pack_forward() {
    const auto& l = w_.lift;
    const auto& p = w_.project;
    packed_.lift1 = job(l.w1.t(), 16, s_.padded_in, false, false);
    packed_.lift2 = job(l.w2.t(), s_.padded_in, s_.padded, false, true, true);
    packed_.project1 = job(p.w1.t(), s_.padded, s_.padded_out, true, false);
    packed_.project2 = job(p.w2.t(), s_.padded_out, 8, false, false, true);
    for (size_t i = 0; i < w_.layers.size(); ++i)
      packed_.skip.push_back(job(w_.layers[i].skip.t(), s_.padded, s_.padded, false, false, i > 0));
    run_jobs();
  }

  void pack_backward() {
    const auto& l = w_.lift;
    const auto& p = w_.project;
    pack_forward();  // the hidden layers, and layers that are computed again
    packed_.lift2_t = job(l.w2, s_.padded, s_.padded_in, true, false);
    packed_.lift2_t_natural = job(l.w2, s_.padded, s_.padded_in, false, false);
    packed_.project1_natural = job(p.w1.t(), s_.padded, s_.padded_out, false, false);
    packed_.lift1_back = job(l.w1.narrow(1, 0, s_.inputs), s_.padded_in, 8, false, false);
    packed_.project2_t = job(p.w2, 16, s_.padded_out, false, false);
    packed_.project1_back = job(p.w1, s_.padded_out, s_.padded, false, true);
    for (const auto& layer : w_.layers)
      packed_.skip_back.push_back(job(layer.skip, s_.padded, s_.padded, false, false));
    run_jobs();
  }

  /// [B,n,P] and coordinates side by side at each point.
  Tensor interleaved(const Tensor& fields, bool with_coordinates) const {
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

  void lift(const Tensor& h) {
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

  Tensor project(const Tensor& z) {
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

  void analyse_with(const Tensor& basis, double scale, const Tensor& x, const Tensor& words) {
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
  void analyse(const Tensor& h, const Tensor& words) { analyse_with(plan_.analysis, plan_.mean, h, words); }
  void analyse_adjoint(const Tensor& dz, const Tensor& words) { analyse_with(plan_.analysis_adjoint, 1, dz, words); }

  void to_modes(const Tensor& words, const Tensor& modes) {
    along_h(words, plan_.to_modes, modes, s_.height, s_.kept1, {words.stride(1), words.stride(0), words.stride(2)},
            {modes.stride(0), modes.stride(2), modes.stride(1)});
  }
  void to_grid(const Tensor& modes, const Tensor& words) {
    along_h(modes, plan_.to_grid, words, s_.kept1, s_.height, {modes.stride(0), modes.stride(2), modes.stride(1)},
            {words.stride(1), words.stride(0), words.stride(2)});
  }
  /// Strides in numbers, of (position along H, sample, k2).
  void along_h(const Tensor& in, const Tensor& basis, const Tensor& out, int64_t n_in, int64_t n_out,
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

  Tensor mixed(const Tensor& weight, const Tensor& in, bool adjoint) {
    auto out = modes();
    const cuda::ModeMixing m{.batch = as_int(s_.batch),
                             .inputs = as_int(s_.channels),
                             .outputs = as_int(s_.channels),
                             .kept1 = as_int(s_.kept1),
                             .kept2 = as_int(s_.kept2),
                             .first1 = as_int(plan_.first1),
                             .full2 = as_int(weight.size(1)),
                             .adjoint = adjoint,
                             .weight = floats(weight),
                             .in = in.data_ptr(),
                             .out = out.data_ptr()};
    if constexpr (cuda::kBuilt) cuda::mix(precision_, m, stream());
    return out;
  }

  void layer(int64_t l, const Tensor& input, const Tensor& modes, const Tensor& z, const Tensor& next) {
    const auto words = next.defined() ? next : this->words();
    to_grid(mixed(w_.layers[l].spectral, modes, false), words);
    const cuda::LayerForward f{.rows = s_.batch * s_.height,
                               .width = as_int(s_.width),
                               .channels = as_int(s_.channels),
                               .kept2 = as_int(s_.kept2),
                               .activate = l > 0,
                               .scale = static_cast<float>(plan_.mean),
                               .x = input.data_ptr(),
                               .words = words.data_ptr(),
                               .synthesis = plan_.synthesis.data_ptr(),
                               .analysis = plan_.analysis_activated.data_ptr(),
                               .skip = packed_.skip[l].data_ptr(),
                               .bias = floats(w_.layers[l].bias),
                               .z = z.data_ptr(),
                               .next = next.defined() ? next.data_ptr() : nullptr};
    if constexpr (cuda::kBuilt) cuda::layer_forward(precision_, f, stream());
  }

  Tensor input_of(int64_t l, const Kept& kept) {
    if (kept.inputs[l].defined()) return kept.inputs[l];
    auto z = activation();
    layer(l - 1, kept.inputs[l - 1], kept.modes[l - 1], z, {});
    return z;
  }

  cuda::MlpBackward mlp(bool lifting, const Tensor& narrow, const Tensor& wide) const {
    const auto& w = lifting ? w_.lift : w_.project;
    const auto& p = packed_;
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
            .narrow_weight = (lifting ? p.lift1 : p.project2_t).data_ptr(),
            .wide_weight = (lifting ? p.lift2_t : p.project1).data_ptr(),
            .wide_weight_natural = (lifting ? p.lift2_t_natural : p.project1_natural).data_ptr(),
            .back_weight = (lifting ? p.lift1_back : p.project1_back).data_ptr(),
            .dx = nullptr,
            .wide_sums = nullptr,
            .narrow_sums = nullptr,
            .bias_sums = nullptr};
  }

  /// [hidden, C] and [hidden, 16] products of the hidden side, and [B, hidden] sums before the activation.
  std::array<Tensor, 3> weight_sums(cuda::MlpBackward m) {
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

  MlpWeights project_backward(const Tensor& z, const Tensor& dy, const Tensor& dz, bool want_weights) {
    const auto narrow_side = interleaved(dy, false);
    auto m = mlp(false, narrow_side, z);
    m.dx = dz.data_ptr();
    if constexpr (cuda::kBuilt) cuda::mlp_input_gradient(precision_, m, stream());
    if (!want_weights) return {};
    const auto [wide, narrow, bias] = weight_sums(m);
    return {wide, bias.sum(0, true), narrow.narrow(1, 0, s_.outputs).t().contiguous(), dy.sum({0, 2, 3})};
  }

  /// Without bias2.
  std::pair<Tensor, MlpWeights> lift_backward(const Tensor& dh, bool want_x, bool want_weights) {
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

  /// Turns dz of layer l into that of layer l-1 and the words likewise; returns the sum of the spectral part of it over the grid and batch, [C].
  Tensor layer_backward(int64_t l, const Tensor& input, const Tensor& modes, const Tensor& dz, const Tensor& words,
                        LayerWeights* gradient) {
    const auto& w = w_.layers[l];
    const auto dy_hat = this->modes();
    to_modes(words, dy_hat);
    if (gradient) {
      gradient->spectral = spectral_gradient(w.spectral, modes, dy_hat);
      gradient->bias = zero_mode(dy_hat);
    }
    const auto dx_hat = mixed(w.spectral, dy_hat, true);
    to_grid(dx_hat, words);
    cuda::LayerBackward b{.rows = s_.batch * s_.height,
                          .width = as_int(s_.width),
                          .channels = as_int(s_.channels),
                          .kept2 = as_int(s_.kept2),
                          .activate = l > 0,
                          .dz = dz.data_ptr(),
                          .x = input.data_ptr(),
                          .words = words.data_ptr(),
                          .synthesis = plan_.synthesis_adjoint.data_ptr(),
                          .analysis = plan_.analysis_adjoint.data_ptr(),
                          .skip = packed_.skip_back[l].data_ptr(),
                          .dx = dz.data_ptr(),
                          .next = l > 0 ? words.data_ptr() : nullptr,
                          .dskip = nullptr};
    if constexpr (cuda::kBuilt) {
      Tensor shares;
      if (gradient) {
        shares = torch::empty({cuda::layer_backward_blocks(precision_, b), s_.channels, s_.channels},
                              torch::dtype(torch::kFloat32).device(device_));
        b.dskip = shares.data_ptr<float>();
      }
      cuda::layer_backward(precision_, b, stream());
      if (gradient) gradient->skip = shares.sum(0);
    }
    return l == 0 && gradient ? zero_mode(dx_hat) : Tensor();
  }

  Tensor zero_mode(const Tensor& modes) const {
    return modes.select(0, -plan_.lowest1).select(0, 0).select(2, 0).to(torch::kFloat32).sum(0);
  }

  Tensor spectral_gradient(const Tensor& weight, const Tensor& x, const Tensor& dy) {
    const bool all = s_.kept1 == weight.size(0) && s_.kept2 == weight.size(1);
    auto gradient = all ? torch::empty_like(weight) : torch::zeros_like(weight);
    const cuda::ModeGradient m{.batch = as_int(s_.batch),
                               .inputs = as_int(s_.channels),
                               .outputs = as_int(s_.channels),
                               .kept1 = as_int(s_.kept1),
                               .kept2 = as_int(s_.kept2),
                               .first1 = as_int(plan_.first1),
                               .full2 = as_int(weight.size(1)),
                               .x = x.data_ptr(),
                               .dy = dy.data_ptr(),
                               .dweight = gradient.data_ptr<float>()};
    if constexpr (cuda::kBuilt) cuda::mix_gradient(precision_, m, stream());
    return gradient;
  }

  Tensor x_, coordinates_;
  const FnoWeights& w_;
  const FusedPlan& plan_;
  Precision precision_;
  torch::Device device_;
  Sizes s_{};
  PackedWeights packed_;
  std::vector<cuda::PackB> jobs_;
};

/// Weights as a list and back: lift (4), layers (3 each), project (4).
variable_list as_list(const FnoWeights& w) {
  variable_list list{w.lift.w1, w.lift.bias1, w.lift.w2, w.lift.bias2};
  for (const auto& l : w.layers) list.insert(list.end(), {l.spectral, l.skip, l.bias});
  list.insert(list.end(), {w.project.w1, w.project.bias1, w.project.w2, w.project.bias2});
  return list;
}
FnoWeights from_list(const variable_list& list, size_t start, size_t end) {
  FnoWeights w;
  w.lift = {list[start], list[start + 1], list[start + 2], list[start + 3]};
  for (size_t i = start + 4; i + 4 < end; i += 3) w.layers.push_back({list[i], list[i + 1], list[i + 2]});
  w.project = {list[end - 4], list[end - 3], list[end - 2], list[end - 1]};
  return w;
}

struct Setting : torch::CustomClassHolder {
  Setting(const FusedPlan& p, Precision q) : plan(p), precision(q) {}
  FusedPlan plan;
  Precision precision;
};

struct FnoFunction : torch::autograd::Function<FnoFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& coordinates, at::TensorList weights,
                        const FusedPlan& plan, Precision precision, bool recompute) {
    const auto list = weights.vec();
    const auto w = from_list(list, 0, list.size());
    Pass::Kept kept;
    const auto y = Pass(x, coordinates, w, plan, precision).forward(&kept, recompute);
    variable_list saved{x, coordinates};
    for (const auto& part : {list, kept.inputs, kept.modes}) saved.insert(saved.end(), part.begin(), part.end());
    context->save_for_backward(saved);
    context->saved_data["weights"] = static_cast<int64_t>(list.size());
    context->saved_data["setting"] = c10::IValue::make_capsule(c10::make_intrusive<Setting>(plan, precision));
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    require<UsageError>(!torch::GradMode::is_enabled(),
                        "[fused_fno] the fused form has first derivatives only; take spectral = \"gemm\" for more");
    const auto saved = context->get_saved_variables();
    const auto count = static_cast<size_t>(context->saved_data["weights"].toInt());
    const auto holder = context->saved_data["setting"].toCapsule();
    const auto& setting = static_cast<const Setting&>(*holder);
    const auto w = from_list(saved, 2, 2 + count);
    const size_t layers = w.layers.size(), first = 2 + count;
    Pass::Kept kept{{saved.begin() + first, saved.begin() + first + layers + 1},
                    {saved.begin() + first + layers + 1, saved.end()}};
    bool want_weights = false;
    for (size_t i = 0; i < count; ++i) want_weights = want_weights || context->needs_input_grad(2 + i);
    auto g = Pass(saved[0], saved[1], w, setting.plan, setting.precision)
                 .backward(kept, gradients[0].contiguous(), context->needs_input_grad(0), want_weights);
    variable_list out{g.x, Tensor()};
    if (want_weights) {
      const auto list = as_list(g.weights);
      out.insert(out.end(), list.begin(), list.end());
    } else {
      out.resize(2 + count);
    }
    out.resize(out.size() + 3);  // plan, precision, recompute
    return out;
  }
};

}  // namespace

bool fused_on_cuda(const Tensor& x, int64_t inputs, int64_t width, int64_t hidden_in, int64_t hidden_out, int64_t kept2,
                   Precision precision) {
  if constexpr (cuda::kBuilt) {
    return x.is_cuda() && x.scalar_type() == torch::kFloat32 && width % 8 == 0 && width <= cuda::kMaxChannels &&
           hidden_in % 16 == 0 && hidden_out % 16 == 0 && inputs <= cuda::kMaxInputs &&
           x.size(1) <= cuda::kMaxOutputs &&
           cuda::row_fits(precision, as_int(x.size(3)), as_int(width), as_int(kept2)) &&
           cuda::hidden_fits(precision, as_int(std::max(hidden_in, hidden_out)), as_int(width));
  }
  return false;
}

Tensor time_bias_on_cuda(const Tensor& t, const Tensor& weight, const Tensor& bias) {
  const auto times = t.contiguous();
  auto out = torch::empty({t.size(0), weight.size(0)}, t.options().requires_grad(false));
  const cuda::TimeBias b{.times = as_int(t.size(0)),
                         .hidden = as_int(weight.size(0)),
                         .features = as_int(weight.size(1)),
                         .stride = weight.stride(0),
                         .t = floats(times),
                         .weight = floats(weight),
                         .bias = floats(bias),
                         .out = out.data_ptr<float>()};
  if constexpr (cuda::kBuilt) cuda::time_bias(b, cuda::current_stream());
  return out;
}

Tensor fused_fno(const Tensor& x, const Tensor& coordinates, const FnoWeights& weights, const FusedPlan& plan,
                 Precision precision, bool recompute) {
  auto list = as_list(weights);
  for (auto& w : list) w = w.contiguous();
  const auto input = x.contiguous();
  const bool keep = torch::GradMode::is_enabled() &&
                    (input.requires_grad() ||
                     std::any_of(list.begin(), list.end(), [](const Tensor& w) { return w.requires_grad(); }));
  if (!keep) return Pass(input, coordinates, from_list(list, 0, list.size()), plan, precision).forward(nullptr, false);
  return FnoFunction::apply(input, coordinates, at::TensorList(list), plan, precision, recompute);
}

}  // namespace piddm
