#pragma once
// The CNN auto-encoder: the other backbone of the paper's robustness table. The paper gives no sizes; these make it as
// large as the U-Net.
//
//   in       conv3: C -> width
//   encoder  L levels of `blocks` residual blocks (conv_blocks.h) with width m_l channels; from each to the next a
//            conv3 with stride 2
//   middle   two blocks
//   decoder  the levels backwards, `blocks` blocks each; from each to the next the grid is doubled, then conv3
//   out      norm, silu, conv3: width -> C
//
// No connection passes the middle by: everything goes through the coarsest grid, (H/8)(W/8) points of 4 width channels
// at the defaults, which hold 256 numbers for every 128 of two fields. t enters every block. Any grid: odd sizes are
// rounded up in the encoder and cut in the decoder.

#include "piddm/model/conv_blocks.h"
#include "piddm/model/network.h"

namespace piddm {

struct AutoencoderOptions : ConvOptions {
  AutoencoderOptions() : ConvOptions{.width = 64, .multipliers = {1, 2, 4, 4}} {}

  template <class V>
  void fields(V&& f) {
    first_fields(f, "residual blocks of a level, in the encoder and in the decoder");
    last_fields(f);
  }
};

class Autoencoder : public Network {
 public:
  Autoencoder(const AutoencoderOptions& options, uint64_t seed);

  std::string type() const override { return "autoencoder"; }
  json options_json() const override { return write_fields(options_); }
  std::vector<int64_t> modes() const override { return options_.modes; }
  int64_t bytes_per_sample(int64_t channels, const GridSize& grid, bool gradient) const override;

 protected:
  Tensor forward(const Tensor& x, const Tensor& t) override;

 private:
  ConvLevel make_level(const std::string& name, size_t depth, int64_t in, bool last, int64_t stride);
  std::vector<ConvLevel> make_encoder();
  std::vector<ConvLevel> make_decoder();
  int64_t width_at(size_t depth) const { return options_.width * options_.multipliers[depth]; }

  AutoencoderOptions options_;
  ParameterDraw draw_;
  BlockSizes sizes_;
  TimeEmbedding time_;
  Conv in_;
  std::vector<ConvLevel> encoder_;
  ResidualBlock middle1_, middle2_;
  std::vector<ConvLevel> decoder_;
  GroupNorm out_norm_;
  Conv out_;
};

}  // namespace piddm
