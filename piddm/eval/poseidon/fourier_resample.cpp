#include "piddm/eval/poseidon/fourier_resample.h"

#include "piddm/core/error.h"

namespace piddm {

Tensor fourier_resample(const Tensor& x, int64_t size) {
  require<DataError>(x.dim() >= 2 && x.size(-1) == x.size(-2) && x.size(-1) > 0 && size > 0,
                     "[fourier resample] expected square fields (...,n,n), got {}", shape_string(x));
  const int64_t n = x.size(-1);
  if (n == size) return x;
  const std::vector<int64_t> axes = {-2, -1};
  auto spectrum = torch::fft::fftshift(torch::fft::fft2(x, c10::nullopt, axes, "forward"), axes);
  if (n < size) {
    const int64_t side = (size - n) / 2;
    spectrum = torch::constant_pad_nd(spectrum, {side, side, side, side});
  } else {
    const int64_t first = n / 2 - size / 2;
    spectrum = spectrum.narrow(-2, first, size).narrow(-1, first, size);
  }
  return torch::real(torch::fft::ifft2(torch::fft::ifftshift(spectrum, axes), c10::nullopt, axes, "forward"));
}

}  // namespace piddm
