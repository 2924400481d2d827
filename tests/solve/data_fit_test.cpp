#include "piddm/solve/data_fit.h"

#include <cmath>

#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

/// Noisy values of u in the first half of sample 0, exact ones in the second, and all exact in sample 1.
struct Known {
  Tensor x = testing::tiny_data(2);
  Observation observation{x, torch::zeros_like(x), torch::zeros_like(x)};
  Known() {
    observation.mask.select(1, 0).fill_(1);
    observation.sigma[0][0].narrow(0, 0, 8).fill_(0.01);
  }
};

TEST(DataFit, ChiSquareIsTheSumOverNoisyValues) {
  Known known;
  auto answer = known.x.clone();
  answer[0][0].narrow(0, 0, 8).add_(0.02);
  answer[1].add_(7);
  const auto sensors = sensor_fits(known.observation, answer, *testing::tiny_pde());
  ASSERT_EQ(sensors.size(), 512u);
  EXPECT_NEAR(sensors[17].chi2(), 4, 1e-6);
  EXPECT_EQ(sensors[17].i, 1);
  EXPECT_EQ(sensors[17].j, 1);
  const auto fits = case_fits(sensors, 2);
  EXPECT_NEAR(fits[0].chi2, 512, 1e-4);
  EXPECT_EQ(fits[0].noisy_values, 128);
  EXPECT_LT(fits[0].p_value, 1e-30);
  EXPECT_EQ(fits[1].chi2, 0);
  EXPECT_EQ(fits[1].p_value, 1);
  EXPECT_THAT(poor_fits(fits).at(0), ::testing::HasSubstr("case 0 has chi^2 = 512 over 128 noisy values"));
  EXPECT_TRUE(poor_fits({fits[1]}).empty());
}

// Q(1, x) = exp(-x); and by Pearson's tables chi^2 = 18.307 over 10 values has p = 0.05.
TEST(DataFit, ThePValueIsThatOfTheChiSquareLaw) {
  std::vector<SensorFit> sensors(2);
  sensors[0] = {.value = 3, .sigma = 1, .answer = 0};
  sensors[1] = {.value = 0, .sigma = 2, .answer = 2};
  EXPECT_NEAR(case_fits(sensors, 1)[0].p_value, std::exp(-5), 1e-12);
  std::vector<SensorFit> ten(10, {.value = std::sqrt(1.8307), .sigma = 1, .answer = 0});
  EXPECT_NEAR(case_fits(ten, 1)[0].p_value, 0.05, 1e-4);
}

TEST(DataFit, AFunctionalCountsWhereItsMiddleIs) {
  Known known;
  known.observation.sigma = Tensor();
  known.observation.functionals = {.sample = torch::tensor({1, 1}),
                                   .channel = torch::tensor({1, 1}),
                                   .value = torch::tensor({3.0, 1.0}, torch::kFloat64),
                                   .sigma = torch::tensor({0.5, 0.0}, torch::kFloat64),
                                   .gain = torch::ones({2}, torch::kFloat64),
                                   .row = torch::tensor({0, 0, 1}),
                                   .entry = torch::tensor({256 + 3 * 16 + 4, 256 + 5 * 16 + 4, 256}),
                                   .weight = torch::tensor({0.5, 0.5, 1.0}, torch::kFloat64)};
  const auto sensors = sensor_fits(known.observation, torch::zeros_like(known.x), *testing::tiny_pde());
  ASSERT_EQ(sensors.size(), 512u + 2);
  const auto &noisy = sensors[512], &exact = sensors[513];
  EXPECT_EQ(noisy.sample, 1);
  EXPECT_EQ(noisy.i, 4);
  EXPECT_EQ(noisy.j, 4);
  EXPECT_NEAR(noisy.chi2(), 36, 1e-12);
  EXPECT_EQ(exact.chi2(), 0);
  EXPECT_EQ(case_fits(sensors, 2)[1].noisy_values, 1);
  EXPECT_NEAR(total_fit(case_fits(sensors, 2)).chi2, 36, 1e-12);
}

TEST(DataFit, NamesValuesThatNoTrainingDataHad) {
  const auto model = testing::tiny_teacher();
  Known known;
  EXPECT_TRUE(unusual_values(known.observation, model.normalizer, *model.pde).empty());
  known.observation.values[1][0][3][3] = 5;  // u is of the order of 0.01
  const auto warnings = unusual_values(known.observation, model.normalizer, *model.pde);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], ::testing::HasSubstr("u = 5 was observed"));
  known.observation.mask.zero_();
  known.observation.functionals = {.sample = torch::tensor({0}),
                                   .channel = torch::tensor({0}),
                                   .value = torch::tensor({5.0}, torch::kFloat64),
                                   .sigma = torch::tensor({0.1}, torch::kFloat64),
                                   .gain = torch::ones({1}, torch::kFloat64),
                                   .row = torch::tensor({0, 0}),
                                   .entry = torch::tensor({3, 4}),
                                   .weight = torch::tensor({0.5, 0.5}, torch::kFloat64)};
  EXPECT_THAT(unusual_values(known.observation, model.normalizer, *model.pde).at(0),
              ::testing::HasSubstr("u: a value between entries, an average or a flux of 5 was observed"));
  known.observation.functionals.value.fill_(0.008);
  EXPECT_TRUE(unusual_values(known.observation, model.normalizer, *model.pde).empty());
}

}  // namespace
}  // namespace piddm
