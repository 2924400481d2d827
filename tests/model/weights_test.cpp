#include "piddm/model/weights.h"

#include <limits>

#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

using testing::tiny_network;

TEST(Weights, AreDetachedCopies) {
  const auto network = tiny_network(1);
  auto weights = weights_of(*network);
  EXPECT_EQ(weights.size(), network->parameters().size());
  for (auto& [name, value] : weights) {
    EXPECT_FALSE(value.requires_grad()) << name;
    value.fill_(7);
  }
  for (const auto& [name, value] : weights_of(*network)) EXPECT_FALSE(value.eq(7).any().item<bool>()) << name;
}

TEST(Weights, RoundTripBitForBit) {
  const auto source = tiny_network(1), target = tiny_network(2);
  load_weights(*target, weights_of(*source), "test");
  for (const auto& [name, value] : weights_of(*target)) EXPECT_TRUE(value.equal(weights_of(*source).at(name))) << name;
  for (const auto& p : target->parameters()) EXPECT_TRUE(p.requires_grad());
}

TEST(Weights, OtherPrecisionsAreConverted) {
  const auto source = tiny_network(1), target = tiny_network(2);
  auto weights = weights_of(*source);
  for (auto& [name, value] : weights) value = value.to(torch::kFloat64);
  load_weights(*target, weights, "test");
  for (const auto& [name, value] : weights_of(*target)) EXPECT_TRUE(value.equal(weights_of(*source).at(name))) << name;
}

/// What must be refused: a change of good weights, and the message it must give.
struct WeightDamage {
  std::string name;
  std::function<void(TensorMap&)> apply;
  std::string message;
};

class DamagedWeights : public ::testing::TestWithParam<WeightDamage> {};

TEST_P(DamagedWeights, AreRefused) {
  const auto network = tiny_network(1);
  auto weights = weights_of(*network);
  GetParam().apply(weights);
  EXPECT_ERROR(load_weights(*network, weights, "some/file"), ExitCode::data, "some/file: " + GetParam().message);
}

void set_first(TensorMap& weights, const std::string& name, double value) { weights.at(name).view({-1})[0] = value; }

INSTANTIATE_TEST_SUITE_P(
    Weights, DamagedWeights,
    ::testing::Values(
        WeightDamage{"Missing", [](TensorMap& w) { w.erase("lift2_bias"); }, "tensor 'lift2_bias' is missing"},
        WeightDamage{"Empty", [](TensorMap& w) { w.clear(); }, "tensor 'lift1_weight' is missing"},
        WeightDamage{"Extra", [](TensorMap& w) { w["extra"] = torch::zeros({2}); },
                     "tensor 'extra' does not belong to this network"},
        WeightDamage{"WrongShape",
                     [](TensorMap& w) {
                       w["layers_1_skip"] = torch::zeros({4, 5});
                     },
                     "tensor 'layers_1_skip' has shape (4,5), expected (4,4)"},
        WeightDamage{"Transposable",
                     [](TensorMap& w) {
                       w["lift1_bias"] = torch::zeros({1, 8});
                     },
                     "tensor 'lift1_bias' has shape (1,8), expected (8)"},
        WeightDamage{"Nan",
                     [](TensorMap& w) { set_first(w, "project1_bias", std::numeric_limits<double>::quiet_NaN()); },
                     "tensor 'project1_bias' has non-finite values"},
        WeightDamage{"Infinite",
                     [](TensorMap& w) { set_first(w, "layers_0_spectral", std::numeric_limits<double>::infinity()); },
                     "tensor 'layers_0_spectral' has non-finite values"},
        WeightDamage{"TooLargeForFloat32",
                     [](TensorMap& w) { w["lift1_bias"] = torch::full({8}, 1e300, torch::kFloat64); },
                     "tensor 'lift1_bias' has non-finite values"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace piddm
