#include "piddm/eval/poseidon/scot.h"

#include <fmt/ranges.h>

#include <cmath>

#include "piddm/core/error.h"
#include "piddm/eval/poseidon/fourier_resample.h"
#include "piddm/eval/poseidon/window_attention.h"

namespace piddm {

namespace {

using Shapes = std::map<std::string, std::vector<int64_t>>;

constexpr int64_t kPositionHidden = 512;
constexpr double kEps = 1e-5;  // of the norms outside the blocks
constexpr int64_t kCpuBatch = 8, kGpuBatch = 64;

std::string stage_name(int64_t stage) { return fmt::format("encoder.layers.{}.", stage); }
std::string block_name(int64_t stage, int64_t block) { return fmt::format("{}blocks.{}.", stage_name(stage), block); }

void check_config(const ScotConfig& c, const std::string& origin) {
  require<DataError>(c.hidden_act == "gelu", "{}: hidden_act '{}' is not supported (only gelu)", origin, c.hidden_act);
  require<DataError>(!c.depths.empty() && c.depths.size() <= 8 && c.depths.size() == c.num_heads.size(),
                     "{}: {} depths and {} num_heads; needs as many of both, 1 to 8", origin, c.depths.size(),
                     c.num_heads.size());
  const auto within = [&](const char* name, int64_t value, int64_t high) {
    require<DataError>(value >= 1 && value <= high, "{}: {} = {} is outside 1..{}", origin, name, value, high);
  };
  within("image_size", c.image_size, 4096);
  within("patch_size", c.patch_size, c.image_size);
  within("num_channels", c.num_channels, 1024);
  within("embed_dim", c.embed_dim, 4096);
  within("window_size", c.window_size, 64);
  within("mlp_ratio", std::lround(std::min(c.mlp_ratio, 1e6)), 64);
  for (int64_t i = 0; i < c.stages(); ++i) {
    const auto s = static_cast<size_t>(i);
    within("depths", c.depths[s], 256);
    within("num_heads", c.num_heads[s], c.width(i));
    require<DataError>(c.width(i) % c.num_heads[s] == 0, "{}: {} heads do not divide the width {} of stage {}", origin,
                       c.num_heads[s], c.width(i), i);
  }
}

void add_norm(Shapes& shapes, const std::string& name, int64_t width, bool conditional) {
  for (const char* part : {".weight", ".bias"}) {
    if (!conditional) {
      shapes[name + part] = {width};
    } else {
      shapes[name + part + ".weight"] = {width, 1};
      shapes[name + part + ".bias"] = {width};
    }
  }
}

void add_block(Shapes& shapes, const std::string& name, const ScotConfig& c, int64_t stage) {
  const int64_t width = c.width(stage), heads = c.num_heads[static_cast<size_t>(stage)],
                hidden = static_cast<int64_t>(c.mlp_ratio * static_cast<double>(width));
  const std::string self = name + "attention.self.";
  shapes[self + "logit_scale"] = {heads, 1, 1};
  shapes[self + "continuous_position_bias_mlp.0.weight"] = {kPositionHidden, 2};
  shapes[self + "continuous_position_bias_mlp.0.bias"] = {kPositionHidden};
  shapes[self + "continuous_position_bias_mlp.2.weight"] = {heads, kPositionHidden};
  for (const char* map : {"query", "key", "value"}) {
    shapes[self + map + ".weight"] = {width, width};
    if (c.qkv_bias && map != std::string("key")) shapes[self + map + ".bias"] = {width};
  }
  shapes[name + "attention.output.dense.weight"] = {width, width};
  shapes[name + "attention.output.dense.bias"] = {width};
  shapes[name + "intermediate.dense.weight"] = {hidden, width};
  shapes[name + "intermediate.dense.bias"] = {hidden};
  shapes[name + "output.dense.weight"] = {width, hidden};
  shapes[name + "output.dense.bias"] = {width};
  add_norm(shapes, name + "layernorm_before", width, c.use_conditioning);
  add_norm(shapes, name + "layernorm_after", width, c.use_conditioning);
}

/// Zeros at the right and bottom of (B,H,W,C), up to multiples of `unit`.
Tensor padded(const Tensor& x, int64_t unit) {
  const int64_t bottom = (unit - x.size(1) % unit) % unit, right = (unit - x.size(2) % unit) % unit;
  return bottom + right == 0 ? x : torch::constant_pad_nd(x, {0, 0, 0, right, 0, bottom});
}

/// (B,tokens,C) -> (B,g,g,C).
Tensor as_grid(const Tensor& x) {
  const auto side = std::lround(std::sqrt(static_cast<double>(x.size(1))));
  return x.view({x.size(0), side, side, x.size(2)});
}

}  // namespace

int64_t ScotConfig::grid(int64_t stage) const {
  int64_t side = (image_size + patch_size - 1) / patch_size;
  for (int64_t i = 0; i < stage; ++i) side = (side + 1) / 2;
  return side;
}

ScotConfig parse_scot_config(const json& config, const std::string& origin) {
  require<DataError>(config.is_object() && config.contains("embed_dim") && config.contains("depths"),
                     "{}: not the configuration of a Poseidon (ScOT) model: embed_dim or depths is missing", origin);
  ScotConfig out;
  try {
    out.fields([&](const char* name, auto& member, const auto&...) {
      if (config.contains(name)) detail::read_value(config.at(name), member, name);
    });
  } catch (const UsageError& error) {
    throw DataError("{}: {}", origin, error.what());
  }
  check_config(out, origin);
  return out;
}

std::map<std::string, std::vector<int64_t>> scot_weights(const ScotConfig& c) {
  Shapes shapes;
  const std::string projection = "embeddings.patch_embeddings.projection.";
  shapes[projection + "weight"] = {c.embed_dim, c.num_channels, c.patch_size, c.patch_size};
  shapes[projection + "bias"] = {c.embed_dim};
  add_norm(shapes, "embeddings.norm", c.embed_dim, c.use_conditioning);
  if (c.use_absolute_embeddings) shapes["embeddings.position_embeddings"] = {1, c.grid(0) * c.grid(0), c.embed_dim};
  for (int64_t i = 0; i < c.stages(); ++i) {
    for (int64_t j = 0; j < c.depths[static_cast<size_t>(i)]; ++j) add_block(shapes, block_name(i, j), c, i);
    if (i + 1 == c.stages()) break;
    shapes[stage_name(i) + "downsample.reduction.weight"] = {2 * c.width(i), 4 * c.width(i)};
    add_norm(shapes, stage_name(i) + "downsample.norm", 2 * c.width(i), c.use_conditioning);
  }
  return shapes;
}

ScotEncoder::ScotEncoder(const ScotConfig& config, const TensorMap& weights, const std::string& origin,
                         torch::ScalarType dtype, torch::Device device)
    : config_(config) {
  for (const auto& [name, shape] : scot_weights(config)) {
    const auto found = weights.find(name);
    require<DataError>(found != weights.end(), "{}: tensor '{}' is missing", origin, name);
    require<DataError>(found->second.sizes().vec() == shape, "{}: tensor '{}' has shape {}, expected ({})", origin,
                       name, shape_string(found->second), fmt::join(shape, ","));
    require<DataError>(all_finite(found->second), "{}: tensor '{}' has values that are not finite", origin, name);
    weights_[name] = found->second.to(device, dtype);
  }
  const torch::NoGradGuard no_grad;
  for (int64_t i = 0; i < config_.stages(); ++i) {
    auto& blocks = stages_.emplace_back();
    const int64_t window = config_.window(i);
    for (int64_t j = 0; j < config_.depths[static_cast<size_t>(i)]; ++j) {
      const auto name = block_name(i, j);
      const bool shifted = j % 2 == 1 && config_.grid(i) > window;
      blocks.push_back({name, position_bias(weights_, name + "attention.", window), shifted ? window / 2 : 0});
    }
  }
}

Tensor ScotEncoder::norm(const Tensor& x, const std::string& name, const Tensor& t, double eps) const {
  const auto mean = x.mean(-1, true), variance = x.square().mean(-1, true) - mean.square();
  const auto y = (x - mean) / (variance + eps).sqrt();
  if (!config_.use_conditioning) return y * at(name + ".weight") + at(name + ".bias");
  const auto at_time = [&](const std::string& part) {
    return torch::linear(t.unsqueeze(1), at(name + part + ".weight"), at(name + part + ".bias")).unsqueeze(1);
  };
  return y * at_time(".weight") + at_time(".bias");
}

Tensor ScotEncoder::embed(const Tensor& pixels, const Tensor& t) const {
  const int64_t p = config_.patch_size;
  const auto x = padded(fourier_resample(pixels, config_.image_size).permute({0, 2, 3, 1}), p);
  const int64_t batch = x.size(0), rows = x.size(1) / p, columns = x.size(2) / p, channels = x.size(3);
  const auto patches = x.reshape({batch, rows, p, columns, p, channels})
                           .permute({0, 1, 3, 5, 2, 4})
                           .reshape({batch, rows * columns, -1});
  const std::string projection = "embeddings.patch_embeddings.projection.";
  const auto tokens = torch::linear(patches, at(projection + "weight").flatten(1), at(projection + "bias"));
  const auto normed = norm(tokens, "embeddings.norm", t, kEps);
  return config_.use_absolute_embeddings ? normed + at("embeddings.position_embeddings") : normed;
}

Tensor ScotEncoder::attend(const Tensor& x, const Block& block, int64_t window) const {
  const auto grid = as_grid(x);
  auto y = padded(grid, window);
  const int64_t height = y.size(1), width = y.size(2), shift = block.shift;
  Tensor mask;
  if (shift > 0) {
    y = torch::roll(y, {-shift, -shift}, {1, 2});
    mask = shift_mask(height, width, window, shift, y.options());
  }
  y = window_attention(window_partition(y.contiguous(), window), weights_, block.name + "attention.", block.bias, mask);
  y = window_reverse(y, window, height, width);
  if (shift > 0) y = torch::roll(y, {shift, shift}, {1, 2});
  return y.slice(1, 0, grid.size(1)).slice(2, 0, grid.size(2)).reshape(x.sizes());
}

Tensor ScotEncoder::block(const Tensor& x, const Block& block, int64_t window, const Tensor& t) const {
  const auto& name = block.name;
  const auto dense = [&](const Tensor& in, const std::string& layer) {
    return torch::linear(in, at(name + layer + ".dense.weight"), at(name + layer + ".dense.bias"));
  };
  const auto y = x + norm(attend(x, block, window), name + "layernorm_before", t, config_.layer_norm_eps);
  const auto mlp = dense(torch::gelu(dense(y, "intermediate")), "output");
  return y + norm(mlp, name + "layernorm_after", t, config_.layer_norm_eps);
}

Tensor ScotEncoder::merge(const Tensor& x, const std::string& name, const Tensor& t) const {
  const auto grid = padded(as_grid(x), 2);
  const auto corner = [&](int64_t row, int64_t column) { return grid.slice(1, row, {}, 2).slice(2, column, {}, 2); };
  const auto four = torch::cat({corner(0, 0), corner(1, 0), corner(0, 1), corner(1, 1)}, 3).flatten(1, 2);
  return norm(torch::linear(four, at(name + "reduction.weight")), name + "norm", t, kEps);
}

std::vector<Tensor> ScotEncoder::encode(const Tensor& pixels, const Tensor& t) const {
  require<DataError>(pixels.dim() == 4 && pixels.size(1) == config_.num_channels && pixels.size(2) == pixels.size(3),
                     "[scot] expected square fields (B,{},n,n), got {}", config_.num_channels, shape_string(pixels));
  require<DataError>(t.dim() == 1 && t.size(0) == pixels.size(0), "[scot] expected {} times, got {}", pixels.size(0),
                     shape_string(t));
  const torch::NoGradGuard no_grad;
  const auto& options = weights_.begin()->second.options();
  const auto time = t.to(options);
  std::vector<Tensor> states = {embed(pixels.to(options), time)};
  auto input = states.front();
  for (int64_t i = 0; i < config_.stages(); ++i) {
    auto x = input;
    for (const auto& part : stages_[static_cast<size_t>(i)]) x = block(x, part, config_.window(i), time);
    states.push_back(x);
    if (i + 1 < config_.stages()) input = merge(x + input, stage_name(i) + "downsample.", time);
  }
  return states;
}

Tensor ScotEncoder::features(const Tensor& fields) const {
  require<DataError>(fields.dim() == 3 && fields.numel() > 0 && fields.size(1) == fields.size(2),
                     "[scot] expected square fields (N,n,n), got {}", shape_string(fields));
  const auto& options = weights_.begin()->second.options();
  const int64_t batch = options.device().is_cuda() ? kGpuBatch : kCpuBatch;
  std::vector<Tensor> parts;
  for (const auto& part : fields.split(batch)) {
    auto pixels = torch::zeros({part.size(0), config_.num_channels, part.size(1), part.size(2)}, options);
    pixels.select(1, 0).copy_(part);
    parts.push_back(encode(pixels, torch::zeros({part.size(0)}, options)).back().mean(1).to(torch::kCPU));
  }
  return torch::cat(parts);
}

}  // namespace piddm
