#include "piddm/eval/spectrum.h"

#include "piddm/core/error.h"

namespace piddm {

namespace {

constexpr int64_t kBatch = 64;

/// Scaled to a mean square of one.
Tensor hann_window(int64_t n) {
  const auto window = torch::hann_window(n, torch::kFloat64);
  return window / window.square().mean().sqrt();
}

/// Number of waves of each Fourier coefficient, nearest integer: [H,W].
Tensor wave_numbers(int64_t h, int64_t w, bool along_x_only) {
  const auto kx = torch::fft::fftfreq(h, 1.0 / static_cast<double>(h), torch::kFloat64).unsqueeze(1);
  if (along_x_only) return kx.abs().round().expand({h, w});
  const auto ky = torch::fft::fftfreq(w, 1.0 / static_cast<double>(w), torch::kFloat64);
  return (kx.square() + ky.square()).sqrt().round();
}

/// |c_k|^2 summed over samples: [H,W].
Tensor power(const Tensor& x, bool along_x_only) {
  const int64_t h = x.size(1), w = x.size(2);
  if (along_x_only) {
    const auto centred = (x - x.mean(1, true)) * hann_window(h).unsqueeze(1);
    return (torch::fft::fft(centred, c10::nullopt, 1).abs() / static_cast<double>(h)).square().sum(0) /
           static_cast<double>(w);
  }
  const auto window = hann_window(h).unsqueeze(1) * hann_window(w);
  const auto centred = (x - x.mean({1, 2}, true)) * window;
  return (torch::fft::fft2(centred).abs() / static_cast<double>(h * w)).square().sum(0);
}

}  // namespace

std::vector<double> power_spectrum(const Tensor& fields, bool along_x_only) {
  require<DataError>(fields.dim() == 3 && fields.numel() > 0, "[spectrum] expected fields (N,H,W), got {}",
                     shape_string(fields));
  const torch::NoGradGuard no_grad;
  const int64_t h = fields.size(1), w = fields.size(2), largest = (along_x_only ? h : std::min(h, w)) / 2;
  auto sum = torch::zeros({h, w}, torch::kFloat64);
  for (int64_t first = 0; first < fields.size(0); first += kBatch)
    sum += power(fields.slice(0, first, first + kBatch).to(torch::kCPU, torch::kFloat64), along_x_only);
  const auto k = wave_numbers(h, w, along_x_only).to(torch::kLong).flatten();
  const auto binned = torch::zeros({k.max().item<int64_t>() + 1}, torch::kFloat64).index_add(0, k, sum.flatten());
  const auto wanted = (binned.slice(0, 1, largest + 1) / static_cast<double>(fields.size(0))).contiguous();
  return {wanted.data_ptr<double>(), wanted.data_ptr<double>() + wanted.numel()};
}

}  // namespace piddm
