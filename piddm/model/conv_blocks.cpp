#include "piddm/model/conv_blocks.h"

#include <ATen/Context.h>

#include <cmath>
#include <numeric>

#include "piddm/core/error.h"
#include "piddm/model/fno.h"

namespace piddm {

namespace {

constexpr double kNormEpsilon = 1e-5;

double keep_variance(int64_t inputs) { return std::sqrt(1.0 / static_cast<double>(inputs)); }

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return torch::addmm(bias.to(x.scalar_type()), x, weight.to(x.scalar_type()).t());
}

int64_t heads_of(int64_t channels, int64_t head_width) {
  return head_width > 0 && channels % head_width == 0 ? channels / head_width : 1;
}

}  // namespace

Conv::Conv(ParameterDraw& draw, const std::string& name, int64_t in, int64_t out, int64_t kernel, int64_t stride,
           double gain)
    : weight_(draw(name + ".weight", {out, in, kernel, kernel}, gain * keep_variance(in * kernel * kernel))),
      bias_(draw(name + ".bias", {out}, 0)),
      stride_(stride) {}

Tensor Conv::operator()(const Tensor& x) const {
  const int64_t padding = weight_.size(2) / 2;
  return torch::conv2d(x, weight_.to(x.scalar_type()), bias_.to(x.scalar_type()), stride_, padding);
}

GroupNorm::GroupNorm(ParameterDraw& draw, const std::string& name, int64_t channels, int64_t groups)
    : groups_(std::gcd(groups, channels)),
      scale_(draw(name + ".scale", {channels}, 0, 1)),
      shift_(draw(name + ".shift", {channels}, 0)) {}

Tensor GroupNorm::operator()(const Tensor& x) const {
  return torch::group_norm(x, groups_, scale_.to(x.scalar_type()), shift_.to(x.scalar_type()), kNormEpsilon);
}

TimeEmbedding::TimeEmbedding(ParameterDraw& draw, int64_t features, int64_t width)
    : features_(features),
      weight1_(draw("time1.weight", {width, features}, keep_variance(features))),
      bias1_(draw("time1.bias", {width}, 0)),
      weight2_(draw("time2.weight", {width, width}, keep_variance(width))),
      bias2_(draw("time2.bias", {width}, 0)) {}

Tensor TimeEmbedding::operator()(const Tensor& t) const {
  const auto hidden = torch::silu(linear(time_encoding(t, features_), weight1_, bias1_));
  return torch::silu(linear(hidden, weight2_, bias2_));
}

ResidualBlock::ResidualBlock(ParameterDraw& draw, const std::string& name, int64_t in, int64_t out,
                             const BlockSizes& sizes)
    : norm1_(draw, name + ".norm1", in, sizes.groups),
      conv1_(draw, name + ".conv1", in, out, 3),
      time_weight_(draw(name + ".time.weight", {out, sizes.time}, keep_variance(sizes.time))),
      time_bias_(draw(name + ".time.bias", {out}, 0)),
      norm2_(draw, name + ".norm2", out, sizes.groups),
      conv2_(draw, name + ".conv2", out, out, 3, 1, 0) {
  if (in != out) shortcut_.emplace(draw, name + ".shortcut", in, out, 1);
}

Tensor ResidualBlock::operator()(const Tensor& x, const Tensor& embedding) const {
  const auto by_time = linear(embedding, time_weight_, time_bias_).unsqueeze(2).unsqueeze(3);
  const auto h = conv1_(torch::silu(norm1_(x))) + by_time;
  return (shortcut_ ? (*shortcut_)(x) : x) + conv2_(torch::silu(norm2_(h)));
}

SelfAttention::SelfAttention(ParameterDraw& draw, const std::string& name, int64_t channels, const BlockSizes& sizes)
    : heads_(heads_of(channels, sizes.head_width)),
      norm_(draw, name + ".norm", channels, sizes.groups),
      qkv_(draw, name + ".qkv", channels, 3 * channels, 1),
      out_(draw, name + ".out", channels, channels, 1, 1, 0) {}

Tensor SelfAttention::operator()(const Tensor& x) const {
  const int64_t batch = x.size(0), width = x.size(1) / heads_, points = x.size(2) * x.size(3);
  // channels: q of all heads, then k, then v
  const auto qkv = qkv_(norm_(x)).reshape({batch, 3, heads_, width, points});
  const auto q = qkv.select(1, 0), k = qkv.select(1, 1), v = qkv.select(1, 2);
  const auto scores = torch::matmul(q.transpose(2, 3), k) / std::sqrt(static_cast<double>(width));
  const auto mixed = torch::matmul(v, torch::softmax(scores, -1).transpose(2, 3));
  return x + out_(mixed.reshape(x.sizes()));
}

void check_levels(const std::vector<int64_t>& multipliers) {
  constexpr size_t kMost = 16;
  require<UsageError>(!multipliers.empty() && multipliers.size() <= kMost, "model.multipliers: 1 to {} levels, got {}",
                      kMost, multipliers.size());
}

Tensor ConvLevel::block(size_t i, const Tensor& x, const Tensor& embedding) const {
  const auto h = blocks[i](x, embedding);
  return attention.empty() ? h : attention[i](h);
}

Tensor doubled(const Tensor& x, int64_t height, int64_t width) {
  const int64_t b = x.size(0), c = x.size(1), h = x.size(2), w = x.size(3);
  const auto all = x.reshape({b, c, h, 1, w, 1}).expand({b, c, h, 2, w, 2}).reshape({b, c, 2 * h, 2 * w});
  return all.narrow(2, 0, height).narrow(3, 0, width);
}

torch::ScalarType convolution_type(const Tensor& x, Precision precision) {
  if (x.is_cuda()) at::globalContext().setAllowTF32CuDNN(precision != Precision::fp32);
  return x.is_cuda() && precision == Precision::bf16 ? torch::kBFloat16 : x.scalar_type();
}

}  // namespace piddm
