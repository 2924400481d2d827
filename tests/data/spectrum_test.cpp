#include "piddm/data/spectrum.h"

#include <cmath>
#include <numeric>

#include "tests/testing.h"

namespace piddm {
namespace {

constexpr double kTwoPi = 6.283185307179586;

double total(const std::vector<double>& power) { return std::accumulate(power.begin(), power.end(), 0.0); }

TEST(Spectrum, AWaveShowsAtItsWaveNumberWithItsPower) {
  const auto x = torch::arange(64, torch::kFloat64) / 64;
  const auto wave = 3 * torch::sin(kTwoPi * 10 * x);
  for (const bool along_x : {true, false}) {
    const auto power = power_spectrum(wave.unsqueeze(1).expand({64, 64}).unsqueeze(0), along_x);
    ASSERT_EQ(power.size(), 32u);
    EXPECT_EQ(std::max_element(power.begin(), power.end()) - power.begin(), 9);
    EXPECT_NEAR(total(power), 4.5, 1e-10);
    EXPECT_LT(power[19], 1e-20);
  }
  // across x it is no wave along x: the other axis is averaged over
  EXPECT_LT(total(power_spectrum(wave.expand({1, 64, 64}), true)), 1e-20);
  EXPECT_NEAR(total(power_spectrum(wave.expand({1, 64, 64}), false)), 4.5, 1e-10);
}

TEST(Spectrum, AveragesSamplesAndIgnoresTheMean) {
  const auto x = torch::arange(32, torch::kFloat64) / 32;
  const auto wave = torch::cos(kTwoPi * 6 * x).unsqueeze(1).expand({32, 32});
  const auto power = power_spectrum(torch::stack({wave + 100, torch::zeros({32, 32}, torch::kFloat64)}), false);
  EXPECT_NEAR(total(power), 0.25, 1e-9);
}

TEST(Spectrum, AJumpAtTheEdgeDoesNotHideTheHighWaveNumbers) {
  const auto ramp = torch::arange(64, torch::kFloat64).unsqueeze(1).expand({64, 64}) / 64;
  EXPECT_LT(power_spectrum(ramp.unsqueeze(0), true)[24], 1e-9);
  EXPECT_ERROR(power_spectrum(ramp, true), ExitCode::data, "got (64,64)");
}

TEST(SampleSpectra, AverageToThePowerSpectrum) {
  const auto fields = torch::sin(torch::arange(3 * 16 * 16, torch::kFloat64)).view({3, 16, 16});
  const auto each = sample_spectra(fields, false);
  const auto mean = power_spectrum(fields, false);
  ASSERT_EQ(each.sizes().vec(), (std::vector<int64_t>{3, 8}));
  for (int64_t k = 0; k < 8; ++k)
    EXPECT_NEAR(each.select(1, k).mean().item<double>(), mean[static_cast<size_t>(k)], 1e-15);
}

TEST(SpectrumError, CountsDecades) {
  const auto reference = torch::tensor({1.0, 0.1, 1e-8}, torch::kFloat64);
  EXPECT_EQ(spectrum_error(reference, reference), 0);
  EXPECT_NEAR(spectrum_error(100 * reference, reference), 2, 1e-12);
  EXPECT_NEAR(spectrum_error(torch::tensor({1.0, 0.1, 1e-5}, torch::kFloat64), reference), std::sqrt(9.0 / 3), 1e-12);
  EXPECT_NEAR(spectrum_error(torch::tensor({1.0, 0.0}, torch::kFloat64), torch::tensor({1.0, 1e-24}, torch::kFloat64)),
              0, 1e-12);
  EXPECT_ERROR(spectrum_error(reference, reference.narrow(0, 0, 2)), ExitCode::data, "3 wave numbers against 2");
}

TEST(PowerBands, AreBetweenPowersOfTwo) {
  const auto names = [](int64_t largest) {
    std::vector<std::string> out;
    for (const auto& band : power_bands(largest)) out.push_back(band.name(largest));
    return out;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names(16), Names({"1-2", "2-4", "4-8", "8-16"}));
  EXPECT_EQ(names(24), Names({"1-2", "2-4", "4-8", "8-16", "16-24"}));
  EXPECT_EQ(names(1), Names({"1-1"}));
  EXPECT_EQ(largest_wave_number(48, 96, false), 24);
  EXPECT_EQ(largest_wave_number(96, 48, true), 48);
  const auto powers = band_powers(torch::arange(1, 9, torch::kFloat64).unsqueeze(0));  // power k at wave number k
  EXPECT_TRUE(torch::equal(powers, torch::tensor({{1.0, 5.0, 30.0}}, torch::kFloat64)));
}

TEST(WorstBand, IsTheLargestFactorAmongBandsWithPower) {
  const auto reference = torch::tensor({1.0, 0.1, 1e-5, 1e-8}, torch::kFloat64);
  const auto worst = [&](std::vector<double> factors) {
    return std::exp(worst_band(reference * torch::tensor(factors, torch::kFloat64), reference));
  };
  EXPECT_NEAR(worst({1, 1, 1, 1}), 1, 1e-14);
  EXPECT_NEAR(worst({1.5, 0.5, 1, 100}), 2, 1e-12);
  EXPECT_NEAR(worst({1.5, 0.5, 3, 1}), 3, 1e-12);
  EXPECT_NEAR(worst({1, 0, 1, 1}), 1e12, 1);
  EXPECT_TRUE(std::isnan(worst({1, NAN, 1, 1})));
  EXPECT_ERROR(worst_band(reference, reference.narrow(0, 0, 2)), ExitCode::data, "4 bands against 2");
}

}  // namespace
}  // namespace piddm
