#include "piddm/eval/two_sample.h"

#include <cmath>
#include <numbers>

#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

constexpr ClassifierRecipe kTinyRecipe{.width = 6, .steps = 60, .batch = 16};

TEST(LowPass, KeepsWavesUpToItsNumber) {
  const auto wave = [](int64_t n, double number) {
    const auto x = (torch::arange(n, torch::kFloat64) + 0.5) / static_cast<double>(n);
    return (2 * std::numbers::pi * number * x).cos();
  };
  const auto kept = wave(96, 3).view({96, 1}) * wave(48, 2.5), lost = wave(96, 3.5).view({96, 1}) + wave(48, 7);
  EXPECT_LT(testing::relative_error(low_pass((kept + lost).unsqueeze(0), 3)[0], kept), 1e-12);
  EXPECT_TRUE(torch::equal(low_pass(lost, 48), lost));
}

TEST(CutToValues, TakesTheNearerValueAndMeansOfScalars) {
  const std::vector<Channel> channels = {
      {.name = "u"}, {.name = "a", .two_valued = {{3, 12}}}, {.name = "k", .scalar = true}};
  const auto x = torch::tensor({{1.0, 2.0}, {7.4, 7.6}, {1.0, 3.0}}, torch::kFloat64).view({1, 3, 1, 2});
  const auto expected = torch::tensor({{1.0, 2.0}, {3.0, 12.0}, {2.0, 2.0}}, torch::kFloat64).view({1, 3, 1, 2});
  EXPECT_TRUE(torch::equal(cut_to_values(x, channels), expected));
}

TEST(TwoSampleTest, IsBlindToResidualsAndCellsBetween) {
  const auto pde = testing::tiny_pde();
  const TwoSampleTest test(pde, testing::tiny_data(64, 1000), kTinyRecipe);
  auto x = testing::tiny_data(64);
  Scores clean, damaged;
  test.measure(x, {}, clean);
  x.select(1, 0) += 0.3;
  x.select(1, 1) = 7.5 + 0.2 * (x.select(1, 1) - 7.5);
  test.measure(x, {}, damaged);
  EXPECT_EQ(clean.values, damaged.values);
  EXPECT_EQ(clean.at("classifier"), std::max(clean.at("classifier_cut"), clean.at("classifier_decoded")));
}

TEST(TwoSampleTest, TellsOnePhaseFromTwo) {
  const auto pde = testing::tiny_pde();
  const TwoSampleTest test(pde, testing::tiny_data(64, 1000), kTinyRecipe);
  auto x = testing::tiny_data(80);
  x.select(1, 1) = 3;
  Scores scores, floor;
  test.measure(x, {50, 1}, scores);
  EXPECT_EQ(scores.at("classifier"), 1);
  EXPECT_EQ(scores.intervals.at("classifier"), Interval(1, 1));
  test.floor(80, 1, floor);
  EXPECT_GT(floor.at("classifier"), 0.1);
  EXPECT_LT(floor.at("classifier"), 1);
  x[2][0][3][3] = NAN;
  Scores broken;
  test.measure(x, {50, 1}, broken);
  EXPECT_TRUE(std::isnan(broken.at("classifier")));
}

}  // namespace
}  // namespace piddm
