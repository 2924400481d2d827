#include "piddm/ops/fused_fno.h"

#include <algorithm>

#include "piddm/core/cuda.h"
#include "piddm/core/error.h"
#include "piddm/ops/fused_backward.h"
#include "piddm/ops/fused_forward.h"

namespace piddm {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

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
    FusedKept kept;
    const auto y = FusedForward(x, coordinates, w, plan, precision).run(&kept, recompute);
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
    FusedKept kept{{saved.begin() + first, saved.begin() + first + layers + 1},
                   {saved.begin() + first + layers + 1, saved.end()}};
    bool want_weights = false;
    for (size_t i = 0; i < count; ++i) want_weights = want_weights || context->needs_input_grad(2 + i);
    auto g = FusedBackward(saved[0], saved[1], w, setting.plan, setting.precision)
                 .run(kept, gradients[0].contiguous(), context->needs_input_grad(0), want_weights);
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

bool fused_on_cuda(const Tensor& x, const FusedSizes& s, Precision precision) {
  if constexpr (cuda::kBuilt) {
    return x.is_cuda() && x.scalar_type() == torch::kFloat32 && s.width % 8 == 0 && s.width <= cuda::kMaxChannels &&
           s.hidden_in % 16 == 0 && s.hidden_out % 16 == 0 && s.inputs <= cuda::kMaxInputs &&
           s.outputs <= cuda::kMaxOutputs &&
           cuda::row_fits(precision, as_int(x.size(3)), as_int(s.width), as_int(s.kept2)) &&
           cuda::hidden_fits(precision, as_int(std::max(s.hidden_in, s.hidden_out)), as_int(s.width));
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
  if (!keep)
    return FusedForward(input, coordinates, from_list(list, 0, list.size()), plan, precision).run(nullptr, false);
  return FnoFunction::apply(input, coordinates, at::TensorList(list), plan, precision, recompute);
}

}  // namespace piddm
