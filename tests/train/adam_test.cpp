#include "piddm/train/adam.h"

#include <cmath>

#include "piddm/core/json_text.h"
#include "tests/testing.h"

namespace piddm {
namespace {

struct TwoTensors : torch::nn::Module {
  explicit TwoTensors(const Tensor& flat)
      : first(register_parameter("first", flat.narrow(0, 0, 6).view({3, 2}).clone())),
        second(register_parameter("second", flat.narrow(0, 6, 4).clone())) {}
  Tensor flat() const { return torch::cat({first.detach().flatten(), second.detach()}).clone(); }
  void set_gradient(const Tensor& g) {
    first.mutable_grad().copy_(g.narrow(0, 0, 6).view({3, 2}));
    second.mutable_grad().copy_(g.narrow(0, 6, 4));
  }
  Tensor first, second;
};

Tensor vector_of(const json& values) { return torch::tensor(values.get<std::vector<double>>(), torch::kFloat64); }

Tensor some_weights() { return torch::linspace(-1.1, 1.25, 10, torch::kFloat64); }

Tensor flat_of(const TensorMap& part) { return torch::cat({part.at("first").flatten(), part.at("second")}); }

TEST(Adam, AgreesWithPyTorch) {
  const auto record = parse_json(testing::read_text(testing::golden("adam.json")), "adam.json");
  TwoTensors module(vector_of(record.at("start")));
  Adam adam(module, {.lr = 1,
                     .beta1 = record.at("beta1"),
                     .beta2 = record.at("beta2"),
                     .eps = record.at("eps"),
                     .clip = record.at("clip"),
                     .ema = record.at("ema_decay")});
  int64_t k = 0;
  for (const auto& step : record.at("steps")) {
    const auto gradient = vector_of(step.at("gradient"));
    module.set_gradient(gradient);
    EXPECT_NEAR(adam.gradient_norm(), gradient.norm().item<double>(), 1e-14);
    adam.step(++k, step.at("lr"), adam.gradient_norm());
    EXPECT_LT(testing::relative_error(module.flat(), vector_of(step.at("weights"))), 1e-14) << "step " << k;
    EXPECT_LT(testing::relative_error(flat_of(adam.ema()), vector_of(step.at("ema"))), 1e-14) << "step " << k;
  }
  EXPECT_EQ(k, 8);
}

TEST(Adam, FirstStepIsTheLearningRateInEveryCoordinate) {
  TwoTensors module(some_weights());
  Adam adam(module, {.eps = 1e-3, .clip = 0, .ema = 0.999});
  const auto g = torch::linspace(-30, 60, 10, torch::kFloat64) + 1;
  module.set_gradient(g);
  adam.step(1, 0.25, adam.gradient_norm());
  EXPECT_LT(testing::relative_error(module.flat(), some_weights() - 0.25 * g / (g.abs() + 1e-3)), 1e-14);
  const auto average = 2.0 / 11 * some_weights() + 9.0 / 11 * module.flat();  // d = min(0.999, 2/11)
  EXPECT_LT(testing::relative_error(flat_of(adam.ema()), average), 1e-14);
}

TEST(Adam, ClippingScalesTheWholeGradient) {
  const auto second_moment = [](double clip, double factor) {
    TwoTensors module(some_weights());
    Adam adam(module, {.clip = clip});
    module.set_gradient(some_weights() * factor);
    adam.step(1, 1e-3, adam.gradient_norm());
    return flat_of(adam.state().at("exp_avg_sq"));
  };
  const double norm = some_weights().norm().item<double>();
  EXPECT_LT(testing::relative_error(second_moment(0.5, 100), second_moment(0, 0.5 / norm)), 1e-14);
  EXPECT_LT(testing::relative_error(second_moment(1e3, 2), second_moment(0, 2)), 1e-15);
}

TEST(Adam, BackwardFillsTheOneBufferAndTheModuleSeesTheStep) {
  TwoTensors module(some_weights());
  Adam adam(module, {});
  for (int repeat = 0; repeat < 2; ++repeat) {
    adam.zero_grad();
    (module.first.square().sum() + 3 * module.second.sum()).backward();
    const double expected = std::sqrt(4 * module.first.detach().square().sum().item<double>() + 4 * 9);
    EXPECT_NEAR(adam.gradient_norm(), expected, 1e-13);
  }
  const auto before = module.flat();
  adam.step(1, 1e-2, adam.gradient_norm());
  EXPECT_TRUE((module.flat() - before).abs().gt(9e-3).all().item<bool>());
}

TEST(Adam, NamesTheTensorWhoseGradientIsNotFinite) {
  TwoTensors module(some_weights());
  Adam adam(module, {});
  module.set_gradient(some_weights());
  EXPECT_EQ(adam.non_finite_gradient(), "");
  module.second.mutable_grad()[2] = INFINITY;
  EXPECT_EQ(adam.non_finite_gradient(), "second");
  EXPECT_FALSE(std::isfinite(adam.gradient_norm()));
}

TEST(Adam, SwapAndStateComeBackBitForBit) {
  TwoTensors module(some_weights()), other(torch::zeros({10}, torch::kFloat64));
  Adam adam(module, {}), copy(other, {});
  module.set_gradient(some_weights());
  adam.step(1, 1e-2, 1);
  const auto weights = module.flat(), average = flat_of(adam.ema());
  adam.swap_ema();
  EXPECT_TRUE(torch::equal(module.flat(), average));
  adam.swap_ema();
  EXPECT_TRUE(torch::equal(module.flat(), weights));

  copy.load(adam.state());
  EXPECT_TRUE(torch::equal(other.flat(), weights));
  for (auto* both : {&module, &other}) both->set_gradient(-2 * some_weights());
  adam.step(2, 1e-2, 1);
  copy.step(2, 1e-2, 1);
  for (const auto& [part, tensors] : adam.state())
    EXPECT_TRUE(torch::equal(flat_of(tensors), flat_of(copy.state().at(part)))) << part;
}

TEST(Adam, RefusesAStateOfAnotherNetwork) {
  TwoTensors module(some_weights());
  Adam adam(module, {});
  auto state = adam.state();
  state.erase("exp_avg");
  EXPECT_ERROR(adam.load(state), ExitCode::data, "part 'exp_avg' is missing");
  state = adam.state();
  state["ema"].erase("second");
  EXPECT_ERROR(adam.load(state), ExitCode::data, "tensor 'second' is missing");
  state = adam.state();
  state["model"]["first"] = torch::zeros({2, 3}, torch::kFloat64);
  EXPECT_ERROR(adam.load(state), ExitCode::data, "tensor 'first' has shape (2,3)");
}

}  // namespace
}  // namespace piddm
