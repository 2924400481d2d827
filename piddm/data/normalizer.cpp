#include "piddm/data/normalizer.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "piddm/data/statistics.h"

namespace piddm {

namespace {

constexpr double kLargeOffset = 1000, kLargestValue = 1e18;

/// `value`, or 1 if the channel varies by no more than round-off.
double scale_or_one(double value, const ChannelStatistics& s) {
  return value > 1e-14 * std::max(std::abs(s.min), std::abs(s.max)) ? value : 1;
}

double number_of(const json& j, const char* key, const std::string& name) {
  const auto value = j.find(key);
  require<DataError>(value != j.end() && value->is_number() && std::isfinite(value->get<double>()),
                     "[normalizer] channel '{}': '{}' is missing or not a number", name, key);
  return value->get<double>();
}

}  // namespace

struct Normalizer::Cache {
  struct Item {
    Tensor shift, scale;
  };
  std::mutex mutex;
  std::vector<Item> items;
};

Normalizer::Normalizer(std::vector<Entry> channels)
    : channels_(std::move(channels)), cache_(std::make_shared<Cache>()) {
  for (const auto& c : channels_) large_offset_ = large_offset_ || std::abs(c.shift) > kLargeOffset * c.scale;
}

Normalizer Normalizer::fit(const Tensor& fields, const std::vector<Channel>& channels) {
  const auto statistics = channel_statistics(fields);
  require<DataError>(statistics.size() == channels.size(), "[normalizer] {} channels for fields {}", channels.size(),
                     shape_string(fields));
  std::vector<Entry> entries;
  for (size_t c = 0; c < channels.size(); ++c) {
    const auto& s = statistics[c];
    require<DataError>(std::isfinite(s.mean) && std::isfinite(s.std), "[normalizer] channel '{}' is not finite",
                       channels[c].name);
    require<DataError>(std::max(std::abs(s.min), std::abs(s.max)) <= kLargestValue,
                       "[normalizer] channel '{}' reaches from {:.3g} to {:.3g}, beyond what float32 can square; "
                       "give the data in other units",
                       channels[c].name, s.min, s.max);
    const double shift = channels[c].scalar ? s.min + (s.max - s.min) / 2 : s.mean;
    const double scale = channels[c].scalar ? (s.max - s.min) / 2 : s.std;
    entries.push_back({channels[c].name, s.mean, s.std, shift, scale_or_one(scale, s)});
  }
  return Normalizer(std::move(entries));
}

Normalizer Normalizer::from_json(const json& j) {
  require<DataError>(j.is_array() && !j.empty(), "[normalizer] expected a list of channels");
  std::vector<Entry> entries;
  for (const auto& c : j) {
    require<DataError>(c.is_object() && c.contains("name") && c["name"].is_string(),
                       "[normalizer] a channel has no name");
    const auto name = c["name"].get<std::string>();
    entries.push_back({name, number_of(c, "mean", name), number_of(c, "std", name), number_of(c, "shift", name),
                       number_of(c, "scale", name)});
    require<DataError>(entries.back().scale > 0, "[normalizer] channel '{}': scale must be positive", name);
  }
  return Normalizer(std::move(entries));
}

json Normalizer::to_json() const {
  json j = json::array();
  for (const auto& c : channels_)
    j.push_back({{"name", c.name}, {"mean", c.mean}, {"std", c.std}, {"shift", c.shift}, {"scale", c.scale}});
  return j;
}

torch::ScalarType Normalizer::compute_type(const Tensor& x) const {
  require<DataError>(x.dim() == 4 && x.size(1) == num_channels() && x.is_floating_point(),
                     "[normalizer] expected floating-point (B,{},H,W), got {}", num_channels(), shape_string(x));
  if (large_offset_ || x.scalar_type() == torch::kFloat64) return torch::kFloat64;
  return torch::kFloat32;
}

std::pair<Tensor, Tensor> Normalizer::constants(torch::ScalarType dtype, torch::Device device) const {
  const std::lock_guard lock(cache_->mutex);
  for (const auto& item : cache_->items)
    if (item.shift.scalar_type() == dtype && item.shift.device() == device) return {item.shift, item.scale};
  std::vector<double> shift, scale;
  for (const auto& c : channels_) {
    shift.push_back(c.shift);
    scale.push_back(c.scale);
  }
  const auto tensor = [&](const std::vector<double>& values) {
    return torch::tensor(values, torch::kFloat64).reshape({1, -1, 1, 1}).to(device, dtype);
  };
  cache_->items.push_back({tensor(shift), tensor(scale)});
  return {cache_->items.back().shift, cache_->items.back().scale};
}

Tensor Normalizer::to_network(const Tensor& x) const {
  const auto dtype = compute_type(x);
  const auto [shift, scale] = constants(dtype, x.device());
  return ((x.to(dtype) - shift) / scale).to(x.scalar_type());
}

Tensor Normalizer::to_physical(const Tensor& z) const {
  const auto dtype = compute_type(z);
  const auto [shift, scale] = constants(dtype, z.device());
  return (z.to(dtype) * scale + shift).to(z.scalar_type());
}

}  // namespace piddm
