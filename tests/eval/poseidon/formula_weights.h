#pragma once
// Weights of any size from a formula, as tests/golden/scot-tiny/README.md defines them.

#include <cmath>

#include "piddm/eval/poseidon/scot.h"

namespace piddm::testing {

/// u of entries 0..n-1 of the stream of this name, as doubles.
inline std::vector<double> formula_stream(const std::string& name, int64_t n) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3ULL;
  std::vector<double> out(static_cast<size_t>(n));
  for (size_t i = 0; i < out.size(); ++i) {
    uint64_t z = hash + (i + 1) * 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    z ^= z >> 31;
    out[i] = static_cast<double>(z >> 40) * 0x1p-23 - 1;
  }
  return out;
}

inline std::pair<double, double> formula_rule(const std::string& name, const std::vector<int64_t>& shape) {
  const auto ends = [&](const std::string& tail) {
    return name.size() >= tail.size() && name.compare(name.size() - tail.size(), tail.size(), tail) == 0;
  };
  if (ends("logit_scale")) return {1.5, 0.6};
  if (ends("position_bias_mlp.0.weight")) return {0, 1};
  if (ends("position_bias_mlp.0.bias")) return {0, 0.5};
  if (ends("position_bias_mlp.2.weight")) return {0, 0.1};
  if (ends(".weight.bias")) return {1, 0.4};
  if (ends(".weight.weight")) return {0, 0.4};
  if (ends(".bias.bias") || ends(".bias.weight")) return {0, 0.25};
  if (shape.size() == 1) return ends(".weight") ? std::pair{0.5, 0.3} : std::pair{0.0, 0.1};
  int64_t fan = 1;
  for (size_t i = 1; i < shape.size(); ++i) fan *= shape[i];
  return {0, std::sqrt(3.0 / static_cast<double>(fan))};
}

inline TensorMap formula_weights(const ScotConfig& config) {
  TensorMap out;
  for (const auto& [name, shape] : scot_weights(config)) {
    const auto [offset, scale] = formula_rule(name, shape);
    auto tensor = torch::empty(shape, torch::kFloat32);
    const auto u = formula_stream(name, tensor.numel());
    float* value = tensor.data_ptr<float>();
    for (size_t i = 0; i < u.size(); ++i) value[i] = static_cast<float>(offset + scale * u[i]);
    out[name] = tensor;
  }
  return out;
}

/// Two fields of size s.
inline Tensor formula_fields(int64_t s) {
  auto u = formula_stream("input", 2 * s * s);
  const auto i = torch::arange(s, torch::kFloat64) / static_cast<double>(s);
  const auto noise = torch::tensor(u, torch::kFloat64).view({2, s, s});
  std::vector<Tensor> fields;
  for (int64_t n = 0; n < 2; ++n)
    fields.push_back(torch::sin(2 * M_PI * static_cast<double>(n + 1) * i).unsqueeze(1) * torch::cos(2 * M_PI * i) +
                     0.5 * i.unsqueeze(1) * i - 0.3 + 0.1 * noise[n]);
  return torch::stack(fields).to(torch::kFloat32);
}

}  // namespace piddm::testing
