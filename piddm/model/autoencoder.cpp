#include "piddm/model/autoencoder.h"

#include "piddm/model/conv_memory.h"
#include "piddm/model/inputs.h"

namespace piddm {

namespace {

const AutoencoderOptions& checked(const AutoencoderOptions& o) {
  check_bounds(o, "model");
  check_levels(o.multipliers);
  check_time_features(o.time_features);
  check_modes(o.modes);
  return o;
}

Tensor through(const ConvLevel& level, Tensor h, const Tensor& embedding) {
  for (size_t i = 0; i < level.blocks.size(); ++i) h = level.block(i, h, embedding);
  return h;
}

}  // namespace

Autoencoder::Autoencoder(const AutoencoderOptions& options, uint64_t seed)
    : options_(checked(options)),
      draw_(*this, seed),
      sizes_{4 * options_.width, options_.groups},
      time_(draw_, options_.time_features, sizes_.time),
      in_(draw_, "in", options_.channels, options_.width, 3),
      encoder_(make_encoder()),
      middle1_(draw_, "middle1", width_at(encoder_.size() - 1), width_at(encoder_.size() - 1), sizes_),
      middle2_(draw_, "middle2", width_at(encoder_.size() - 1), width_at(encoder_.size() - 1), sizes_),
      decoder_(make_decoder()),
      out_norm_(draw_, "out.norm", width_at(0), options_.groups),
      out_(draw_, "out", width_at(0), options_.channels, 3) {}

ConvLevel Autoencoder::make_level(const std::string& name, size_t depth, int64_t in, bool last, int64_t stride) {
  ConvLevel level;
  const int64_t width = width_at(depth);
  for (int64_t i = 0; i < options_.blocks; ++i)
    level.blocks.emplace_back(draw_, fmt::format("{}.{}.{}", name, depth, i), i == 0 ? in : width, width, sizes_);
  if (!last) level.change.emplace(draw_, fmt::format("{}.{}.change", name, depth), width, width, 3, stride);
  return level;
}

std::vector<ConvLevel> Autoencoder::make_encoder() {
  std::vector<ConvLevel> levels;
  const size_t count = options_.multipliers.size();
  for (size_t depth = 0; depth < count; ++depth)
    levels.push_back(
        make_level("encoder", depth, depth == 0 ? options_.width : width_at(depth - 1), depth + 1 == count, 2));
  return levels;
}

std::vector<ConvLevel> Autoencoder::make_decoder() {
  std::vector<ConvLevel> levels;  // coarsest first
  const size_t count = options_.multipliers.size();
  for (size_t depth = count; depth-- > 0;)
    levels.push_back(make_level("decoder", depth, width_at(std::min(depth + 1, count - 1)), depth == 0, 1));
  return levels;
}

int64_t Autoencoder::bytes_per_sample(int64_t channels, const GridSize& grid, bool gradient) const {
  return 4 * (autoencoder_activations(options_, grid, gradient) + 8 * channels * grid.points());
}

Tensor Autoencoder::forward(const Tensor& x, const Tensor& t) {
  check_inputs("autoencoder", x, t, options_.channels);
  const auto dtype = convolution_type(x, precision());
  const auto embedding = time_(t).to(dtype);
  auto h = in_(x.to(dtype));
  std::vector<std::pair<int64_t, int64_t>> grids;
  for (const auto& level : encoder_) {
    h = through(level, h, embedding);
    if (!level.change) continue;
    grids.emplace_back(h.size(2), h.size(3));
    h = (*level.change)(h);
  }
  h = middle2_(middle1_(h, embedding), embedding);
  for (const auto& level : decoder_) {
    h = through(level, h, embedding);
    if (!level.change) continue;
    h = (*level.change)(doubled(h, grids.back().first, grids.back().second));
    grids.pop_back();
  }
  return out_(torch::silu(out_norm_(h))).to(x.scalar_type());
}

}  // namespace piddm
