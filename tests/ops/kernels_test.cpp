#include "tests/ops/levels.h"

namespace piddm {
namespace {

using cpu::SimdLevel;
using testing::ForcedLevel;

class EveryLevel : public ::testing::TestWithParam<SimdLevel> {
 protected:
  const ForcedLevel forced{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Levels, EveryLevel, ::testing::ValuesIn(cpu::supported_levels()),
                         [](const auto& test) { return testing::level_name(test.param); });

struct GeluValues {
  Tensor value, slope;
};

GeluValues fused_gelu(const Tensor& x) {
  GeluValues v{torch::full_like(x, NAN), torch::full_like(x, NAN)};
  cpu::kernels().gelu(x.data_ptr<float>(), v.value.data_ptr<float>(), v.slope.data_ptr<float>(), x.numel());
  return v;
}

GeluValues exact_gelu(const Tensor& x) {
  const auto y = x.to(torch::kFloat64).requires_grad_();
  const auto value = torch::gelu(y);
  value.sum().backward();
  return {value.detach(), y.grad()};
}

TEST_P(EveryLevel, GeluHasItsStatedError) {
  const auto x = torch::cat({torch::linspace(-12, 12, 200003), torch::linspace(-1e-3, 1e-3, 101)});
  const auto fused = fused_gelu(x), exact = exact_gelu(x);
  const auto scale = x.abs().clamp_min(1.0);
  EXPECT_LT(((fused.value - exact.value).abs() / scale).max().item<double>(), 2e-7);
  EXPECT_LT((fused.slope - exact.slope).abs().max().item<double>(), 5e-7);
  EXPECT_LT(((fused.value - torch::gelu(x)).abs() / scale).max().item<double>(), 4e-7);  // it rounds too
}

TEST_P(EveryLevel, GeluKeepsDigitsOfSmallValues) {
  const auto x = torch::linspace(-4, 4, 80001);
  const auto fused = fused_gelu(x), exact = exact_gelu(x);
  EXPECT_LT(((fused.value - exact.value) / exact.value).abs().nan_to_num(0).max().item<double>(), 3e-6);
}

TEST_P(EveryLevel, GeluOfExtremesIsTheirLimit) {
  const auto fused = fused_gelu(torch::tensor({-1e4f, 0.0f, 1e4f, NAN}));
  EXPECT_NEAR(fused.value[0].item<float>(), 0, 2e-5);
  EXPECT_EQ(fused.value[1].item<float>(), 0);
  EXPECT_EQ(fused.value[2].item<float>(), 1e4f);
  EXPECT_TRUE(std::isnan(fused.value[3].item<float>()));
  EXPECT_NEAR(fused.slope[0].item<float>(), 0, 1e-8);
  EXPECT_EQ(fused.slope[2].item<float>(), 1);
  EXPECT_TRUE(std::isnan(fused.slope[3].item<float>()));
}

TEST_P(EveryLevel, IsInUseOnceForced) { EXPECT_EQ(cpu::kernels().level, GetParam()); }

TEST(SimdLevels, PlainIsAlwaysThere) {
  const auto levels = cpu::supported_levels();
  EXPECT_EQ(levels.front(), SimdLevel::plain);
  EXPECT_TRUE(std::is_sorted(levels.begin(), levels.end()));
}

TEST(SimdLevels, OneTheCpuLacksIsRefused) {
  const auto levels = cpu::supported_levels();
  if (levels.back() == SimdLevel::avx512) GTEST_SKIP() << "this CPU has all of them";
  EXPECT_ERROR(cpu::force_level(SimdLevel::avx512), ExitCode::usage, "this CPU has no avx512 instructions");
}

}  // namespace
}  // namespace piddm
