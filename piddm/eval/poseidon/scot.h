#pragma once
// The encoder of ScOT, the scalable operator transformer behind the Poseidon models (Herde et al., "Poseidon: Efficient
// foundation models for PDEs", 2024): a hierarchy of windowed-attention stages whose norms are conditioned on time.
// Only what the Frechet Poseidon distance needs: no decoder.
//
//   input      (B,num_channels,n,n), resampled to image_size by fourier_resample, zero-padded right and bottom to whole
//              patches
//   embedding  one linear map per patch -> embed_dim, norm
//   stage i    width C_i = embed_dim 2^i, grid (image_size/patch_size)/2^i, depths[i] blocks:
//                x <- x + norm(attention(x)),  x <- x + norm(MLP(x));
//              odd blocks roll the grid by window/2 where it is larger than a window
//   between    merge(stage output + stage input): 2x2 neighbours (0,0),(1,0),(0,1),(1,1) concatenated, linear 4C -> 2C
//              without bias, norm
//   norm       y = (x - mean)/sqrt(mean(x^2) - mean^2 + eps) over channels,
//              times gamma(t) = w_g t + b_g, plus beta(t) = w_b t + b_b
//
// Names and shapes of the weights are those of the published files.

#include <map>
#include <string>
#include <vector>

#include "piddm/core/fields.h"
#include "piddm/files/tensor_map.h"

namespace piddm {

/// The fields of a published config.json that concern the encoder, with the defaults of the model class.
struct ScotConfig {
  int64_t image_size = 224, patch_size = 4, num_channels = 3, embed_dim = 96;
  std::vector<int64_t> depths = {2, 2, 6, 2}, num_heads = {3, 6, 12, 24};
  int64_t window_size = 7;
  double mlp_ratio = 4, layer_norm_eps = 1e-5;
  bool qkv_bias = true, use_conditioning = false, use_absolute_embeddings = false;
  std::string hidden_act = "gelu";

  template <class V>
  void fields(V&& f) {
    f("image_size", image_size, "points a side the network works on");
    f("patch_size", patch_size, "points a side of a patch");
    f("num_channels", num_channels, "input channels");
    f("embed_dim", embed_dim, "width of the first stage");
    f("depths", depths, "blocks of each stage");
    f("num_heads", num_heads, "attention heads of each stage");
    f("window_size", window_size, "tokens a side of an attention window");
    f("mlp_ratio", mlp_ratio, "hidden width of the MLPs over the width of the stage");
    f("layer_norm_eps", layer_norm_eps, "eps of the norms in the blocks");
    f("qkv_bias", qkv_bias, "biases of queries and values");
    f("use_conditioning", use_conditioning, "norms depend on time");
    f("use_absolute_embeddings", use_absolute_embeddings, "learned positions are added to the embedding");
    f("hidden_act", hidden_act, "activation of the MLPs");
  }

  int64_t stages() const { return static_cast<int64_t>(depths.size()); }
  int64_t width(int64_t stage) const { return embed_dim << stage; }
  int64_t grid(int64_t stage) const;  ///< tokens per side
  int64_t window(int64_t stage) const { return std::min(window_size, grid(stage)); }
  int64_t feature_size() const { return width(stages() - 1); }
};

/// Missing fields take their defaults, unknown ones are ignored; a DataError begins with `origin` and names what does
/// not fit.
ScotConfig parse_scot_config(const json& config, const std::string& origin);

/// Name and shape of every weight of the encoder.
std::map<std::string, std::vector<int64_t>> scot_weights(const ScotConfig& config);

class ScotEncoder {
 public:
  /// Takes its weights out of `weights` (others are ignored), in this type and on this device; a DataError that begins
  /// with `origin` names a missing, misshapen or non-finite one.
  ScotEncoder(const ScotConfig& config, const TensorMap& weights, const std::string& origin,
              torch::ScalarType dtype = torch::kFloat32, torch::Device device = torch::kCPU);

  const ScotConfig& config() const { return config_; }

  /// Hidden states of pixels (B,num_channels,n,n) at times t (B): the embedding, then the output of each stage, all
  /// (B,tokens,C).
  std::vector<Tensor> encode(const Tensor& pixels, const Tensor& t) const;

  /// The FPD feature of scalar fields (N,n,n): last hidden state at t = 0 of the input (x,0,...,0), averaged over
  /// tokens; (N,feature_size) on the CPU in the encoder's type. Fields enter as they are, unscaled; for problems in
  /// time the axes are (x,t).
  Tensor features(const Tensor& fields) const;

 private:
  struct Block {
    std::string name;
    Tensor bias;    ///< position bias, (heads,w^2,w^2)
    int64_t shift;  ///< 0 or half a window
  };

  const Tensor& at(const std::string& name) const { return weights_.at(name); }
  Tensor norm(const Tensor& x, const std::string& name, const Tensor& t, double eps) const;
  Tensor embed(const Tensor& pixels, const Tensor& t) const;
  Tensor block(const Tensor& x, const Block& block, int64_t window, const Tensor& t) const;
  Tensor attend(const Tensor& x, const Block& block, int64_t window) const;
  Tensor merge(const Tensor& x, const std::string& name, const Tensor& t) const;

  ScotConfig config_;
  TensorMap weights_;
  std::vector<std::vector<Block>> stages_;
};

}  // namespace piddm
