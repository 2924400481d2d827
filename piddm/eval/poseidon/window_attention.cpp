#include "piddm/eval/poseidon/window_attention.h"

#include <cmath>

#include "piddm/core/error.h"

namespace piddm {

namespace {

constexpr double kMasked = -100;

const Tensor& weight(const TensorMap& weights, const std::string& name) {
  const auto found = weights.find(name);
  require<DataError>(found != weights.end(), "[attention] tensor '{}' is missing", name);
  return found->second;
}

Tensor bias_of(const TensorMap& weights, const std::string& name) {
  const auto found = weights.find(name);
  return found == weights.end() ? Tensor() : found->second;
}

/// [N,L,C] -> [N,heads,L,C/heads].
Tensor by_head(const Tensor& x, int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

Tensor unit(const Tensor& x) { return x / x.norm(2, -1, true).clamp_min(1e-12); }

/// 0, 1 or 2 for the entries of one axis: before the last window, in it, and in the part that was rolled over the edge.
Tensor labels(int64_t size, int64_t window, int64_t shift, torch::Device device) {
  const auto i = torch::arange(size, torch::TensorOptions().dtype(torch::kInt64).device(device));
  return (i >= size - window).to(torch::kInt64) + (i >= size - shift).to(torch::kInt64);
}

}  // namespace

Tensor relative_coordinates(int64_t window) {
  auto v = torch::arange(1 - window, window, torch::kFloat64);
  if (window > 1) v = 8 * v / static_cast<double>(window - 1);
  v = v.sign() * torch::log2(v.abs() + 1) / 3;
  const int64_t n = 2 * window - 1;
  return torch::stack({v.view({n, 1}).expand({n, n}), v.view({1, n}).expand({n, n})}, 2);
}

Tensor relative_index(int64_t window) {
  const auto token = torch::arange(window * window, torch::kInt64);
  const auto y = token.div(window, "floor"), x = token.remainder(window);
  const auto dy = y.unsqueeze(1) - y + (window - 1), dx = x.unsqueeze(1) - x + (window - 1);
  return dy * (2 * window - 1) + dx;
}

Tensor position_bias(const TensorMap& weights, const std::string& prefix, int64_t window) {
  const std::string mlp = prefix + "self.continuous_position_bias_mlp.";
  const auto& first = weight(weights, mlp + "0.weight");
  const auto coordinates = relative_coordinates(window).view({-1, 2}).to(first.options());
  const auto hidden = torch::relu(torch::linear(coordinates, first, weight(weights, mlp + "0.bias")));
  const auto table = torch::linear(hidden, weight(weights, mlp + "2.weight"));
  const int64_t tokens = window * window;
  const auto index = relative_index(window).flatten().to(first.device());
  const auto bias = table.index_select(0, index).view({tokens, tokens, -1});
  return (16 * torch::sigmoid(bias)).permute({2, 0, 1}).contiguous();
}

Tensor shift_mask(int64_t height, int64_t width, int64_t window, int64_t shift, const torch::TensorOptions& options) {
  const auto device = options.device();
  const auto region = 3 * labels(height, window, shift, device).unsqueeze(1) + labels(width, window, shift, device);
  const auto parts = window_partition(region.view({1, height, width, 1}), window).squeeze(2);
  return parts.unsqueeze(1).ne(parts.unsqueeze(2)).to(options) * kMasked;
}

Tensor window_partition(const Tensor& x, int64_t window) {
  const int64_t rows = x.size(1) / window, columns = x.size(2) / window, channels = x.size(3);
  return x.view({x.size(0), rows, window, columns, window, channels})
      .transpose(2, 3)
      .reshape({-1, window * window, channels});
}

Tensor window_reverse(const Tensor& windows, int64_t window, int64_t height, int64_t width) {
  const int64_t rows = height / window, columns = width / window, channels = windows.size(2);
  return windows.view({-1, rows, columns, window, window, channels})
      .transpose(2, 3)
      .reshape({-1, height, width, channels});
}

Tensor window_attention(const Tensor& x, const TensorMap& weights, const std::string& prefix, const Tensor& bias,
                        const Tensor& mask) {
  const auto project = [&](const std::string& name) {
    const std::string key = prefix + "self." + name;
    return by_head(torch::linear(x, weight(weights, key + ".weight"), bias_of(weights, key + ".bias")), bias.size(0));
  };
  const auto scale = weight(weights, prefix + "self.logit_scale").clamp_max(std::log(100.0)).exp();
  auto logits = unit(project("query")).matmul(unit(project("key")).transpose(2, 3)) * scale + bias;
  if (mask.defined()) {
    const auto windows = logits.view({-1, mask.size(0), logits.size(1), logits.size(2), logits.size(3)});
    logits = (windows + 2 * mask.unsqueeze(1)).view_as(logits);
  }
  const auto mixed = torch::softmax(logits, -1).matmul(project("value")).transpose(1, 2).reshape(x.sizes());
  return torch::linear(mixed, weight(weights, prefix + "output.dense.weight"),
                       weight(weights, prefix + "output.dense.bias"));
}

}  // namespace piddm
