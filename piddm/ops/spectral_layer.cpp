#include "piddm/ops/spectral_layer.h"

#include <numbers>

#include "piddm/core/error.h"
#include "piddm/ops/cpu/kernels.h"
#include "piddm/ops/cpu/memory.h"
#include "piddm/ops/cpu/parallel.h"

namespace piddm {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kHalfWayBytes = 8 << 20;  // of the tensor between passes 3 and 4: as many samples at a time as fit

// cos and sin of 2 pi k i/n for k < rows, i < columns; k i is reduced mod n first, so that large grids lose no digits.
std::pair<Tensor, Tensor> cos_sin(int64_t rows, int64_t columns, int64_t n) {
  const auto product = torch::arange(rows).view({-1, 1}) * torch::arange(columns).view({1, -1});
  const auto angle = product.remainder(n).to(torch::kFloat64) * (2 * std::numbers::pi / static_cast<double>(n));
  return {angle.cos(), angle.sin()};
}

void check_shapes(const Tensor& x, const LayerWeights& w, int64_t height, int64_t width) {
  const auto& s = w.spectral;
  const bool skip = w.skip.dim() == 2 || (w.local() && w.skip.size(2) == 3 && w.skip.size(3) == 3);
  const bool fits = x.dim() == 4 && s.dim() == 5 && skip && x.size(2) == height && x.size(3) == width &&
                    s.size(4) == x.size(1) && w.skip.size(1) == x.size(1) && w.skip.size(0) == s.size(3) &&
                    w.bias.numel() == s.size(3);
  require<DataError>(fits, "[spectral_layer] x {}, spectral {}, skip {}, bias {} do not fit on a grid of {}x{}",
                     shape_string(x), shape_string(s), shape_string(w.skip), shape_string(w.bias), height, width);
}

cpu::ModeGrid grid_of(const SpectralPlan& p) {
  return {.height = p.height,
          .width = p.width,
          .kept1 = p.kept1,
          .kept2 = p.kept2,
          .lowest1 = p.lowest1,
          .radius = p.cos_h.size(0),
          .folded = p.cos_h.size(1),
          .cos_h = p.cos_h.data_ptr<float>(),
          .sin_h = p.sin_h.data_ptr<float>()};
}

/// The passes of one call; channels `in` of planes go in, `out` come out (backward: the other way round).
struct Passes {
  const SpectralPlan& plan;
  const int64_t batch, in, out, reach;
  const cpu::Kernels& kernel = cpu::kernels();
  const cpu::ModeGrid grid = grid_of(plan);

  float* scratch() const {
    return cpu::scratch(std::max(kernel.spectral_scratch(grid, batch, in, out, reach),
                                 kernel.spectral_scratch(grid, batch, out, in, reach)));
  }

  Tensor modes(int64_t channels) const { return cpu::fresh({batch, channels, 2, plan.kept1, plan.kept2}); }

  void analyse(const cpu::Analysis& a) const {
    cpu::for_units(batch * in, [&](int64_t begin, int64_t end) { kernel.analyse(a, begin, end, scratch()); });
  }

  /// Runs `step` (mix or mix_backward) over the modes; w [m1,m2,2,O,C].
  template <class Step>
  void mix(const Tensor& w, cpu::Mixing m, const Step& step) const {
    m.batch = batch, m.in = w.size(4), m.out = w.size(3), m.full2 = w.size(1);
    m.kept1 = plan.kept1, m.kept2 = plan.kept2, m.first1 = plan.first1;
    m.weight = w.data_ptr<float>();
    const int64_t blocks = (plan.kept1 * plan.kept2 + kernel.modes_per_unit - 1) / kernel.modes_per_unit;
    cpu::for_units(blocks, [&](int64_t begin, int64_t end) { step(m, begin, end, scratch()); });
  }

  /// Passes 3 and 4, a few samples at a time. `finish` describes the whole batch; dskip [lanes,inputs,out] gets the
  /// sums of the lanes.
  void to_grid(const Tensor& modes, const Tensor& along_w, cpu::Finish finish, const Tensor& dskip) const {
    const int64_t across = (plan.width + kernel.panel - 1) / kernel.panel, points = plan.height * plan.width;
    const int64_t size = across * out * 2 * grid.radius * kernel.panel;
    const int64_t chunk = std::max<int64_t>(kHalfWayBytes / (4 * size), 1);
    const int64_t blocks = across * ((grid.folded + kernel.rows_per_unit - 1) / kernel.rows_per_unit);
    auto half_way = cpu::fresh({std::min(chunk, batch), size});
    finish.v = half_way.data_ptr<float>();
    for (int64_t first = 0; first < batch; first += chunk) {
      const int64_t count = std::min(chunk, batch - first);
      const cpu::Synthesis s{grid, out, along_w.data_ptr<float>(),
                             modes.data_ptr<float>() + first * out * 2 * plan.kept1 * plan.kept2,
                             half_way.data_ptr<float>()};
      cpu::for_units(count * out, [&](int64_t begin, int64_t end) { kernel.synthesise(s, begin, end, scratch()); });
      auto part = finish;
      part.x += first * in * points;
      part.y += first * out * points;
      if (part.slope != nullptr) part.slope += first * out * points;
      if (part.partner != nullptr) part.partner += first * out * points;
      cpu::for_lanes(count * blocks, [&](int64_t lane, int64_t begin, int64_t end) {
        auto own = part;
        if (own.partner != nullptr) own.dskip = dskip.data_ptr<float>() + lane * own.inputs() * out;
        kernel.finish(own, begin, end, scratch());
      });
    }
  }
};

int64_t reach_of(const LayerWeights& w) { return w.local() ? 1 : 0; }

/// S^T, the way of the gradient: channels exchanged, the neighbours on the other side.
Tensor turned_skip(const Tensor& skip) {
  return skip.dim() == 4 ? skip.transpose(0, 1).flip({2, 3}).contiguous() : skip.t().contiguous();
}

float* pointer(const Tensor& x) { return x.defined() ? x.data_ptr<float>() : nullptr; }

struct Result {
  Tensor y, slope, modes;
};

Result forward_pass(const Tensor& x, const LayerWeights& w, const SpectralPlan& plan, bool activate, bool keep) {
  const Passes pass{plan, x.size(0), x.size(1), w.skip.size(0), reach_of(w)};
  const auto x_hat = pass.modes(pass.in), y_hat = pass.modes(pass.out);
  const auto y = cpu::fresh({pass.batch, pass.out, plan.height, plan.width});
  const auto slope = keep && activate ? cpu::fresh(y.sizes()) : Tensor();

  cpu::Analysis analysis{.grid = pass.grid, .along_w = pointer(plan.to_modes), .planes = pointer(x)};
  analysis.modes = pointer(x_hat);
  pass.analyse(analysis);

  cpu::Mixing mixing;
  mixing.x = pointer(x_hat), mixing.y = pointer(y_hat);
  pass.mix(w.spectral, mixing, pass.kernel.mix);

  cpu::Finish finish{.grid = pass.grid, .in = pass.in, .out = pass.out, .reach = pass.reach};
  finish.x = pointer(x), finish.slope = pointer(slope), finish.y = pointer(y);
  finish.weight = pointer(w.skip), finish.bias = pointer(w.bias), finish.activate = activate;
  pass.to_grid(y_hat, plan.to_grid, finish, {});
  return {y, slope, x_hat};
}

struct Gradients {
  Tensor x;
  LayerWeights weights;
};

/// w.bias is not used; `slope` and `modes` as kept by the forward pass.
Gradients backward_pass(const Tensor& x, const LayerWeights& w, const Tensor& slope, const Tensor& modes,
                        const Tensor& dy, const SpectralPlan& plan, bool want_weights) {
  const Passes pass{plan, x.size(0), w.skip.size(0), x.size(1), reach_of(w)};
  const auto dz = slope.defined() ? cpu::fresh(dy.sizes()) : dy, dx = cpu::fresh(x.sizes());
  const auto dy_hat = pass.modes(pass.in), dx_hat = pass.modes(pass.out);

  cpu::Analysis analysis{.grid = pass.grid, .along_w = pointer(plan.to_grid_t), .planes = pointer(dy)};
  analysis.slope = pointer(slope), analysis.through = pointer(dz), analysis.modes = pointer(dy_hat);
  pass.analyse(analysis);

  const bool all_modes = plan.kept1 == w.spectral.size(0) && plan.kept2 == w.spectral.size(1);
  auto dspectral = want_weights ? cpu::fresh(w.spectral.sizes()) : Tensor();
  if (want_weights && !all_modes) dspectral.zero_();
  cpu::Mixing mixing;
  mixing.x = pointer(modes), mixing.dy = pointer(dy_hat);
  mixing.dx = pointer(dx_hat), mixing.dweight = pointer(dspectral);
  pass.mix(w.spectral, mixing, pass.kernel.mix_backward);

  cpu::Finish finish{.grid = pass.grid, .in = pass.in, .out = pass.out, .reach = pass.reach};
  const auto turned = turned_skip(w.skip);
  const auto dskip = torch::zeros({want_weights ? cpu::kMaxLanes : 0, finish.inputs(), pass.out});
  finish.x = pointer(dz), finish.y = pointer(dx);
  finish.weight = pointer(turned);
  if (want_weights) finish.partner = pointer(x);
  pass.to_grid(dx_hat, plan.to_modes_t, finish, dskip);
  if (!want_weights) return {dx, {}};
  const auto plane_sums = dy_hat.select(2, 0).select(2, -plan.lowest1).select(2, 0);  // the mode (0,0)
  auto skip = dskip.sum(0);  // [inputs,out]: of dz at the neighbours, x in the middle
  if (w.local()) skip = skip.view({pass.in, 3, 3, pass.out}).permute({0, 3, 1, 2}).flip({2, 3}).contiguous();
  return {dx, {dspectral, skip, plane_sums.sum(0)}};
}

struct PlanHolder : torch::CustomClassHolder {
  explicit PlanHolder(const SpectralPlan& p) : plan(p) {}
  SpectralPlan plan;
};

struct LayerFunction : torch::autograd::Function<LayerFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& spectral, const Tensor& skip,
                        const Tensor& bias, const SpectralPlan& plan, bool activate) {
    const auto result = forward_pass(x, {spectral, skip, bias}, plan, activate, true);
    context->save_for_backward({x, spectral, skip, result.slope, result.modes});
    context->saved_data["plan"] = c10::IValue::make_capsule(c10::make_intrusive<PlanHolder>(plan));
    return result.y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    require<UsageError>(
        !torch::GradMode::is_enabled(),
        "[spectral_layer] the fused form has first derivatives only; take spectral = \"gemm\" for more");
    const auto s = context->get_saved_variables();
    const auto holder = context->saved_data["plan"].toCapsule();
    const bool weights = context->needs_input_grad(1) || context->needs_input_grad(2) || context->needs_input_grad(3);
    const auto g = backward_pass(s[0], {s[1], s[2], {}}, s[3], s[4], gradients[0].contiguous(),
                                 static_cast<const PlanHolder&>(*holder).plan, weights);
    return {g.x, g.weights.spectral, g.weights.skip, g.weights.bias, {}, {}};
  }
};

}  // namespace

SpectralPlan::SpectralPlan(const SpectralBasis& b)
    : height(b.height), width(b.width), kept1(b.kept1), kept2(b.kept2), first1(b.first1), lowest1(b.lowest1) {
  const int64_t radius = std::max(-lowest1, lowest1 + kept1 - 1) + 1;
  const auto along_h = cos_sin(radius, height / 2 + 1, height), along_w = cos_sin(kept2, width, width);
  auto symmetry = torch::full({kept2, 1}, 2.0, torch::kFloat64);
  symmetry[0] = 1.0;
  if (width % 2 == 0 && kept2 == width / 2 + 1) symmetry[kept2 - 1] = 1.0;
  const auto float32 = [](const Tensor& x) { return x.to(torch::kFloat32).contiguous(); };
  cos_h = float32(along_h.first);
  sin_h = float32(along_h.second);
  sin_h.select(1, 0).zero_();
  if (height % 2 == 0) sin_h.select(1, height / 2).zero_();
  const auto basis = torch::cat({along_w.first, along_w.second});
  to_modes_t = float32(basis / static_cast<double>(height * width));
  to_modes = to_modes_t.t().contiguous();
  to_grid = float32(basis * symmetry.repeat({2, 1}));
  to_grid_t = to_grid.t().contiguous();
}

Tensor apply_skip(const Tensor& x, const Tensor& skip) {
  if (skip.dim() == 4) return torch::conv2d(x, skip, {}, 1, 1);
  return torch::einsum("oi,bihw->bohw", {skip, x});
}

Tensor spectral_layer_formula(const Tensor& x, const LayerWeights& w, const SpectralBasis& b, bool activate) {
  check_shapes(x, w, b.height, b.width);
  const auto planes = x.transpose(0, 1);
  const auto z = spectral_gemm(planes, w.spectral, b).transpose(0, 1) + apply_skip(x, w.skip) + w.bias.view({-1, 1, 1});
  return activate ? torch::gelu(z) : z;
}

Tensor spectral_layer(const Tensor& x, const LayerWeights& w, const SpectralPlan& plan, bool activate) {
  check_shapes(x, w, plan.height, plan.width);
  const auto input = x.contiguous(), spectral = w.spectral.contiguous(), skip = w.skip.contiguous(),
             bias = w.bias.contiguous();
  const bool keep = torch::GradMode::is_enabled() &&
                    (input.requires_grad() || spectral.requires_grad() || skip.requires_grad() || bias.requires_grad());
  if (!keep) return forward_pass(input, {spectral, skip, bias}, plan, activate, false).y;
  return LayerFunction::apply(input, spectral, skip, bias, plan, activate);
}

}  // namespace piddm
