#pragma once
// The parts U-Net and auto-encoder are made of. Activations are [B,C,H,W]; every part works on any H and W and in the
// dtype of what it is given (weights are cast), and has derivatives of every order.
//
//   ResidualBlock  y = S x + conv3(silu(norm(h))),  h = conv3(silu(norm(x))) + A e
//                  e the embedding of t; S the identity, or 1x1 if widths differ
//   SelfAttention  y = x + P softmax(Q K^T / sqrt(d)) V
//                  over all points; Q, K, V from norm(x), heads of d channels
//   TimeEmbedding  e = silu(W2 silu(W1 encoding(t) + b1) + b2)
//
// The last map of a block starts at zero (a block starts as S), all others with variance 1/inputs.

#include <optional>
#include <string>
#include <vector>

#include "piddm/core/fields.h"
#include "piddm/core/precision.h"
#include "piddm/model/parameters.h"

namespace piddm {

/// k x k convolution that continues the field by zeros; with stride 2 the grid n becomes ceil(n/2).
class Conv {
 public:
  Conv(ParameterDraw& draw, const std::string& name, int64_t in, int64_t out, int64_t kernel, int64_t stride = 1,
       double gain = 1);
  Tensor operator()(const Tensor& x) const;

 private:
  Tensor weight_, bias_;
  int64_t stride_;
};

/// Each group of channels of a sample to mean 0 and variance 1, then a scale and shift per channel. The number of
/// groups is gcd(groups, channels).
class GroupNorm {
 public:
  GroupNorm(ParameterDraw& draw, const std::string& name, int64_t channels, int64_t groups);
  Tensor operator()(const Tensor& x) const;

 private:
  int64_t groups_;
  Tensor scale_, shift_;
};

class TimeEmbedding {
 public:
  TimeEmbedding(ParameterDraw& draw, int64_t features, int64_t width);
  Tensor operator()(const Tensor& t) const;  ///< [B] -> [B,width]

 private:
  int64_t features_;
  Tensor weight1_, bias1_, weight2_, bias2_;
};

/// The options that all convolutional networks have. A network with options of its own lists them between the two
/// halves.
struct ConvOptions {
  int64_t channels = 2;
  int64_t width = 1;  ///< the default is each network's own, as that of the multipliers
  std::vector<int64_t> multipliers = {1};
  int64_t blocks = 2;
  int64_t groups = 16;
  int64_t time_features = 32;
  std::vector<int64_t> modes = {32, 32};

 protected:
  template <class V>
  void first_fields(V&& f, const char* blocks_meaning) {
    f("channels", channels, between(1, kMaxChannels), "field channels in and out");
    f("width", width, between(1, kMaxWidth), "hidden channels of the finest level");
    f("multipliers", multipliers, between(1, kMaxMultiplier), "hidden channels of each level over width, finest first");
    f("blocks", blocks, between(1, kMaxLayers), blocks_meaning);
  }
  template <class V>
  void last_fields(V&& f) {
    f("groups", groups, between(1, kMaxWidth), "groups of the normalisation");
    f("time_features", time_features, between(4, kMaxTimeFeatures), "sinusoidal features of t");
    f("modes", modes, between(2, kMaxModes),
      "Fourier modes of the latent that a band-limited student keeps; no effect on the network");
  }
};

/// A UsageError unless there are 1 to 16 levels: each halves the grid.
void check_levels(const std::vector<int64_t>& multipliers);

/// What all blocks of a network agree on.
struct BlockSizes {
  int64_t time;  ///< entries of the embedding
  int64_t groups;
  int64_t head_width = 0;  ///< d; a channel count that is no multiple of it has one head
};

class ResidualBlock {
 public:
  ResidualBlock(ParameterDraw& draw, const std::string& name, int64_t in, int64_t out, const BlockSizes& sizes);
  Tensor operator()(const Tensor& x, const Tensor& embedding) const;

 private:
  GroupNorm norm1_;
  Conv conv1_;
  Tensor time_weight_, time_bias_;
  GroupNorm norm2_;
  Conv conv2_;
  std::optional<Conv> shortcut_;
};

class SelfAttention {
 public:
  SelfAttention(ParameterDraw& draw, const std::string& name, int64_t channels, const BlockSizes& sizes);
  Tensor operator()(const Tensor& x) const;

 private:
  int64_t heads_;
  GroupNorm norm_;
  Conv qkv_, out_;
};

/// The blocks of one resolution, each followed by attention if the level has it, and the convolution that leads to the
/// next level.
struct ConvLevel {
  std::vector<ResidualBlock> blocks;
  std::vector<SelfAttention> attention;
  std::optional<Conv> change;

  Tensor block(size_t i, const Tensor& x, const Tensor& embedding) const;
};

/// Every point doubled along both axes, cut to [height,width].
Tensor doubled(const Tensor& x, int64_t height, int64_t width);

/// The dtype a convolutional network computes in: bfloat16 on a GPU in that precision, else that of x. Says to cuDNN
/// whether tf32 is allowed, which holds for all convolutions until the next call: a network in fp32 and one in tf32
/// must not share one backward pass.
torch::ScalarType convolution_type(const Tensor& x, Precision precision);

}  // namespace piddm
