#include "piddm/ops/spectral.h"

#include "tests/testing.h"

namespace piddm {
namespace {

using testing::gradient_error;
using testing::relative_error;

struct Case {
  int64_t height, width, modes1, modes2;
};

class Spectral : public ::testing::TestWithParam<Case> {
 protected:
  Tensor x(torch::ScalarType dtype) const {
    return torch::randn({5, 3, GetParam().height, GetParam().width}, torch::dtype(dtype));
  }
  Tensor weight(torch::ScalarType dtype) const {
    return torch::randn({GetParam().modes1, GetParam().modes2 / 2 + 1, 2, 4, 5}, torch::dtype(dtype));
  }
  SpectralBasis basis(torch::ScalarType dtype) const {
    return {GetParam().modes1, GetParam().modes2, GetParam().height, GetParam().width, torch::dtype(dtype)};
  }
};

TEST_P(Spectral, FormsAgree) {
  for (const auto& [dtype, tolerance] : {std::pair{torch::kFloat32, 1e-5}, {torch::kFloat64, 1e-12}}) {
    auto x1 = x(dtype).requires_grad_(), w1 = weight(dtype).requires_grad_();
    auto x2 = x1.detach().clone().requires_grad_(), w2 = w1.detach().clone().requires_grad_();
    const auto y1 = spectral_gemm(x1, w1, basis(dtype)), y2 = spectral_fft(x2, w2);
    ASSERT_EQ(y1.sizes(), y2.sizes());
    EXPECT_LT(relative_error(y1, y2), tolerance);

    const auto g = torch::randn_like(y1);
    y1.backward(g);
    y2.backward(g);
    EXPECT_LT(relative_error(x1.grad(), x2.grad()), tolerance);
    EXPECT_LT(relative_error(w1.grad(), w2.grad()), tolerance);
  }
}

TEST_P(Spectral, GradientMatchesDifferences) {
  const auto b = basis(torch::kFloat64);
  const auto x0 = x(torch::kFloat64), w0 = weight(torch::kFloat64);
  EXPECT_LT(gradient_error([&](const Tensor& v) { return spectral_gemm(v, w0, b).square().sum(); }, x0), 1e-6);
  EXPECT_LT(gradient_error([&](const Tensor& v) { return spectral_gemm(x0, v, b).square().sum(); }, w0), 1e-6);
}

TEST_P(Spectral, BandLimitIsAnOrthogonalProjection) {
  const auto b = basis(torch::kFloat64);
  const auto e = x(torch::kFloat64), p = band_limit(e, b);
  EXPECT_LT(relative_error(band_limit(p, b), p), 1e-12);
  EXPECT_NEAR(((e - p) * p).sum().item<double>(), 0.0, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Grids, Spectral,
                         ::testing::Values(Case{16, 16, 8, 8}, Case{17, 15, 8, 6}, Case{12, 20, 6, 12},
                                           Case{9, 7, 4, 4}, Case{8, 8, 12, 12}, Case{7, 9, 12, 12},
                                           Case{32, 33, 12, 12}));

TEST(SpectralBasis, FullBlockKeepsEveryField) {
  // On an odd grid a block wider than the grid holds every mode, so the projection is the identity.
  const auto x = torch::randn({2, 9, 7}, torch::kFloat64);
  EXPECT_LT(relative_error(band_limit(x, SpectralBasis(12, 12, 9, 7, torch::kFloat64)), x), 1e-12);
}

TEST(SpectralBasis, SingleModeHasItsClosedForm) {
  const int64_t n = 16;
  const auto i = torch::arange(n, torch::kFloat64).view({n, 1}), j = torch::arange(n, torch::kFloat64).view({1, n});
  const auto x = torch::cos(2 * M_PI * (2 * i - 3 * j) / n + 0.3);
  const auto modes = to_modes(x, SpectralBasis(8, 8, n, n, torch::kFloat64));
  // cos(phase + 0.3) = (e^{i(phase+0.3)} + c.c.)/2, so X(k1=-2, k2=3) = e^{-0.3 i}/2; k1 = -2 is row 2 of -4..3.
  EXPECT_NEAR(modes[3][2][0].item<double>(), 0.5 * std::cos(0.3), 1e-12);
  EXPECT_NEAR(modes[3][2][1].item<double>(), -0.5 * std::sin(0.3), 1e-12);
  EXPECT_NEAR(modes.square().sum().item<double>(), 0.25, 1e-12);
}

TEST(SpectralBasis, OddModeCountIsRefused) { EXPECT_THROW(SpectralBasis(7, 8, 16, 16, torch::kFloat64), c10::Error); }

}  // namespace
}  // namespace piddm
