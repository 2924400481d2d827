#include "piddm/eval/set_distances.h"

#include "piddm/core/peak_memory.h"
#include "piddm/eval/diversity.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

constexpr int64_t kReference = 40;

Tensor reference() { return testing::tiny_data(kReference, 1000); }

Normalizer tiny_normalizer() { return Normalizer::fit(testing::tiny_data(64), testing::tiny_pde()->channels()); }

/// Mean of each channel as a feature.
FeatureMetric channel_means() {
  return {"means", [](const Tensor& x) { return x.mean({2, 3}); }};
}

SetDistances distances() {
  SetDistances out(testing::tiny_pde(), tiny_normalizer(), reference());
  out.add(channel_means());
  return out;
}

Scores measured(const Tensor& x, const Bootstrap& bootstrap) {
  Scores scores;
  distances().measure(x, bootstrap, scores);
  return scores;
}

TEST(SetDistances, OfTheReferenceItselfAreZero) {
  const auto got = measured(reference(), {});
  for (const char* key : {"swd", "apdd", "spectrum_error", "spectrum_error_u", "spectrum_error_a", "means"})
    EXPECT_NEAR(got.at(key), 0, 1e-12) << key;
  EXPECT_TRUE(got.intervals.empty());
}

TEST(SetDistances, AgreeWithTheFunctionsOnZScoredFields) {
  const auto x = testing::tiny_data(24, 3000);
  const auto z = tiny_normalizer().to_network(x), true_z = tiny_normalizer().to_network(reference());
  const auto got = measured(x, {});
  EXPECT_NEAR(got.at("swd"), sliced_wasserstein(z, true_z), 1e-12);
  const double apd = average_pairwise_distance(z), true_apd = average_pairwise_distance(true_z);
  EXPECT_NEAR(got.at("apdd"), std::abs(apd / true_apd - 1), 1e-12);
}

// Twice the fluctuation about the mean: distances double, powers are four times as large.
TEST(SetDistances, SeeTheSpreadOfSamples) {
  const auto mean = reference().mean(0);
  const auto got = measured(mean + 2 * (reference() - mean), {});
  EXPECT_NEAR(got.at("apdd"), 1, 1e-10);
  const auto blank = measured(reference() * 10, {});
  EXPECT_NEAR(blank.at("spectrum_error_u"), 2, 1e-9);
}

TEST(SetDistances, CompareThePowerOfBands) {
  const auto same = measured(reference(), {20, 1}), loud = measured(reference() * 2, {20, 1});
  for (const char* key :
       {"power_ratio_u_1-2", "power_ratio_u_2-4", "power_ratio_a_4-8", "worst_band_u", "worst_band"}) {
    EXPECT_NEAR(same.at(key), 1, 1e-12) << key;
    EXPECT_NEAR(loud.at(key), 4, 1e-11) << key;
    EXPECT_LE(loud.intervals.at(key).first, 4) << key;
    EXPECT_GE(loud.intervals.at(key).second, 4) << key;
  }
  EXPECT_NEAR(measured(reference() / 2, {}).at("worst_band"), 4, 1e-11);  // too little is as bad as too much
  EXPECT_EQ(same.values.count("power_ratio_u_8-16"), 0U);
  auto one = reference().clone();
  one.select(1, 1) *= 3;
  EXPECT_NEAR(measured(one, {}).at("worst_band_u"), 1, 1e-12);
  EXPECT_NEAR(measured(one, {}).at("worst_band"), 9, 1e-11);
  Scores floor;
  distances().floor(kReference, 1, floor);
  for (const char* key : {"power_ratio_u_1-2", "power_ratio_a_4-8", "worst_band_a", "worst_band"}) {
    EXPECT_GT(floor.at(key), 1) << key;
    EXPECT_LT(floor.at(key), 3) << key;
  }
}

TEST(SetDistances, TrueDataLieNearTheFloorAndInsideTheirIntervals) {
  const auto got = measured(testing::tiny_data(kReference, 3000), {60, 1});
  Scores floor;
  distances().floor(kReference, 1, floor);
  for (const char* key : {"swd", "apdd", "spectrum_error", "means"}) {
    const double value = got.at(key);
    EXPECT_LT(value, 3 * floor.at(key)) << key;
    EXPECT_GT(floor.at(key), 0) << key;
    EXPECT_LE(got.intervals.at(key).first, value) << key;
    EXPECT_GE(got.intervals.at(key).second, value) << key;
  }
}

TEST(SetDistances, IntervalsAreAFunctionOfTheSeed) {
  const auto x = testing::tiny_data(12, 3000);
  const auto with_seed = [&](uint64_t seed) { return measured(x, {20, seed}).intervals; };
  EXPECT_EQ(with_seed(1), with_seed(1));
  EXPECT_NE(with_seed(1).at("swd"), with_seed(2).at("swd"));
}

TEST(SetDistances, NeedTwoSamples) {
  Scores scores;
  EXPECT_ERROR(distances().measure(reference().narrow(0, 0, 1), {}, scores), ExitCode::data,
               "at least 2 samples, got 1");
  SetDistances few(testing::tiny_pde(), tiny_normalizer(), reference().narrow(0, 0, 3));
  EXPECT_ERROR(few.floor(4, 1, scores), ExitCode::data, "at least 4 samples, got 3");
}

TEST(TeacherMetric, FeaturesAreBlocksOfTheVelocity) {
  const auto teacher = testing::tiny_teacher();
  const auto x = reference().narrow(0, 0, 3).to(torch::kFloat32);
  const auto metric = teacher_metric(teacher, *testing::tiny_pde());
  const auto features = metric.features(x);
  EXPECT_EQ(metric.name, "frechet_teacher");
  ASSERT_EQ(features.sizes().vec(), (std::vector<int64_t>{3, 4 * 2 * 2 * 16}));
  const torch::NoGradGuard no_grad;
  const auto z = teacher.normalizer.to_network(x.to(torch::kFloat64)).to(torch::kFloat32);
  const auto v = (*teacher.network)(z, torch::full({1}, 0.2));  // the second time: features 64..127
  const auto corner = v.slice(2, 0, 4).slice(3, 4, 8);          // block (0,1)
  EXPECT_LT(testing::relative_error(features.select(1, 64 + 1), corner.select(1, 0).mean({1, 2})), 1e-5);
  EXPECT_LT(
      testing::relative_error(features.select(1, 64 + 32 + 16 + 1), corner.select(1, 1).square().mean({1, 2}).sqrt()),
      1e-5);
}

TEST(TeacherMetric, RefusesStudentsAndOtherGrids) {
  EXPECT_ERROR(teacher_metric(testing::tiny_student(), *testing::tiny_pde()), ExitCode::usage, "is a student");
  EXPECT_ERROR(teacher_metric(testing::tiny_teacher(), *make_pde({"poisson", 16})), ExitCode::usage,
               "a teacher of darcy on 16x16, but the samples are of poisson");
}

TEST(PeakMemory, SeesWhatWasUsedInBetween) {
  const PeakMemory memory(torch::kCPU);
  EXPECT_LT(memory.mib(), 30);
  torch::ones({int64_t{64} << 20}, torch::kUInt8);
  EXPECT_GT(memory.mib(), 55);
  EXPECT_LT(memory.mib(), 200);
}

}  // namespace
}  // namespace piddm
