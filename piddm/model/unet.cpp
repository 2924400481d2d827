#include "piddm/model/unet.h"

#include <algorithm>

#include "piddm/model/conv_memory.h"
#include "piddm/model/inputs.h"

namespace piddm {

namespace {

const UnetOptions& checked(const UnetOptions& o) {
  check_bounds(o, "model");
  check_levels(o.multipliers);
  require<UsageError>(o.attention <= static_cast<int64_t>(o.multipliers.size()), "model.attention: {} levels of {}",
                      o.attention, o.multipliers.size());
  check_time_features(o.time_features);
  check_modes(o.modes);
  return o;
}

}  // namespace

Unet::Unet(const UnetOptions& options, uint64_t seed)
    : options_(checked(options)),
      draw_(*this, seed),
      sizes_{4 * options_.width, options_.groups, options_.head_width},
      time_(draw_, options_.time_features, sizes_.time),
      in_(draw_, "in", options_.channels, options_.width, 3),
      down_(make_down()),
      middle1_(draw_, "middle1", width_at(down_.size() - 1), width_at(down_.size() - 1), sizes_),
      attention_(draw_, "attention", width_at(down_.size() - 1), sizes_),
      middle2_(draw_, "middle2", width_at(down_.size() - 1), width_at(down_.size() - 1), sizes_),
      up_(make_up()),
      out_norm_(draw_, "out.norm", width_at(0), options_.groups),
      out_(draw_, "out", width_at(0), options_.channels, 3) {}

void Unet::add_block(ConvLevel& level, const std::string& name, size_t depth, int64_t in) {
  const auto block = fmt::format("{}.{}.{}", name, depth, level.blocks.size());
  level.blocks.emplace_back(draw_, block, in, width_at(depth), sizes_);
  if (static_cast<int64_t>(options_.multipliers.size() - depth) <= options_.attention)
    level.attention.emplace_back(draw_, block + ".attention", width_at(depth), sizes_);
}

std::vector<ConvLevel> Unet::make_down() {
  std::vector<ConvLevel> levels(options_.multipliers.size());
  skip_widths_ = {options_.width};
  for (size_t depth = 0; depth < levels.size(); ++depth) {
    const int64_t width = width_at(depth);
    for (int64_t i = 0; i < options_.blocks; ++i) {
      add_block(levels[depth], "down", depth, skip_widths_.back());
      skip_widths_.push_back(width);
    }
    if (depth + 1 == levels.size()) break;
    levels[depth].change.emplace(draw_, fmt::format("down.{}.change", depth), width, width, 3, 2);
    skip_widths_.push_back(width);
  }
  return levels;
}

std::vector<ConvLevel> Unet::make_up() {
  std::vector<ConvLevel> levels(options_.multipliers.size());  // coarsest first
  int64_t width = width_at(levels.size() - 1);
  for (size_t i = 0; i < levels.size(); ++i) {
    const size_t depth = levels.size() - 1 - i;
    for (int64_t block = 0; block <= options_.blocks; ++block) {
      add_block(levels[i], "up", depth, width + skip_widths_.back());
      skip_widths_.pop_back();
      width = width_at(depth);
    }
    if (depth > 0) levels[i].change.emplace(draw_, fmt::format("up.{}.change", depth), width, width, 3);
  }
  return levels;
}

Tensor Unet::way_down(const Tensor& x, const Tensor& embedding, std::vector<Tensor>& skips) const {
  auto h = x;
  skips = {h};
  for (const auto& level : down_) {
    for (size_t i = 0; i < level.blocks.size(); ++i) skips.push_back(h = level.block(i, h, embedding));
    if (level.change) skips.push_back(h = (*level.change)(h));
  }
  return h;
}

Tensor Unet::way_up(const Tensor& x, const Tensor& embedding, std::vector<Tensor>& skips) const {
  auto h = x;
  for (const auto& level : up_) {
    for (size_t i = 0; i < level.blocks.size(); ++i) {
      h = level.block(i, torch::cat({h, skips.back()}, 1), embedding);
      skips.pop_back();
    }
    if (level.change) h = (*level.change)(doubled(h, skips.back().size(2), skips.back().size(3)));
  }
  return h;
}

int64_t Unet::bytes_per_sample(int64_t channels, const GridSize& grid, bool gradient) const {
  return 4 * (unet_activations(options_, grid, gradient) + 8 * channels * grid.points());
}

Tensor Unet::forward(const Tensor& x, const Tensor& t) {
  check_inputs("unet", x, t, options_.channels);
  const auto dtype = convolution_type(x, precision());
  const auto embedding = time_(t).to(dtype);
  std::vector<Tensor> skips;
  auto h = way_down(in_(x.to(dtype)), embedding, skips);
  h = middle2_(attention_(middle1_(h, embedding)), embedding);
  h = way_up(h, embedding, skips);
  return out_(torch::silu(out_norm_(h))).to(x.scalar_type());
}

}  // namespace piddm
