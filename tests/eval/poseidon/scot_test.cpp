#include "piddm/eval/poseidon/scot.h"

#include <numeric>

#include "piddm/eval/poseidon/poseidon.h"
#include "tests/eval/poseidon/formula_weights.h"
#include "tests/eval/poseidon/golden.h"

namespace piddm {
namespace {

using testing::largest_error;
using testing::scot_golden;

ScotEncoder tiny(torch::ScalarType dtype = torch::kFloat64) {
  return load_poseidon(testing::golden("scot-tiny"), torch::kCPU, dtype);
}

ScotConfig poseidon(int64_t embed, int64_t depth) {
  return parse_scot_config({{"image_size", 128},
                            {"num_channels", 4},
                            {"embed_dim", embed},
                            {"depths", {depth, depth, depth, depth}},
                            {"num_heads", {3, 6, 12, 24}},
                            {"window_size", 16},
                            {"use_conditioning", true}},
                           "test");
}

Tensor pixels_of(const Tensor& x) {
  auto pixels = torch::zeros({x.size(0), 4, x.size(1), x.size(2)}, x.options());
  pixels.select(1, 0).copy_(x);
  return pixels;
}

class ScotPrecision : public ::testing::TestWithParam<std::pair<torch::ScalarType, double>> {};

TEST_P(ScotPrecision, HiddenStatesMatchTheReferenceStageByStage) {
  const auto [dtype, tolerance] = GetParam();
  const auto states = tiny(dtype).encode(pixels_of(scot_golden("x64")), torch::zeros({2}));
  ASSERT_EQ(states.size(), 5U);
  EXPECT_LT(largest_error(states[0], scot_golden("t0.embed")), tolerance);
  for (size_t i = 0; i < 4; ++i)
    EXPECT_LT(largest_error(states[i + 1], scot_golden("t0.enc.stage" + std::to_string(i) + ".out")), tolerance) << i;
}

TEST_P(ScotPrecision, FeaturesMatchTheReferenceOnEveryGrid) {
  const auto [dtype, tolerance] = GetParam();
  const auto encoder = tiny(dtype);
  EXPECT_LT(largest_error(encoder.features(scot_golden("x64")), scot_golden("t0.feature")), tolerance);
  for (const char* name : {"x50", "x51", "x80"})
    EXPECT_LT(largest_error(encoder.features(scot_golden(name)), scot_golden(std::string(name) + ".feature")),
              tolerance)
        << name;
}

INSTANTIATE_TEST_SUITE_P(Both, ScotPrecision,
                         ::testing::Values(std::pair{torch::kFloat64, 1e-9}, std::pair{torch::kFloat32, 5e-4}),
                         [](const auto& run) { return run.param.first == torch::kFloat64 ? "Double" : "Float"; });

TEST(Scot, TimeConditionsTheNorms) {
  const auto& x = scot_golden("x64");
  const auto pixels = torch::stack({x, x.transpose(1, 2), x / 2, -x}, 1);
  const auto states = tiny().encode(pixels, scot_golden("t1.time"));
  EXPECT_LT(largest_error(states.back().mean(1), scot_golden("t1.feature")), 1e-9);
}

TEST(Scot, FeaturesDoNotDependOnTheBatch) {
  const auto encoder = tiny();
  const auto& x = scot_golden("fpd.a");
  const auto features = encoder.features(x);
  EXPECT_LT(largest_error(features, scot_golden("fpd.a.feature")), 1e-9);
  EXPECT_LT(largest_error(encoder.features(x.narrow(0, 5, 3)), features.narrow(0, 5, 3)), 1e-12);
}

TEST(Scot, PublishedSizesHaveTheirNumberOfWeights) {
  const auto count = [](const ScotConfig& config) {
    int64_t values = 0;
    const auto shapes = scot_weights(config);
    for (const auto& [name, shape] : shapes)
      values += std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
    return std::pair<int64_t, size_t>{values, shapes.size()};
  };
  EXPECT_EQ(count(poseidon(48, 4)), (std::pair<int64_t, size_t>{9956388, 389}));
  EXPECT_EQ(count(poseidon(96, 8)), (std::pair<int64_t, size_t>{77181000, 757}));
  EXPECT_EQ(count(poseidon(192, 8)), (std::pair<int64_t, size_t>{307629864, 757}));
  EXPECT_EQ(poseidon(96, 8).feature_size(), 768);
}

TEST(Scot, FullSizeFeaturesMatchTheReference) {
  EXPECT_NEAR(testing::formula_stream("input", 1)[0], -0.8043633699417114, 1e-15);
  const auto config = poseidon(48, 4);
  const ScotEncoder exact(config, testing::formula_weights(config), "formula", torch::kFloat64);
  for (const int64_t s : {128, 100}) {
    const auto& expected = scot_golden("formula.T.x" + std::to_string(s) + ".feature");
    const double scale = std::max(1.0, expected.abs().max().item<double>());
    EXPECT_LT(largest_error(exact.features(testing::formula_fields(s)), expected), 1e-9 * scale) << s;
  }
}

TEST(Scot, PoseidonBFeaturesInFloatMatchTheReference) {
  const auto config = poseidon(96, 8);
  const ScotEncoder encoder(config, testing::formula_weights(config), "formula");
  for (const int64_t s : {128, 100}) {
    const auto& expected = scot_golden("formula.B.x" + std::to_string(s) + ".feature");
    EXPECT_LT(largest_error(encoder.features(testing::formula_fields(s)), expected), 1e-4) << s;
  }
}

TEST(Scot, RefusesShapesItCannotTake) {
  const auto encoder = tiny();
  EXPECT_ERROR(encoder.features(torch::zeros({2, 8, 9})), ExitCode::data, "square fields (N,n,n), got (2,8,9)");
  EXPECT_ERROR(encoder.features(torch::zeros({2, 1, 8, 8})), ExitCode::data, "got (2,1,8,8)");
  EXPECT_ERROR(encoder.encode(torch::zeros({2, 3, 8, 8}), torch::zeros({2})), ExitCode::data, "(B,4,n,n)");
  EXPECT_ERROR(encoder.encode(torch::zeros({2, 4, 8, 8}), torch::zeros({3})), ExitCode::data, "expected 2 times");
}

}  // namespace
}  // namespace piddm
