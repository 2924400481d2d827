#include "piddm/data/spectrum.h"

#include <algorithm>
#include <limits>

#include "piddm/core/error.h"

namespace piddm {

namespace {

constexpr int64_t kBatch = 64;
constexpr double kRoundOff = 1e-24, kCountedPower = 1e-6, kLargestRatio = 1e12;

/// Scaled to a mean square of one.
Tensor hann_window(int64_t n, const torch::TensorOptions& options) {
  const auto window = torch::hann_window(n, options);
  return window / window.square().mean().sqrt();
}

/// Number of waves of each Fourier coefficient, nearest integer: [H,W].
Tensor wave_numbers(int64_t h, int64_t w, bool along_x_only) {
  const auto kx = torch::fft::fftfreq(h, 1.0 / static_cast<double>(h), torch::kFloat64).unsqueeze(1);
  if (along_x_only) return kx.abs().round().expand({h, w});
  const auto ky = torch::fft::fftfreq(w, 1.0 / static_cast<double>(w), torch::kFloat64);
  return (kx.square() + ky.square()).sqrt().round();
}

/// |c_k|^2 of each sample: [N,H,W].
Tensor power(const Tensor& x, bool along_x_only) {
  const int64_t h = x.size(1), w = x.size(2);
  if (along_x_only) {
    const auto centred = (x - x.mean(1, true)) * hann_window(h, x.options()).unsqueeze(1);
    return (torch::fft::fft(centred, c10::nullopt, 1).abs() / static_cast<double>(h)).square() / static_cast<double>(w);
  }
  const auto window = hann_window(h, x.options()).unsqueeze(1) * hann_window(w, x.options());
  const auto centred = (x - x.mean({1, 2}, true)) * window;
  return (torch::fft::fft2(centred).abs() / static_cast<double>(h * w)).square();
}

}  // namespace

Tensor sample_spectra(const Tensor& fields, bool along_x_only) {
  require<DataError>(fields.dim() == 3 && fields.numel() > 0, "[spectrum] expected fields (N,H,W), got {}",
                     shape_string(fields));
  const torch::NoGradGuard no_grad;
  const int64_t h = fields.size(1), w = fields.size(2), largest = largest_wave_number(h, w, along_x_only);
  const auto k = wave_numbers(h, w, along_x_only).to(torch::kLong).flatten();
  const auto bin = k.to(fields.device());
  const int64_t bins = k.max().item<int64_t>() + 1;
  std::vector<Tensor> parts;
  for (const auto& part : fields.split(kBatch)) {
    const auto p = power(part.to(torch::kFloat64), along_x_only).flatten(1);
    const auto binned = torch::zeros({p.size(0), bins}, p.options()).index_add(1, bin, p);
    parts.push_back(binned.slice(1, 1, largest + 1));
  }
  return torch::cat(parts).to(torch::kCPU);
}

std::vector<double> power_spectrum(const Tensor& fields, bool along_x_only) {
  return to_vector(sample_spectra(fields, along_x_only).mean(0));
}

int64_t largest_wave_number(int64_t h, int64_t w, bool along_x_only) { return (along_x_only ? h : std::min(h, w)) / 2; }

std::string Band::name(int64_t largest) const { return fmt::format("{}-{}", first, std::min(2 * first, largest)); }

std::vector<Band> power_bands(int64_t largest) {
  std::vector<Band> bands;
  for (int64_t first = 1; first <= largest; first *= 2) {
    if (first == largest && !bands.empty())
      bands.back().last = largest;
    else
      bands.push_back({first, std::min(2 * first - 1, largest)});
  }
  return bands;
}

Tensor band_powers(const Tensor& spectra) {
  std::vector<Tensor> powers;
  for (const auto& band : power_bands(spectra.size(1)))
    powers.push_back(spectra.slice(1, band.first - 1, band.last).sum(1));
  return torch::stack(powers, 1);
}

double worst_band(const Tensor& powers, const Tensor& reference) {
  require<DataError>(powers.dim() == 1 && powers.sizes() == reference.sizes() && powers.numel() > 0,
                     "[spectrum] {} bands against {}", powers.numel(), reference.numel());
  const auto ratio = (powers / reference).masked_select(reference > kCountedPower * reference.sum());
  if (ratio.numel() == 0) return std::numeric_limits<double>::quiet_NaN();  // a reference without power
  return ratio.clamp(1 / kLargestRatio, kLargestRatio).log().abs().max().item<double>();
}

double spectrum_error(const Tensor& power, const Tensor& reference) {
  require<DataError>(power.dim() == 1 && power.sizes() == reference.sizes() && power.numel() > 0,
                     "[spectrum] {} wave numbers against {}", power.numel(), reference.numel());
  const auto log = [](const Tensor& p) {
    return p.clamp_min(std::max(kRoundOff * p.max().item<double>(), 1e-300)).log10();
  };
  return (log(power) - log(reference)).square().mean().sqrt().item<double>();
}

}  // namespace piddm
