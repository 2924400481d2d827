#include "piddm/data/check/parameter_fit.h"

#include <cmath>

#include "piddm/data/check/own_floor.h"
#include "tests/data/fake_pde.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using testing::FakePde;

PdePtr fake_at(double factor) { return std::make_shared<FakePde>(8, factor); }

const ParameterRange kRange{.declared = 2, .low = 0, .high = 10};

TEST(ParameterFit, FindsTheFactorTheDataWereMadeWith) {
  for (const double factor : {2.0, 2.5, 0.1}) {
    const auto x = fake_at(factor)->sample(1, 0, 9), references = fake_at(2)->sample(1, 0, 9);
    const auto fit = fit_parameter(fake_at, kRange, x, references);
    ASSERT_TRUE(fit.visible && fit.determined);
    EXPECT_NEAR(fit.value, factor, 1e-7);
    EXPECT_LT(fit.standard_error, 1e-7);
  }
}

TEST(ParameterFit, NoiseShowsInTheStandardErrorAndBadSamplesDoNotMatter) {
  const auto references = fake_at(2)->sample(1, 0, 40);
  auto x = references.clone();
  x.select(1, 0) += 0.1 * normal(5, Stream::noise, 0, 40, {8, 8}, torch::kFloat64);
  x[7].select(0, 0) += 1e6;
  const auto fit = fit_parameter(fake_at, kRange, x, references);
  ASSERT_TRUE(fit.determined);
  const double expected = 1.2533 * 0.1 / std::sqrt(40 * 64 * 5.0);  // mean a^2 = (1 + 9)/2
  EXPECT_NEAR(fit.standard_error / expected, 1, 0.6);
  EXPECT_LT(std::abs(fit.value - 2), 4 * expected);
}

TEST(ParameterFit, SaysWhatItCannotSee) {
  const auto x = fake_at(2)->sample(1, 0, 4);
  EXPECT_FALSE(fit_parameter([](double) { return fake_at(2); }, kRange, x, x).visible);
  const auto far = fit_parameter(fake_at, kRange, x * torch::tensor({50.0, 1.0, 1.0}).reshape({1, 3, 1, 1}), x);
  EXPECT_TRUE(far.visible);
  EXPECT_FALSE(far.determined);
}

TEST(ParameterFit, RecoversConstantsOfRealEquations) {
  for (const auto& name : pde_registry().names()) {
    const auto pde = make_pde({.name = name, .grid = 32});
    for (const auto& parameter : pde->parameters()) {
      if (!parameter.choices.empty() || parameter.length || name == "navier-stokes") continue;
      const double wrong = 1.2 * parameter.value.get<double>();
      const auto references = pde->sample(0, 0, 8);
      const auto x = with_parameter(*pde, parameter.name, wrong)->sample(0, 0, 8);
      const auto fit = fit_parameter(*pde, parameter, x, references);
      ASSERT_TRUE(fit.determined) << name << " " << parameter.name;
      EXPECT_NEAR(fit.value / wrong, 1, 0.05) << name << " " << parameter.name;
      const auto right = fit_parameter(*pde, parameter, references, references);
      EXPECT_DOUBLE_EQ(right.value, parameter.value.get<double>()) << name;
    }
  }
}

}  // namespace
}  // namespace piddm
