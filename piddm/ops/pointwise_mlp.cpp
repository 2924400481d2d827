#include "piddm/ops/pointwise_mlp.h"

#include "piddm/core/error.h"
#include "piddm/ops/cpu/kernels.h"
#include "piddm/ops/cpu/memory.h"
#include "piddm/ops/cpu/parallel.h"

namespace piddm {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

void check_shapes(const Tensor& x, const Tensor& c, const MlpWeights& w) {
  const bool fits = x.dim() == 3 && c.dim() == 2 && w.w1.dim() == 2 && w.bias1.dim() == 2 && w.w2.dim() == 2 &&
                    c.size(1) == x.size(2) && w.w1.size(1) == x.size(1) + c.size(0) &&
                    w.bias1.size(1) == w.w1.size(0) && (w.bias1.size(0) == 1 || w.bias1.size(0) == x.size(0)) &&
                    w.w2.size(1) == w.w1.size(0) && w.bias2.numel() == w.w2.size(0);
  require<DataError>(fits, "[pointwise_mlp] x {}, coordinates {}, w1 {}, bias1 {}, w2 {}, bias2 {} do not fit",
                     shape_string(x), shape_string(c), shape_string(w.w1), shape_string(w.bias1), shape_string(w.w2),
                     shape_string(w.bias2));
}

cpu::Mlp describe(const Tensor& x, const Tensor& c, const MlpWeights& w) {
  return {.batch = x.size(0),
          .in = x.size(1),
          .fixed = c.size(0),
          .hidden = w.w1.size(0),
          .out = w.w2.size(0),
          .points = x.size(2),
          .bias_per_sample = w.bias1.size(0) > 1,
          .x = x.data_ptr<float>(),
          .coordinates = c.data_ptr<float>(),
          .w1 = w.w1.data_ptr<float>(),
          .bias1 = w.bias1.data_ptr<float>(),
          .w2 = w.w2.data_ptr<float>(),
          .bias2 = w.bias2.data_ptr<float>()};
}

Tensor forward_pass(const Tensor& x, const Tensor& c, const MlpWeights& w) {
  const auto m = describe(x, c, w);
  const auto& k = cpu::kernels();
  auto y = cpu::fresh({m.batch, m.out, m.points});
  float* to = y.data_ptr<float>();
  const int64_t units = m.batch * ((m.points + k.panel - 1) / k.panel);
  cpu::for_units(units,
                 [&](int64_t begin, int64_t end) { k.mlp_forward(m, to, begin, end, cpu::scratch(k.mlp_scratch(m))); });
  return y;
}

struct Gradients {
  Tensor x;
  MlpWeights weights;
};

Gradients backward_pass(const Tensor& x, const Tensor& c, const MlpWeights& w, const Tensor& dy, bool want_x,
                        bool want_weights) {
  const auto m = describe(x, c, w);
  const auto& k = cpu::kernels();
  const auto options = x.options().requires_grad(false);
  const int64_t tiles = (m.points + k.mlp_points - 1) / k.mlp_points, units = m.batch * tiles,
                lanes = cpu::lanes_of(units), first = w.w1.numel(), second = w.w2.numel();
  auto dx = want_x ? cpu::fresh(x.sizes()) : Tensor();
  auto sums = torch::zeros({lanes, first + second + m.out}, options);
  auto dbias1 = torch::empty({m.batch, tiles, m.hidden}, options);
  float *to_x = want_x ? dx.data_ptr<float>() : nullptr, *to_sums = sums.data_ptr<float>(),
        *to_bias = dbias1.data_ptr<float>();
  const float* from = dy.data_ptr<float>();
  cpu::for_lanes(units, [&](int64_t lane, int64_t begin, int64_t end) {
    float* sum = to_sums + lane * (first + second + m.out);
    const cpu::MlpGradient g{.dy = from,
                             .dx = to_x,
                             .dw1 = want_weights ? sum : nullptr,
                             .dw2 = sum + first,
                             .dbias2 = sum + first + second,
                             .dbias1 = to_bias};
    k.mlp_backward(m, g, begin, end, cpu::scratch(k.mlp_scratch(m)));
  });
  if (!want_weights) return {dx, {}};
  const auto total = sums.sum(0);
  auto by_sample = dbias1.sum(1);
  if (!m.bias_per_sample) by_sample = by_sample.sum(0, true);
  return {dx,
          {total.narrow(0, 0, first).view_as(w.w1), by_sample, total.narrow(0, first, second).view_as(w.w2),
           total.narrow(0, first + second, m.out).view_as(w.bias2)}};
}

struct MlpFunction : torch::autograd::Function<MlpFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& c, const Tensor& w1,
                        const Tensor& bias1, const Tensor& w2, const Tensor& bias2) {
    context->save_for_backward({x, c, w1, bias1, w2, bias2});
    return forward_pass(x, c, {w1, bias1, w2, bias2});
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    require<UsageError>(!torch::GradMode::is_enabled(),
                        "[pointwise_mlp] the fused form has first derivatives only; take spectral = \"gemm\" for more");
    const auto s = context->get_saved_variables();
    const bool weights = context->needs_input_grad(2) || context->needs_input_grad(3) || context->needs_input_grad(4) ||
                         context->needs_input_grad(5);
    const auto g = backward_pass(s[0], s[1], {s[2], s[3], s[4], s[5]}, gradients[0].contiguous(),
                                 context->needs_input_grad(0), weights);
    return {g.x, Tensor(), g.weights.w1, g.weights.bias1, g.weights.w2, g.weights.bias2};
  }
};

}  // namespace

bool fused_on_cpu(const Tensor& x) { return x.device().is_cpu() && x.scalar_type() == torch::kFloat32; }

Tensor pointwise_mlp_formula(const Tensor& x, const Tensor& c, const MlpWeights& w) {
  check_shapes(x, c, w);
  const auto input = torch::cat({x, c.unsqueeze(0).expand({x.size(0), c.size(0), c.size(1)})}, 1);
  const auto hidden = torch::gelu(torch::matmul(w.w1, input) + w.bias1.unsqueeze(2));
  return torch::matmul(w.w2, hidden) + w.bias2.view({-1, 1});
}

Tensor pointwise_mlp(const Tensor& x, const Tensor& c, const MlpWeights& w) {
  check_shapes(x, c, w);
  return MlpFunction::apply(x.contiguous(), c.contiguous(), w.w1.contiguous(), w.bias1.contiguous(), w.w2.contiguous(),
                            w.bias2.contiguous());
}

}  // namespace piddm
