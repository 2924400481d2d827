#pragma once
// The U-Net: one of the two other backbones of the paper's robustness table. The paper gives no sizes; these are the
// usual ones of diffusion models (Ho, Jain, Abbeel 2020) at about 15 M parameters.
//
//   in      conv3: C -> width
//   down    L levels of `blocks` residual blocks (conv_blocks.h) with width m_l channels; from each to the next a conv3
//           with stride 2
//   middle  block, attention, block
//   up      the levels backwards, `blocks`+1 blocks each; every block also sees what the way down left at its place
//           (skip connections); from each to the next the grid is doubled, then conv3
//   out     norm, silu, conv3: width -> C
//
// Attention after every block of the `attention` coarsest levels. t enters every block. Any grid: odd sizes are rounded
// up on the way down and cut on the way up, so that nothing is padded outside.

#include "piddm/model/conv_blocks.h"
#include "piddm/model/network.h"

namespace piddm {

struct UnetOptions : ConvOptions {
  UnetOptions() : ConvOptions{.width = 48, .multipliers = {1, 2, 3, 3, 4}} {}

  int64_t attention = 2;
  int64_t head_width = 48;

  template <class V>
  void fields(V&& f) {
    first_fields(f, "residual blocks of a level on the way down; one more on the way up");
    f("attention", attention, between(0, kMaxLayers), "coarsest levels with self-attention");
    f("head_width", head_width, between(1, kMaxWidth), "channels of an attention head");
    last_fields(f);
  }
};

class Unet : public Network {
 public:
  Unet(const UnetOptions& options, uint64_t seed);

  std::string type() const override { return "unet"; }
  json options_json() const override { return write_fields(options_); }
  std::vector<int64_t> modes() const override { return options_.modes; }
  int64_t bytes_per_sample(int64_t channels, const GridSize& grid, bool gradient) const override;

 protected:
  Tensor forward(const Tensor& x, const Tensor& t) override;

 private:
  std::vector<ConvLevel> make_down();
  std::vector<ConvLevel> make_up();
  void add_block(ConvLevel& level, const std::string& name, size_t depth, int64_t in);
  int64_t width_at(size_t depth) const { return options_.width * options_.multipliers[depth]; }
  Tensor way_down(const Tensor& x, const Tensor& embedding, std::vector<Tensor>& skips) const;
  Tensor way_up(const Tensor& x, const Tensor& embedding, std::vector<Tensor>& skips) const;

  UnetOptions options_;
  ParameterDraw draw_;
  BlockSizes sizes_;
  TimeEmbedding time_;
  Conv in_;
  std::vector<int64_t> skip_widths_;  ///< channels of what the way down leaves, while the levels are made
  std::vector<ConvLevel> down_;
  ResidualBlock middle1_;
  SelfAttention attention_;
  ResidualBlock middle2_;
  std::vector<ConvLevel> up_;
  GroupNorm out_norm_;
  Conv out_;
};

}  // namespace piddm
