#include "piddm/pde/text/law.h"

#include "tests/pde/text/texts.h"

namespace piddm {
namespace {

using testing::largest;

TextLaw law_of(const std::string& coefficients, const std::string& use, const std::string& kind = "cells",
               std::array<int64_t, 2> points = {24, 32}) {
  const auto text = testing::pde_text("name = 'l'\nequation = 'lap(u) = " + use + "'\ngrid = { x = [0, 1, 32, '" +
                                      kind + "'], y = [0, 2, 32, '" + kind + "'] }\n" +
                                      (kind == "periodic" ? "" : "boundary = { x = 'u = 0', y = 'u = 0' }\n") +
                                      "parameters = { k = 0.5 }\n" + "coefficients = { " + coefficients + " }\n");
  return TextLaw(TextGrid(text, points));
}

TEST(TextLaw, ScalarsAreDrawnAsTheyAreStated) {
  const auto a =
      law_of("a = 'uniform(2, 5)', b = 'loguniform(0.01, 100)', c = 'normal(3, 0.5)'", "a*b*c*k").sample(1, 0, 4000);
  ASSERT_EQ(a.sizes(), torch::IntArrayRef({4000, 3, 24, 32}));
  EXPECT_EQ(largest(a - a.narrow(2, 0, 1).narrow(3, 0, 1)), 0);
  const auto values = a.select(3, 0).select(2, 0);
  const auto column = [&](int64_t c) { return values.select(1, c); };
  EXPECT_GE(column(0).min().item<double>(), 2);
  EXPECT_LE(column(0).max().item<double>(), 5);
  EXPECT_NEAR(column(0).mean().item<double>(), 3.5, 4 * 3 / std::sqrt(12.0 * 4000));
  EXPECT_NEAR(column(1).log10().mean().item<double>(), 0, 4 * 4 / std::sqrt(12.0 * 4000));
  EXPECT_NEAR(column(2).mean().item<double>(), 3, 4 * 0.5 / std::sqrt(4000.0));
  EXPECT_NEAR(column(2).std().item<double>(), 0.5, 4 * 0.5 / std::sqrt(8000.0));
  const auto correlation = torch::corrcoef(torch::stack({column(0), column(1).log(), column(2)}));
  EXPECT_LT(largest(correlation - torch::eye(3, torch::kFloat64)), 4 / std::sqrt(4000.0));
}

TEST(TextLaw, FieldsOfTwoCoefficientsHaveNothingInCommon) {
  const auto a =
      law_of("a = 'field: gauss(alpha=2, tau=3)', b = 'field: gauss(alpha=2, tau=3)'", "a + k*b").sample(1, 0, 400);
  const auto x = a.select(1, 0).select(1, 3).select(1, 5), y = a.select(1, 1).select(1, 3).select(1, 5);
  const double correlation = ((x * y).mean() / (x.square().mean() * y.square().mean()).sqrt()).item<double>();
  EXPECT_LT(std::abs(correlation), 4 / std::sqrt(400.0));
}

TEST(TextLaw, TheMapSeesParametersAndPlaces) {
  const auto a = law_of("a = 'field: gauss(alpha=2, tau=3)', b = 'field: gauss(alpha=2, tau=3) -> k*g + 10*y'", "a*b");
  const auto b = law_of("a = 'field: gauss(alpha=2, tau=3)', b = 'field: gauss(alpha=2, tau=3)'", "a*b*k");
  const auto y = (torch::arange(32, torch::kFloat64) + 0.5) / 16;
  const auto mapped = a.sample(3, 1, 2).select(1, 1), plain = b.sample(3, 1, 2).select(1, 1);
  EXPECT_LT(largest(mapped - (0.5 * plain + 10 * y)), 1e-13);
}

TEST(TextLaw, SinesVanishOnTheWallsAndPeriodicFieldsCloseTheRing) {
  const auto sine = law_of("a = 'field: sine(alpha=3, tau=2)'", "k*a", "nodes").sample(2, 0, 3);
  EXPECT_LT(largest(sine.select(2, 0)) + largest(sine.select(3, 31)), 1e-13);
  EXPECT_GT(testing::rms(sine), 1e-3);
  const auto ring = law_of("a = 'field: periodic(alpha=4, tau=2)'", "k*a", "periodic", {64, 64}).sample(2, 0, 3);
  const auto jump = largest(ring.select(2, 0) - ring.select(2, 63));
  EXPECT_LT(jump, 2 * largest(ring.diff(1, 2)));
}

TEST(TextLaw, ASampleDoesNotDependOnItsBatch) {
  const auto law = law_of("a = 'field: gauss(alpha=2, tau=3) -> exp(g)', b = 'uniform(0, 1)'", "k*a*b");
  const auto whole = law.sample(7, 3, 5);
  EXPECT_TRUE(torch::equal(whole, torch::cat({law.sample(7, 3, 2), law.sample(7, 5, 3)})));
  EXPECT_FALSE(torch::equal(whole, law.sample(8, 3, 5)));
}

TEST(TextLaw, RefusesAMapThatIsNotFinite) {
  const auto law = law_of("a = 'field: gauss(alpha=2, tau=3) -> log(g)'", "k*a");
  EXPECT_ERROR(law.sample(0, 0, 1), ExitCode::numerics, "not finite");
}

}  // namespace
}  // namespace piddm
