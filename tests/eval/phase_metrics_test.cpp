#include "piddm/eval/phase_metrics.h"

#include "piddm/eval/phases.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

/// High rows up to `rows`, in the values 0 and 1: [n,8,6].
Tensor half_planes(int64_t n, int64_t rows) {
  return (torch::arange(8) < rows).to(torch::kFloat64).view({1, 8, 1}).expand({n, 8, 6});
}

/// Every second row.
Tensor stripes(int64_t n) {
  return torch::arange(8).remainder(2).to(torch::kFloat64).view({1, 8, 1}).expand({n, 8, 6});
}

const Channel kField{.name = "u"};

Channel two_valued(const std::string& name, double low, double high) {
  return {.name = name, .role = Role::coefficient, .two_valued = {{low, high}}};
}

TEST(PhaseMetrics, CompareWithTheReferenceByRatios) {
  const PhaseMetrics metrics({kField, two_valued("a", 0, 1)}, torch::stack({stripes(4), half_planes(4, 3)}, 1));
  Scores scores;
  metrics.measure(torch::stack({stripes(3), stripes(3)}, 1), {50, 1}, scores);
  const double line = 6.0 / (8 * 5 + 7 * 6);
  EXPECT_EQ(scores.at("between"), 0);
  EXPECT_NEAR(scores.at("interface"), 7 * line, 1e-14);
  EXPECT_NEAR(scores.at("interface_ratio"), 7, 1e-13);
  EXPECT_EQ(scores.at("islands"), 8);
  EXPECT_NEAR(scores.at("islands_ratio"), 4, 1e-14);
  EXPECT_EQ(scores.values.size(), 5U);
  EXPECT_NEAR(scores.intervals.at("islands_ratio").first, 4, 1e-13);  // all samples are alike
  EXPECT_NEAR(scores.intervals.at("islands_ratio").second, 4, 1e-13);
}

TEST(PhaseMetrics, OfSeveralChannelsHaveAMean) {
  const auto reference = torch::stack({half_planes(4, 3), 2 + half_planes(4, 5)}, 1);
  const PhaseMetrics metrics({two_valued("a", 0, 1), two_valued("b", 2, 3)}, reference);
  Scores scores;
  metrics.measure(torch::stack({stripes(3), 2 + 0.5 * half_planes(3, 4)}, 1), {}, scores);
  EXPECT_NEAR(scores.at("between_b"), 0.5, 1e-15);
  EXPECT_NEAR(scores.at("between"), 0.25, 1e-15);
  EXPECT_EQ(scores.at("islands_a"), 8);
  EXPECT_EQ(scores.at("islands_b"), 1);
  EXPECT_NEAR(scores.at("islands_ratio"), 4.5 / 2, 1e-14);
  EXPECT_TRUE(scores.intervals.empty());
}

TEST(PhaseMetrics, FloorsAreTheDataAndHowFarTheyAreFromThemselves) {
  const auto pde = testing::tiny_pde();
  const auto truth = testing::tiny_data(64, 1000);
  const PhaseMetrics metrics(pde->channels(), truth);
  Scores floor, scores;
  metrics.floor(32, 1, floor);
  EXPECT_EQ(floor.at("between"), 0);
  EXPECT_NEAR(floor.at("islands"), islands(truth.select(1, 1), 3, 12).mean().item<double>(), 1e-12);
  for (const char* key : {"interface_ratio", "islands_ratio"}) {
    EXPECT_GT(floor.at(key), 1) << key;
    EXPECT_LT(floor.at(key), 1.5) << key;
  }
  metrics.measure(testing::tiny_data(32, 3000), {100, 1}, scores);
  for (const char* key : {"interface", "interface_ratio", "islands", "islands_ratio"}) {
    EXPECT_LT(scores.intervals.at(key).first, scores.at(key)) << key;
    EXPECT_GT(scores.intervals.at(key).second, scores.at(key)) << key;
  }
}

TEST(PhaseMetrics, AreNoneWithoutTwoValuedChannels) {
  const PhaseMetrics metrics({kField}, stripes(4).unsqueeze(1));
  Scores scores;
  metrics.measure(stripes(4).unsqueeze(1), {10, 1}, scores);
  metrics.floor(4, 1, scores);
  EXPECT_TRUE(scores.values.empty());
}

}  // namespace
}  // namespace piddm
