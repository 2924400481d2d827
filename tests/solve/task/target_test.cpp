#include "piddm/solve/task/target.h"

#include <cmath>

#include "piddm/solve/methods/piddm.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

Observation observed(Task task = Task::reconstruct) {
  return observe(task, testing::tiny_data(3).to(torch::kFloat32), *testing::tiny_pde(), 17);
}

TEST(Target, WithoutNoiseTheWeightIsTheMask) {
  const auto model = testing::tiny_teacher();
  const auto target = make_target(observed(), model, "test");
  EXPECT_TRUE(torch::equal(target.weight, target.mask));
  EXPECT_TRUE(torch::equal(target.exact, target.mask));
  const auto z = torch::randn_like(target.values);
  const auto error = (z - model.normalizer.to_network(observed().values)).square();
  const auto mean = (error * target.mask).sum({1, 2, 3}) / target.mask.sum({1, 2, 3});
  EXPECT_LT(testing::relative_error(target.misfit(z), mean), 1e-6);
}

// Two noisy channels: the misfit is chi^2 tau^2 / n.
TEST(Target, WeightsFallWithTheNoise) {
  const auto model = testing::tiny_teacher();
  auto observation = observed();
  observation.sigma = torch::zeros_like(observation.values);
  observation.sigma.select(1, 0).fill_(0.5 * model.normalizer.scale(0));
  observation.sigma.select(1, 1).fill_(0.1 * model.normalizer.scale(1));
  const auto target = make_target(observation, model, "test", torch::kFloat64);
  EXPECT_EQ(target.exact.sum().item<double>(), 0);
  for (int64_t b = 0; b < 3; ++b) {
    const auto w = [&](int64_t c) { return target.weight[b][c].max().item<double>(); };
    const double s0 = kExactSigma * kExactSigma;
    EXPECT_NEAR(w(1) / w(0), (0.25 + s0) / (0.01 + s0), 1e-4);
    EXPECT_NEAR(w(0) * (0.25 + s0), kBalancedSigma * kBalancedSigma, 1e-9);
  }
  const auto z = torch::zeros_like(target.values);
  const auto chi2 = (target.mask * target.values.square() / (target.sigma.square() + kExactSigma * kExactSigma));
  const auto expected = chi2.sum({1, 2, 3}) * std::pow(kBalancedSigma, 2) / target.known_values();
  EXPECT_LT(testing::relative_error(target.misfit(z), expected), 1e-9);
  EXPECT_EQ((target.weight * (1 - target.mask)).abs().max().item<double>(), 0);
  EXPECT_NEAR(target.sigma.max().item<double>(), 0.5, 1e-6);
}

// Noise belongs to a sample: beside a noisy one a sample of exact values keeps its weights, and its misfit to the bit.
TEST(Target, AnExactSampleDoesNotSeeTheNoiseOfOthers) {
  const auto model = testing::tiny_teacher();
  auto observation = observed();
  const auto exact = make_target(observation, model, "test");
  observation.sigma = torch::zeros_like(observation.values);
  observation.sigma[1].fill_(0.5);
  const auto mixed = make_target(observation, model, "test");
  const auto z = torch::randn_like(exact.values);
  EXPECT_TRUE(torch::equal(mixed.weight[0], exact.weight[0]));
  EXPECT_TRUE(torch::equal(mixed.misfit(z)[2], exact.misfit(z)[2]));
  EXPECT_TRUE(torch::equal(mixed.noisy(), torch::tensor({false, true, false})));
  EXPECT_LT(mixed.misfit(z)[1].item<double>(), 0.9 * exact.misfit(z)[1].item<double>());
}

TEST(Target, PerturbationsHaveTheirSigmaAndBelongToASampleNumber) {
  const auto model = testing::tiny_teacher();
  auto observation = observed();
  observation.sigma = torch::zeros_like(observation.values);
  observation.sigma.select(1, 0).fill_(0.3 * model.normalizer.scale(0));
  const auto target = make_target(observation, model, "test", torch::kFloat64);
  const auto moved = target.perturbed(5, 7).values - target.values;
  EXPECT_EQ((moved * target.exact).abs().max().item<double>(), 0);
  const auto known = moved.masked_select(target.sigma > 0) / 0.3;
  EXPECT_NEAR(known.square().mean().item<double>(), 1, 0.3);
  EXPECT_TRUE(torch::equal(target.narrow(2, 1).perturbed(5, 9).values, target.perturbed(5, 7).values.narrow(0, 2, 1)));
  EXPECT_FALSE(torch::equal(target.perturbed(6, 7).values, target.perturbed(5, 7).values));
}

TEST(Target, OnlyExactValuesReplace) {
  const auto model = testing::tiny_teacher();
  auto observation = observed(Task::inverse);
  observation.sigma = torch::zeros_like(observation.values);
  observation.sigma.narrow(2, 0, 8).fill_(1e-3);
  const auto target = make_target(observation, model, "test");
  const auto z = torch::randn_like(target.values), mixed = target.mixed(z);
  EXPECT_TRUE(torch::equal(mixed.narrow(2, 0, 8), z.narrow(2, 0, 8)));
  EXPECT_TRUE(torch::equal(mixed.select(1, 0).narrow(1, 8, 8), target.values.select(1, 0).narrow(1, 8, 8)));
}

// A method that replaces what it knows leaves noisy values to the fit, and noise in one channel moves the fit to the
// other.
TEST(Target, NoiseReachesTheMethodPiddm) {
  const auto model = testing::tiny_student();
  PiddmOptions options;
  options.task.iterations = 8;
  options.lambda = 0;
  auto observation = observed();
  const auto solve = [&] { return model.normalizer.to_network(PiddmMethod(model, options).solve(observation, 3).x); };
  const auto z = model.normalizer.to_network(observation.values);
  const auto error = [&](const Tensor& solved, int64_t c) {
    return (observation.mask * (solved - z).square()).select(1, c).sum().item<double>();
  };
  EXPECT_LT(error(solve(), 0) + error(solve(), 1), 1e-9);  // replaced
  observation.sigma = torch::zeros_like(observation.values);
  observation.sigma.select(1, 0).fill_(0.1 * model.normalizer.scale(0));
  observation.sigma.select(1, 1).fill_(10 * model.normalizer.scale(1));
  const auto trust_u = solve();
  observation.sigma.select(1, 0).fill_(10 * model.normalizer.scale(0));
  observation.sigma.select(1, 1).fill_(0.1 * model.normalizer.scale(1));
  const auto trust_a = solve();
  EXPECT_GT(error(trust_u, 1), 1e-3);
  EXPECT_LT(error(trust_u, 0), 0.9 * error(trust_a, 0));
  EXPECT_LT(error(trust_a, 1), 0.9 * error(trust_u, 1));
}

TEST(Target, RefusesSigmaThatIsNone) {
  const auto model = testing::tiny_teacher();
  auto observation = observed();
  observation.sigma = torch::full_like(observation.values, -1);
  EXPECT_ERROR(make_target(observation, model, "test"), ExitCode::data,
               "[test] the sigma of an observed value is negative");
  observation.sigma = torch::zeros({3, 2, 8, 8});
  EXPECT_ERROR(make_target(observation, model, "test"), ExitCode::data, "expected (B,2,16,16)");
}

}  // namespace
}  // namespace piddm
