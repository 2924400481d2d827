#include "piddm/posterior/encoding.h"

#include <algorithm>

#include "piddm/posterior/nearest_point.h"

namespace piddm {

namespace {

constexpr double kHalfPrecision = 0.02;  // s0
constexpr double kReach = 0.05;          // l, as a share of the longer side
constexpr int64_t kFieldImages = 4, kScalarImages = 2;

/// The channels that are fields, or those that are scalars.
Tensor channels_of(const Pde& pde, bool scalar, torch::Device device) {
  std::vector<int64_t> numbers;
  for (int64_t c = 0; c < pde.num_channels(); ++c)
    if (pde.channels()[static_cast<size_t>(c)].scalar == scalar) numbers.push_back(c);
  return torch::tensor(numbers, torch::kLong).to(device);
}

/// Four images of each field, side by side: [B,F,H,W] to [B,4F,H,W].
Tensor encode_fields(const Tensor& known, const Tensor& value, const Tensor& sigma) {
  const auto zero = torch::zeros({}, value.options());
  const auto trust = 1 / (1 + sigma.square());
  const auto shrunken = torch::where(known, value * trust, zero);
  const auto precision = torch::where(known, kHalfPrecision / (kHalfPrecision + sigma), zero);
  const auto nearest = nearest_points(known.flatten(0, 1));
  const auto at = nearest.index.view(known.sizes()).flatten(2);
  const auto of_nearest = [&](const Tensor& x) { return x.flatten(2).gather(2, at).view(known.sizes()); };
  const double reach = kReach * static_cast<double>(std::max(known.size(2), known.size(3)));
  const auto nearness = (reach / (reach + nearest.distance)).view(known.sizes()).to(value.scalar_type());
  return torch::stack({precision, shrunken, of_nearest(shrunken), of_nearest(trust) * nearness}, 2).flatten(1, 2);
}

/// Two images of each scalar: [B,S,H,W] to [B,2S,H,W].
Tensor encode_scalars(const Tensor& known, const Tensor& value, const Tensor& sigma) {
  const auto weight = known.to(value.scalar_type());
  const auto count = weight.sum({2, 3}, true);
  const auto mean = [&](const Tensor& x) { return (x * weight).sum({2, 3}, true) / count.clamp_min(1); };
  const auto spread = mean(sigma), given = (count > 0).to(value.scalar_type());
  const auto precision = given * (kHalfPrecision / (kHalfPrecision + spread));
  const auto shrunken = torch::where(given > 0, mean(torch::where(known, value, torch::zeros_like(value))), given) /
                        (1 + spread.square());
  return torch::stack({precision, shrunken}, 2).flatten(1, 2).expand({-1, -1, known.size(2), known.size(3)});
}

}  // namespace

Footprints footprints_of(const Target& target) { return {target.mask > 0, target.values, target.sigma}; }

int64_t encoding_channels(const Pde& pde) {
  int64_t count = 0;
  for (const auto& channel : pde.channels()) count += channel.scalar ? kScalarImages : kFieldImages;
  return count;
}

Tensor encode(const Footprints& x, const Pde& pde) {
  const auto part = [&](const Tensor& channels) {
    return Footprints{x.known.index_select(1, channels), x.value.index_select(1, channels),
                      x.sigma.index_select(1, channels)};
  };
  const auto fields = part(channels_of(pde, false, x.value.device()));
  const auto images = encode_fields(fields.known, fields.value, fields.sigma);
  const auto numbers = channels_of(pde, true, x.value.device());
  if (numbers.size(0) == 0) return images;
  const auto scalars = part(numbers);
  return torch::cat({images, encode_scalars(scalars.known, scalars.value, scalars.sigma)}, 1);
}

}  // namespace piddm
