#include "piddm/model/network.h"

#include "piddm/model/weights.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

using testing::tiny_network;

Tensor input(int64_t batch) { return torch::randn({batch, 2, 8, 8}); }

class Work : public ::testing::Test {
 protected:
  const NetworkPtr network = tiny_network(1);
  const Tensor t = torch::ones({1});
};

TEST_F(Work, ForwardCountsSamples) {
  const torch::NoGradGuard no_grad;
  EXPECT_EQ(network->work().forward, 0);
  (*network)(input(5), t);
  (*network)(input(2), t);
  EXPECT_EQ(network->work().forward, 7);
  EXPECT_EQ(network->work().backward, 0);
}

TEST_F(Work, BackwardCountsSamplesOfEachPass) {
  const auto y = (*network)(input(5), t);
  EXPECT_EQ(network->work().backward, 0);
  y.sum().backward({}, /*retain_graph=*/true);
  EXPECT_EQ(network->work().backward, 5);
  (y.square().sum() + y.sum()).backward();
  EXPECT_EQ(network->work().backward, 10);
  EXPECT_EQ(network->work().forward, 5);
}

TEST_F(Work, BackwardThroughAChainCountsEachEvaluation) {
  auto x = input(3);
  for (int i = 0; i < 4; ++i) x = x - 0.25 * (*network)(x, t);
  x.square().sum().backward();
  EXPECT_EQ(network->work().forward, 12);
  EXPECT_EQ(network->work().backward, 12);
}

TEST_F(Work, GradientOfTheInputAloneCountsToo) {
  for (auto& p : network->parameters()) p.requires_grad_(false);
  const auto x = input(3).requires_grad_(true);
  (*network)(x, t).sum().backward();
  EXPECT_EQ(network->work().backward, 3);
}

TEST_F(Work, RefusedCallsAreNotCounted) {
  EXPECT_ERROR((*network)(torch::zeros({4, 7, 8, 8}), t), ExitCode::data, "[fno]");
  EXPECT_EQ(network->work().forward, 0);
}

TEST_F(Work, MeterCountsFromItsConstruction) {
  (*network)(input(5), t);
  const WorkMeter meter(*network);
  (*network)(input(2), t).sum().backward();
  EXPECT_EQ(meter.spent().forward, 2);
  EXPECT_EQ(meter.spent().backward, 2);
}

TEST(MakeNetwork, SameSeedSameWeights) {
  const auto a = weights_of(*tiny_network(4)), b = weights_of(*tiny_network(4)), c = weights_of(*tiny_network(5));
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, value] : a) {
    EXPECT_TRUE(value.equal(b.at(name))) << name;
    const bool is_bias = name.find("bias") != std::string::npos;  // zero at the start
    EXPECT_EQ(value.equal(c.at(name)), is_bias) << name;
  }
}

TEST(MakeNetwork, NoTwoWeightsShareNumbers) {
  const auto weights = weights_of(*tiny_network(4));
  const auto a = weights.at("layers_0_spectral"), b = weights.at("layers_1_spectral");
  EXPECT_FALSE(a.eq(b).any().item<bool>());
}

TEST(MakeNetwork, OptionsGiveTheSameNetworkBack) {
  const auto network = tiny_network(4);
  const auto again = make_network(network->type(), network->options_json(), 4);
  EXPECT_EQ(again->options_json(), network->options_json());
  EXPECT_EQ(again->modes(), network->modes());
  const auto x = input(2), t = torch::ones({1});
  EXPECT_TRUE((*again)(x, t).equal((*network)(x, t)));
}

TEST(MakeNetwork, UnknownTypeIsRefusedWithTheNearest) {
  EXPECT_ERROR(make_network("fon", json::object(), 0), ExitCode::usage, "unknown model 'fon'; did you mean 'fno'?");
}

TEST(MakeNetwork, EveryTypeOfTheListCanBeMade) {
  EXPECT_FALSE(list_networks().empty());
  for (const auto& [type, summary] : list_networks()) {
    EXPECT_FALSE(summary.empty()) << type;
    EXPECT_EQ(make_network(type, {{"width", 4}}, 0)->type(), type);
  }
}

}  // namespace
}  // namespace piddm
