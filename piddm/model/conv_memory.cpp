#include "piddm/model/conv_memory.h"

#include <algorithm>

namespace piddm {

namespace {

/// Of one sample, in floats.
class Count {
 public:
  explicit Count(const GridSize& grid) : grid_(grid) {}

  int64_t points(size_t depth) const {
    int64_t h = grid_.height(), w = grid_.width();
    for (size_t i = 0; i < depth; ++i) h = (h + 1) / 2, w = (w + 1) / 2;
    return h * w;
  }
  void block(int64_t in, int64_t out, size_t depth, bool joined = false) {
    graph_ += 3 * (in + out) * points(depth);
    use(((joined ? 2 : 1) * in + std::max(2 * (in + out), 6 * out)) * points(depth));
  }
  void attention(int64_t channels, int64_t head_width, size_t depth) {
    const int64_t heads = channels % head_width == 0 ? channels / head_width : 1, p = points(depth);
    graph_ += 8 * channels * p + heads * p * p;
    use(8 * channels * p + 3 * heads * p * p);
  }
  void map(int64_t channels, size_t depth) { graph_ += channels * points(depth); }
  void skip(int64_t channels, size_t depth) { skips_ += channels * points(depth); }

  int64_t floats(bool gradient) const { return (gradient ? graph_ : skips_) + working_; }

 private:
  void use(int64_t floats) { working_ = std::max(working_, floats); }

  GridSize grid_;
  int64_t graph_ = 0, skips_ = 0, working_ = 0;
};

Count count_unet(const UnetOptions& o, const GridSize& grid) {
  Count count(grid);
  const size_t levels = o.multipliers.size();
  const auto width = [&](size_t depth) { return o.width * o.multipliers[depth]; };
  const auto block = [&](int64_t in, size_t depth, bool joined) {
    count.block(in, width(depth), depth, joined);
    if (static_cast<int64_t>(levels - depth) <= o.attention) count.attention(width(depth), o.head_width, depth);
  };
  std::vector<int64_t> skips;
  const auto leave = [&](int64_t channels, size_t depth) {
    skips.push_back(channels);
    count.skip(channels, depth);
  };
  leave(o.width, 0);
  for (size_t depth = 0; depth < levels; ++depth) {
    for (int64_t i = 0; i < o.blocks; ++i) {
      block(skips.back(), depth, false);
      leave(width(depth), depth);
    }
    if (depth + 1 == levels) break;
    count.map(width(depth), depth);
    leave(width(depth), depth + 1);
  }
  count.attention(width(levels - 1), o.head_width, levels - 1);
  int64_t channels = width(levels - 1);
  for (int i = 0; i < 2; ++i) count.block(channels, channels, levels - 1);
  for (size_t depth = levels; depth-- > 0;) {
    for (int64_t i = 0; i <= o.blocks; ++i, skips.pop_back()) {
      block(channels + skips.back(), depth, true);
      channels = width(depth);
    }
    count.map(channels, depth == 0 ? 0 : depth - 1);
  }
  return count;
}

Count count_autoencoder(const AutoencoderOptions& o, const GridSize& grid) {
  Count count(grid);
  const size_t levels = o.multipliers.size();
  int64_t channels = o.width;
  const auto level = [&](size_t depth) {
    for (int64_t i = 0; i < o.blocks; ++i) {
      count.block(channels, o.width * o.multipliers[depth], depth);
      channels = o.width * o.multipliers[depth];
    }
  };
  for (size_t depth = 0; depth < levels; ++depth) {
    level(depth);
    count.map(channels, depth);
  }
  for (int i = 0; i < 2; ++i) count.block(channels, channels, levels - 1);
  for (size_t depth = levels; depth-- > 0;) {
    level(depth);
    count.map(channels, depth == 0 ? 0 : depth - 1);
  }
  return count;
}

}  // namespace

int64_t unet_activations(const UnetOptions& options, const GridSize& grid, bool gradient) {
  return count_unet(options, grid).floats(gradient);
}

int64_t autoencoder_activations(const AutoencoderOptions& options, const GridSize& grid, bool gradient) {
  return count_autoencoder(options, grid).floats(gradient);
}

}  // namespace piddm
