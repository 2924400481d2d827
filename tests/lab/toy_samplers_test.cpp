#include "piddm/lab/toy_samplers.h"

#include "piddm/lab/mixture_network.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using testing::relative_error;

Tensor vector(double a, double b) { return torch::tensor({a, b}, torch::kFloat64); }

GaussianMixture tilted() {
  const auto covariance = torch::stack({vector(0.2, 0.1), vector(0.1, 0.3)});
  return GaussianMixture({{1, vector(-1, 0), covariance}, {2, vector(1, 0.5), covariance}});
}

Tensor loss(const Tensor& x0) { return (x0.flatten(1).select(1, 1) - 0.3).square(); }

Tensor mean_of_both(const Tensor& x) { return x.mean(1, true).expand_as(x); }

class Samplers : public ::testing::TestWithParam<std::string> {
 protected:
  const ProcessPtr process = process_registry().at(GetParam())();
  MixtureNetwork network{tilted(), process};
  const Tensor e = normal(1, Stream::latents, 0, 50, {2, 1, 1}, torch::kFloat64);
};

TEST_P(Samplers, GuidanceIsTheGradientThroughThePosteriorMean) {
  const auto t = torch::full({1}, 0.6, torch::kFloat64);
  const double step = 1e-6, weight = 2;
  const auto clean_loss = [&](const Tensor& x) { return loss(network.law().posterior(x, t, *process).clean); };
  const auto guidance = guided_velocity(network, *process, loss, weight, e, t) - network(e, t);
  for (int64_t i = 0; i < 2; ++i) {
    auto shift = torch::zeros({1, 2, 1, 1}, torch::kFloat64);
    shift[0][i] = step;
    const auto slope = (clean_loss(e + shift) - clean_loss(e - shift)) / (2 * step);
    EXPECT_LT(relative_error(guidance.flatten(1).select(1, i), weight * slope), 1e-6);
  }
}

TEST_P(Samplers, WithoutWeightGuidanceIsPlainEuler) {
  const ToyGuidance none{.steps = 20, .weight = 0, .t_end = 0.01};
  EXPECT_TRUE(sample_guided(network, *process, loss, none, e)
                  .equal(integrate_euler(network.law().field(process), e, 20, 0.01)));
}

TEST_P(Samplers, WeightsOfBothUnitsAgree) {
  const ToyGuidance a_step{.steps = 50, .weight = 0.01, .unit = GuidanceUnit::per_step, .t_end = 0};
  const ToyGuidance a_time{.steps = 50, .weight = 0.5, .unit = GuidanceUnit::per_time, .t_end = 0};
  EXPECT_DOUBLE_EQ(a_step.per_time(), a_time.per_time());
}

TEST_P(Samplers, CountTheirWork) {
  const WorkMeter guided(network);
  sample_guided(network, *process, loss, {.steps = 7, .weight = 1, .t_end = 0.01}, e);
  EXPECT_EQ(guided.spent().forward, 7 * 50);
  EXPECT_EQ(guided.spent().backward, 7 * 50);
  const WorkMeter eci(network);
  sample_eci(network, *process, mean_of_both, ToyEciNoise::ddim, 9, e, 1);
  EXPECT_EQ(eci.spent().forward, 9 * 50);
  EXPECT_EQ(eci.spent().backward, 0);
}

TEST_P(Samplers, EciSatisfiesTheConstraintExactly) {
  for (const auto mode : {ToyEciNoise::fixed, ToyEciNoise::resample, ToyEciNoise::ddim}) {
    const auto x = sample_eci(network, *process, mean_of_both, mode, 20, e, 1);
    EXPECT_TRUE(x.select(1, 0).equal(x.select(1, 1)));
    EXPECT_TRUE(all_finite(x));
  }
}

TEST_P(Samplers, EciKindsOfNoiseDiffer) {
  const auto fixed = sample_eci(network, *process, mean_of_both, ToyEciNoise::fixed, 20, e, 1);
  const auto fresh = sample_eci(network, *process, mean_of_both, ToyEciNoise::resample, 20, e, 1);
  EXPECT_GT(relative_error(fixed, fresh), 0.01);
  EXPECT_TRUE(fresh.equal(sample_eci(network, *process, mean_of_both, ToyEciNoise::resample, 20, e, 1)));
}

INSTANTIATE_TEST_SUITE_P(Registered, Samplers, ::testing::ValuesIn(process_registry().names()));

/// x_{t'} = (1-t') x0^ + t' e^ is the Euler step of the linear process, so without a constraint ECI with the step's own
/// noise is the plain sampler.
TEST(Eci, WithoutConstraintIsEulerOfTheLinearProcess) {
  const auto process = process_registry().at("linear")();
  MixtureNetwork network(tilted(), process);
  const auto e = normal(1, Stream::latents, 0, 50, {2, 1, 1}, torch::kFloat64);
  const auto x = sample_eci(
      network, *process, [](const Tensor& x0) { return x0; }, ToyEciNoise::ddim, 30, e, 1);
  EXPECT_LT(relative_error(x, integrate_euler(network.law().field(process), e, 30)), 1e-12);
}

}  // namespace
}  // namespace piddm
