#include "piddm/data/normalizer.h"

#include "tests/data/fake_pde.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using testing::FakePde;

Tensor training_set() { return FakePde(8).sample(1, 0, 40); }
Normalizer fitted() { return Normalizer::fit(training_set(), FakePde().channels()); }

TEST(Normalizer, FieldsGetMeanZeroAndVarianceOneScalarsTheirRange) {
  const auto normalizer = fitted();
  const auto z = normalizer.to_network(training_set());
  for (int64_t c = 0; c < 2; ++c) {
    EXPECT_NEAR(z.select(1, c).mean().item<double>(), 0, 1e-14);
    EXPECT_NEAR(z.select(1, c).std(false).item<double>(), 1, 1e-13);
    EXPECT_EQ(normalizer.shift(c), normalizer.mean(c));
    EXPECT_EQ(normalizer.scale(c), normalizer.std(c));
  }
  EXPECT_NEAR(z.select(1, 2).min().item<double>(), -1, 1e-14);
  EXPECT_NEAR(z.select(1, 2).max().item<double>(), 1, 1e-14);
  EXPECT_NEAR(normalizer.mean(2), training_set().select(1, 2).mean().item<double>(), 1e-14);
}

TEST(Normalizer, RoundTripInEveryType) {
  const auto x = training_set();
  for (const auto& [dtype, tolerance] : {std::pair{torch::kFloat64, 1e-15},
                                         {torch::kFloat32, 2e-7},
                                         {torch::kFloat16, 2e-3},
                                         {torch::kBFloat16, 1e-2}}) {
    const auto z = fitted().to_network(x.to(dtype));
    EXPECT_EQ(z.scalar_type(), dtype);
    const auto back = fitted().to_physical(z);
    EXPECT_EQ(back.scalar_type(), dtype);
    EXPECT_LT(testing::relative_error(back, x), tolerance);
  }
}

TEST(Normalizer, ConstantChannelsAndLargeOffsets) {
  const std::vector<Channel> channels = {{.name = "c"}, {.name = "o"}};
  // In float32 the values near 1e8 are 8 apart: multiples of 8 are exact, their mean is not.
  const auto steps = torch::randint(-9, 10, {30, 1, 8, 8}).to(torch::kFloat32) * 8;
  const auto x = torch::cat({torch::full_like(steps, 7.3), steps + 1e8}, 1);
  const auto normalizer = Normalizer::fit(x, channels);
  EXPECT_EQ(normalizer.scale(0), 1);
  EXPECT_EQ(normalizer.to_network(x).select(1, 0).abs().max().item<float>(), 0);
  const auto wide = steps.to(torch::kFloat64);
  const auto expected = (wide - wide.mean()) / wide.std(false);
  EXPECT_LT(testing::relative_error(normalizer.to_network(x).narrow(1, 1, 1), expected), 1e-6);
  EXPECT_TRUE(normalizer.to_physical(normalizer.to_network(x)).equal(x));
}

TEST(Normalizer, IsDifferentiable) {
  const auto normalizer = fitted();
  const auto x = torch::randn({2, 3, 4, 4}, torch::kFloat64);
  const auto f = [&](const Tensor& z) { return normalizer.to_physical(z).square().sum(); };
  const auto g = [&](const Tensor& y) { return normalizer.to_network(y).pow(3).sum(); };
  EXPECT_LT(testing::gradient_error(f, x), 1e-6);
  EXPECT_LT(testing::gradient_error(g, x), 1e-6);
}

TEST(Normalizer, JsonKeepsEveryBit) {
  const auto normalizer = fitted();
  const auto again = Normalizer::from_json(json::parse(normalizer.to_json().dump()));
  EXPECT_EQ(again.to_json(), normalizer.to_json());
  EXPECT_EQ(again.name(1), "a");
  EXPECT_TRUE(again.to_network(training_set()).equal(normalizer.to_network(training_set())));
}

TEST(Normalizer, RefusesNonsense) {
  const auto refuse = [](const std::string& pointer, const json& value, const std::string& reason) {
    auto j = fitted().to_json();
    j[json::json_pointer(pointer)] = value;
    EXPECT_ERROR(Normalizer::from_json(j), ExitCode::data, reason);
  };
  refuse("/0/scale", 0.0, "channel 'u': scale must be positive");
  refuse("/1/shift", nullptr, "channel 'a': 'shift' is missing");
  refuse("/1/name", 3, "no name");
  EXPECT_ERROR(Normalizer::from_json(json::object()), ExitCode::data, "expected a list");
  EXPECT_ERROR(fitted().to_network(torch::zeros({1, 2, 4, 4})), ExitCode::data, "(B,3,H,W), got (1,2,4,4)");
  EXPECT_ERROR(fitted().to_network(torch::zeros({1, 3, 4, 4}, torch::kInt64)), ExitCode::data, "floating-point");
  auto x = training_set();
  x[0][1][0][0] = std::nan("");
  EXPECT_ERROR(Normalizer::fit(x, FakePde().channels()), ExitCode::data, "channel 'a' is not finite");
  EXPECT_ERROR(Normalizer::fit(x.narrow(1, 0, 2), FakePde().channels()), ExitCode::data, "3 channels for fields");
}

TEST(Normalizer, ValuesThatFloatsCannotSquareAreRefused) {
  auto x = torch::rand({4, 1, 4, 4});
  x[2][0][1][1] = 3e38;
  EXPECT_ERROR(Normalizer::fit(x, {Channel{.name = "u"}}), ExitCode::data, "channel 'u' reaches from ");
}

}  // namespace
}  // namespace piddm
