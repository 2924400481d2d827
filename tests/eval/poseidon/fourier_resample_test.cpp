#include "piddm/eval/poseidon/fourier_resample.h"

#include "tests/eval/poseidon/golden.h"

namespace piddm {
namespace {

TEST(FourierResample, MatchesTheReference) {
  for (const char* name : {"up10to16", "up11to16", "down24to16", "down25to16"}) {
    const std::string key = std::string("resample.") + name;
    const auto y = fourier_resample(testing::scot_golden(key + ".x"), 16);
    EXPECT_LT(testing::largest_error(y, testing::scot_golden(key + ".y")), 1e-13) << name;
  }
}

TEST(FourierResample, KeepsWavesThatBothGridsHave) {
  const auto wave = [](int64_t n) {
    const auto x = torch::arange(n, torch::kFloat64) * (2 * M_PI / static_cast<double>(n));
    return 1 + torch::cos(3 * x).unsqueeze(1) * torch::sin(2 * x);
  };
  EXPECT_LT(testing::largest_error(fourier_resample(wave(12), 30), wave(30)), 1e-13);
  EXPECT_LT(testing::largest_error(fourier_resample(wave(30), 12), wave(12)), 1e-13);
  EXPECT_TRUE(torch::equal(fourier_resample(wave(12), 12), wave(12)));
}

TEST(FourierResample, RefusesFieldsThatAreNotSquare) {
  EXPECT_ERROR(fourier_resample(torch::zeros({2, 8, 9}), 16), ExitCode::data, "got (2,8,9)");
}

}  // namespace
}  // namespace piddm
