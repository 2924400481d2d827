#include "piddm/process/process.h"

#include "tests/testing.h"

namespace piddm {
namespace {

using testing::gradient_error;
using testing::relative_error;

constexpr double kRounding = 1e-13;

Tensor field() { return torch::randn({5, 2, 4, 3}, torch::kFloat64); }

/// Times of the batch, both ends included.
Tensor times() { return torch::tensor({0.0, 0.01, 0.5, 0.9, 1.0}, torch::kFloat64); }

/// Every registered process; identities below hold for all of them.
class EveryProcess : public ::testing::TestWithParam<std::string> {
 protected:
  const ProcessPtr process = process_registry().at(GetParam())();
  const Tensor x0 = field(), e = field(), t = times().clamp_min(process->t_end());
};

TEST_P(EveryProcess, KnowsItsName) {
  EXPECT_EQ(process->name(), GetParam());
  EXPECT_GE(process->t_end(), 0);
  EXPECT_LT(process->t_end(), 0.1);
}

TEST_P(EveryProcess, CleanAndNoiseInvertDiffusion) {
  const auto x_t = process->diffuse(x0, e, t), v = process->velocity(x0, e, t);
  EXPECT_LT(relative_error(process->clean(x_t, v, t), x0), kRounding);
  EXPECT_LT(relative_error(process->noise(x_t, v, t), e), kRounding);
}

TEST_P(EveryProcess, DiffusionInvertsCleanAndNoise) {
  const auto x_t = field(), v = field();
  const auto clean = process->clean(x_t, v, t), noise = process->noise(x_t, v, t);
  EXPECT_LT(relative_error(process->diffuse(clean, noise, t), x_t), kRounding);
  EXPECT_LT(relative_error(process->velocity(clean, noise, t), v), kRounding);
}

TEST_P(EveryProcess, ScoreIsMinusTheNoiseOverSigma) {
  const auto positive = t.clamp_min(0.01);
  const auto x_t = process->diffuse(x0, e, positive), v = process->velocity(x0, e, positive);
  EXPECT_LT(relative_error(process->score(x_t, v, positive) * process->at(positive).sigma, -e), kRounding);
}

/// Away from the ends, where the linear process has alpha = 0 or sigma = 0.
TEST_P(EveryProcess, VelocityComesBackFromCleanNoiseAndScore) {
  const auto inside = t.clamp(0.01, 0.99), x_t = field(), v = field();
  const auto back = [&](const Tensor& again) { return relative_error(again, v); };
  EXPECT_LT(back(process->velocity_from_clean(x_t, process->clean(x_t, v, inside), inside)), 10 * kRounding);
  EXPECT_LT(back(process->velocity_from_noise(x_t, process->noise(x_t, v, inside), inside)), 10 * kRounding);
  EXPECT_LT(back(process->velocity_from_score(x_t, process->score(x_t, v, inside), inside)), 10 * kRounding);
}

/// E[x_0|x_t] = (x_t + sigma^2 s) / alpha, the paper's first formula, agrees with the second, by the velocity.
TEST_P(EveryProcess, TweedieInScoreAndVelocityAgree) {
  const auto inside = t.clamp(0.01, 0.99), x_t = field(), v = field();
  const auto s = process->at(inside);
  const auto tweedie = (x_t + s.sigma.square() * process->score(x_t, v, inside)) / s.alpha;
  EXPECT_LT(relative_error(tweedie, process->clean(x_t, v, inside)), 10 * kRounding);
}

TEST_P(EveryProcess, VelocityIsTheTimeDerivative) {
  const double dt = 3e-7;
  const auto inside = t.clamp(process->t_end() + dt, 1 - dt);
  const auto difference = process->diffuse(x0, e, inside + dt) - process->diffuse(x0, e, inside - dt);
  EXPECT_LT(relative_error(difference / (2 * dt), process->velocity(x0, e, inside)), 1e-7);
}

TEST_P(EveryProcess, OneTimeServesTheBatch) {
  const auto one = torch::full({1}, 0.3, torch::kFloat64), each = torch::full({5}, 0.3, torch::kFloat64);
  EXPECT_TRUE(process->diffuse(x0, e, one).equal(process->diffuse(x0, e, each)));
  EXPECT_TRUE(process->clean(x0, e, one).equal(process->clean(x0, e, each)));
}

TEST_P(EveryProcess, ConversionsAreDifferentiable) {
  const auto loss = [](const Tensor& x) { return x.pow(3).sum(); };
  EXPECT_LT(gradient_error([&](const Tensor& v) { return loss(process->clean(x0, v, t)); }, e), 1e-6);
  EXPECT_LT(gradient_error([&](const Tensor& v) { return loss(process->noise(x0, v, t)); }, e), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Registered, EveryProcess, ::testing::ValuesIn(process_registry().names()));

class LinearProcess : public ::testing::Test {
 protected:
  const ProcessPtr linear = process_registry().at("linear")();
  const Tensor x0 = field(), e = field(), t = times(), s = t.view({5, 1, 1, 1});
};

TEST_F(LinearProcess, HasItsClosedForms) {
  const auto x_t = linear->diffuse(x0, e, t), v = linear->velocity(x0, e, t);
  EXPECT_LT(relative_error(x_t, (1 - s) * x0 + s * e), kRounding);
  EXPECT_TRUE(v.equal(e - x0));
  EXPECT_LT(relative_error(linear->clean(x_t, v, t), x_t - s * v), kRounding);
  EXPECT_LT(relative_error(linear->noise(x_t, v, t), x_t + (1 - s) * v), kRounding);
}

TEST_F(LinearProcess, EndsAreDataAndNoise) {
  EXPECT_TRUE(linear->diffuse(x0, e, torch::zeros({1}, torch::kFloat64)).equal(x0));
  EXPECT_TRUE(linear->diffuse(x0, e, torch::ones({1}, torch::kFloat64)).equal(e));
  EXPECT_EQ(linear->t_end(), 0);
}

TEST_F(LinearProcess, CleanAtTheStartIsNoiseMinusVelocity) {
  const auto v = field();
  EXPECT_TRUE(linear->clean(e, v, torch::ones({1}, torch::kFloat64)).equal(e - v));
}

TEST(VariancePreserving, KeepsTheVarianceOfStandardData) {
  const auto s = process_registry().at("vp")()->at(times());
  EXPECT_LT(relative_error(s.alpha.square() + s.sigma.square(), torch::ones_like(s.alpha)), kRounding);
}

TEST(SubVariancePreserving, HasTheSquareOfTheVarianceOfVp) {
  const auto t = times().clamp_min(1e-3);
  const auto vp = process_registry().at("vp")()->at(t), sub = process_registry().at("sub-vp")()->at(t);
  EXPECT_TRUE(vp.alpha.equal(sub.alpha));
  EXPECT_LT(relative_error(sub.sigma, vp.sigma.square()), kRounding);
}

TEST(ProcessRegistry, UnknownNameIsRefusedWithTheNearest) {
  EXPECT_ERROR(process_registry().at("liner"), ExitCode::usage, "unknown process 'liner'; did you mean 'linear'?");
}

}  // namespace
}  // namespace piddm
