#include "piddm/ops/spectral.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace piddm {

namespace {

// cos and sin of 2 pi k i / n; the product k i is reduced mod n first, so that large grids lose no digits.
std::pair<double, double> unit_root(int64_t k, int64_t i, int64_t n) {
  const int64_t r = ((k * i) % n + n) % n;
  const double angle = 2 * std::numbers::pi * static_cast<double>(r) / static_cast<double>(n);
  return {std::cos(angle), std::sin(angle)};
}

// Rows (i, part), columns (k, part): multiplication of z_i by scale * exp(sign 2 pi i k i/n), summed over i.
Tensor complex_dft(int64_t n, int64_t first_k, int64_t kept, double sign, double scale) {
  auto matrix = torch::empty({n, 2, kept, 2}, torch::kFloat64);
  auto m = matrix.accessor<double, 4>();
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < kept; ++k) {
      const auto [c, s] = unit_root(first_k + k, i, n);
      m[i][0][k][0] = m[i][1][k][1] = scale * c;
      m[i][0][k][1] = sign * scale * s;
      m[i][1][k][0] = -sign * scale * s;
    }
  return matrix.view({2 * n, 2 * kept});
}

// The slice of a weight that belongs to the modes this grid has.
Tensor kept_weight(const Tensor& weight, int64_t first1, int64_t kept1, int64_t kept2) {
  return weight.narrow(0, first1, kept1).narrow(1, 0, kept2);
}

struct KeptModes {
  int64_t lowest1, kept1, kept2, first1;
};

KeptModes kept_modes(int64_t modes1, int64_t modes2, int64_t height, int64_t width) {
  TORCH_CHECK(modes1 >= 2 && modes2 >= 2 && modes1 % 2 == 0 && modes2 % 2 == 0,
              "[spectral] mode counts must be even and at least 2, got ", modes1, "x", modes2);
  const int64_t lowest = std::max(-modes1 / 2, -(height / 2)), highest = std::min(modes1 / 2 - 1, (height - 1) / 2);
  return {lowest, highest - lowest + 1, std::min(modes2 / 2, width / 2) + 1, lowest + modes1 / 2};
}

}  // namespace

SpectralBasis::SpectralBasis(int64_t modes1, int64_t modes2, int64_t h, int64_t w, const torch::TensorOptions& options)
    : height(h), width(w) {
  const auto kept = kept_modes(modes1, modes2, h, w);
  kept1 = kept.kept1, kept2 = kept.kept2, first1 = kept.first1, lowest1 = kept.lowest1;

  auto symmetry = torch::full({kept2}, 2.0, torch::kFloat64);
  symmetry[0] = 1.0;
  if (w % 2 == 0 && kept2 == w / 2 + 1) symmetry[kept2 - 1] = 1.0;
  // Real input: the rows of the real part only. Re(z e) is the transpose of that product.
  const auto along_w = complex_dft(w, 0, kept2, -1, 1.0).view({w, 2, 2 * kept2}).select(1, 0).contiguous();
  const auto along_h = complex_dft(h, kept.lowest1, kept1, -1, 1.0);

  to_modes_w = (along_w / static_cast<double>(w)).to(options);
  to_modes_h = (along_h / static_cast<double>(h)).to(options);
  to_grid_h = along_h.t().contiguous().to(options);
  to_grid_w = (along_w.t() * symmetry.repeat_interleave(2).view({-1, 1})).contiguous().to(options);
  unpaired = torch::ones({kept2, kept1, 1}, torch::kFloat64);
  const bool has_partner = -kept.lowest1 < kept.lowest1 + kept1 || 2 * kept.lowest1 == -h;
  if (!has_partner) unpaired.select(1, 0) = torch::where(symmetry == 1, 2.0, 1.0).unsqueeze(1);
  unpaired = unpaired.to(options);
}

Tensor to_modes(const Tensor& x, const SpectralBasis& b) {
  auto lead = x.sizes().vec();
  lead.resize(lead.size() - 2);
  // along W: [N,H,W] -> [N,H,K2,2]
  const auto rows = x.reshape({-1, b.width}).matmul(b.to_modes_w).view({-1, b.height, b.kept2, 2});
  // along H: [N,K2,(H,2)] -> [N,K2,(K1,2)]
  const auto columns = rows.permute({0, 2, 1, 3}).reshape({-1, 2 * b.height}).matmul(b.to_modes_h);
  lead.insert(lead.end(), {b.kept2, b.kept1, 2});
  return columns.view(lead);
}

Tensor to_grid(const Tensor& modes, const SpectralBasis& b) {
  auto lead = modes.sizes().vec();
  lead.resize(lead.size() - 3);
  // along H: [N,K2,(K1,2)] -> [N,K2,(H,2)] -> [N,H,(K2,2)]
  const auto columns = modes.reshape({-1, 2 * b.kept1}).matmul(b.to_grid_h).view({-1, b.kept2, b.height, 2});
  // along W: [N,H,(K2,2)] -> [N,H,W]
  const auto rows = columns.permute({0, 2, 1, 3}).reshape({-1, 2 * b.kept2}).matmul(b.to_grid_w);
  lead.insert(lead.end(), {b.height, b.width});
  return rows.view(lead);
}

Tensor spectral_gemm(const Tensor& x, const Tensor& weight, const SpectralBasis& b) {
  const int64_t in = x.size(0), batch = x.size(1), out = weight.size(3), modes = b.kept1 * b.kept2;
  // X as [K1,K2,C_in,2,B]: one product per mode with (W_re; W_im) gives all four real products.
  const auto x_hat = to_modes(x, b).permute({3, 2, 0, 4, 1}).reshape({modes, in, 2 * batch});
  const auto w = kept_weight(weight, b.first1, b.kept1, b.kept2).reshape({modes, 2 * out, in});
  const auto p = torch::bmm(w, x_hat).view({modes, 2, out, 2, batch});
  // (a + ib)(c + id) = (ac - bd) + i(ad + bc)
  const auto re = p.select(1, 0).select(2, 0) - p.select(1, 1).select(2, 1);
  const auto im = p.select(1, 0).select(2, 1) + p.select(1, 1).select(2, 0);
  const auto y_hat = torch::stack({re, im}, 1).view({b.kept1, b.kept2, 2, out, batch});
  return to_grid(y_hat.permute({3, 4, 1, 0, 2}), b);
}

Tensor spectral_fft(const Tensor& x, const Tensor& weight) {
  const int64_t height = x.size(2), width = x.size(3);
  const auto kept = kept_modes(weight.size(0), 2 * (weight.size(1) - 1), height, width);
  const auto w = kept_weight(weight, kept.first1, kept.kept1, kept.kept2);
  const auto matrices = torch::complex(w.select(2, 0).contiguous(), w.select(2, 1).contiguous());
  // Row k1 of the transform sits at k1 mod H; roll brings the kept block to the front.
  const auto x_hat = torch::fft::rfft2(x, c10::nullopt, {-2, -1}, "forward").roll({-kept.lowest1}, {2});
  const auto block = x_hat.narrow(2, 0, kept.kept1).narrow(3, 0, kept.kept2);
  const auto y_block = torch::einsum("kloi,ibkl->obkl", {matrices, block});
  const auto y_hat = torch::constant_pad_nd(y_block, {0, width / 2 + 1 - kept.kept2, 0, height - kept.kept1});
  const std::vector<int64_t> grid{height, width};
  return torch::fft::irfft2(y_hat.roll({kept.lowest1}, {2}), grid, {-2, -1}, "forward");
}

}  // namespace piddm
