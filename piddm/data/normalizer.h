#pragma once
// The only bridge between physical units and network units:  z = (x - shift) / scale  for each channel.
//
// Field channels: shift = mean, scale = standard deviation of the training set. Scalar channels: the training set's
// range goes to [-1,1]. A constant channel has scale 1. Statistics are float64 and are stored in every checkpoint.

#include <memory>
#include <string>
#include <vector>

#include "piddm/core/fields.h"
#include "piddm/core/tensor.h"
#include "piddm/pde/pde.h"

namespace piddm {

class Normalizer {
 public:
  Normalizer() = default;  ///< of no channels, to be assigned to

  /// From the training set [N,C,H,W] with these channels.
  static Normalizer fit(const Tensor& fields, const std::vector<Channel>& channels);

  /// A DataError names what is missing or not finite.
  static Normalizer from_json(const json& j);
  json to_json() const;

  /// Both differentiable, for [B,C,H,W] of any floating type on any device; the result has the type of the argument.
  /// Half precision is computed in float32; with an offset above 1000 scales, float64.
  Tensor to_network(const Tensor& x) const;
  Tensor to_physical(const Tensor& z) const;

  int64_t num_channels() const { return static_cast<int64_t>(channels_.size()); }
  const std::string& name(int64_t channel) const { return at(channel).name; }

  /// Statistics of the training set (of scalar channels too, though shift and scale are not made of them).
  double mean(int64_t channel) const { return at(channel).mean; }
  double std(int64_t channel) const { return at(channel).std; }

  double shift(int64_t channel) const { return at(channel).shift; }
  double scale(int64_t channel) const { return at(channel).scale; }

 private:
  struct Entry {
    std::string name;
    double mean, std, shift, scale;
  };
  struct Cache;

  explicit Normalizer(std::vector<Entry> channels);
  const Entry& at(int64_t channel) const { return channels_.at(static_cast<size_t>(channel)); }
  torch::ScalarType compute_type(const Tensor& x) const;
  std::pair<Tensor, Tensor> constants(torch::ScalarType dtype, torch::Device device) const;

  std::vector<Entry> channels_;
  bool large_offset_ = false;
  std::shared_ptr<Cache> cache_;  ///< shift and scale as tensors, by type and device: no copy to a GPU in each call
};

}  // namespace piddm
