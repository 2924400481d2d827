#include "piddm/distill/dmd.h"

#include <cmath>

#include "tests/distill/gaussian.h"

namespace piddm {
namespace {

constexpr uint64_t kDmdSeed = 51;
constexpr int64_t kBatch = 6;

class DmdTest : public ::testing::TestWithParam<std::string> {
 protected:
  Dmd objective(const DmdOptions& options, int64_t batch = kBatch, const std::vector<float>& mean = {-0.3F, 0.4F},
                const std::vector<float>& std = {0.9F, 0.6F}) {
    return Dmd(student_, model_, teacher_, std::make_shared<testing::GaussianNetwork>(teacher_.process, mean, std),
               pairs_, {.lambda = 0}, options, batch, kDmdSeed);
  }

  /// Score of x_t for a Gaussian field, by hand.
  Tensor score(const Tensor& x_t, const Tensor& t, const std::vector<float>& mean, const std::vector<float>& std) {
    const auto s = teacher_.process->at(t);
    const auto m = torch::tensor(mean).view({-1, 1, 1}), d = torch::tensor(std).view({-1, 1, 1});
    return -(x_t - s.alpha * m) / (s.alpha.square() * d.square() + s.sigma.square());
  }

  testing::TempDir folder_;
  Model teacher_ = testing::gaussian_teacher(GetParam());
  Model model_ = testing::affine_student(teacher_);
  Student student_{model_};
  PairSource pairs_{
      teacher_, kDmdSeed, {.steps = 4, .chunk = 8, .every = 5, .pool = 1, .held_out = 4}, folder_ / "pairs"};
};

TEST_P(DmdTest, DirectionIsTheDifferenceOfTheScores) {
  const auto dmd = objective({});
  const auto x = teacher_.latents(kDmdSeed, Stream::latents, 0, 5),
             e = teacher_.latents(kDmdSeed, Stream::latents, 5, 5);
  const auto t = torch::tensor({0.05, 0.2, 0.5, 0.7, 0.9}, torch::kFloat32);
  const auto s = teacher_.process->at(t);
  const auto x_t = teacher_.process->diffuse(x, e, t);
  const auto real = score(x_t, t, testing::kMean, testing::kStd), fake = score(x_t, t, {-0.3F, 0.4F}, {0.9F, 0.6F});
  const auto estimate = (x_t + s.sigma.square() * real) / s.alpha;
  const auto expected = s.sigma.square() / s.alpha * (fake - real) / (x - estimate).abs().mean({1, 2, 3}, true);
  EXPECT_LT(testing::relative_error(dmd.direction(x, e, t), expected), 1e-3);
}

// d(e) = mean + std e, so the gradient in `mean` is the mean of g over the entries of a channel, and in `std` that of g
// e.
TEST_P(DmdTest, GradientOfTheLossIsTheDirection) {
  auto dmd = objective({.critic_steps = 2, .regression = 0});
  const Draws draws(model_, kDmdSeed, kBatch, 6);
  for (const int64_t step : {0, 3}) {
    const auto loss = dmd.loss(step);
    const auto parameters = model_.network->named_parameters();
    const auto gradient = torch::autograd::grad({loss.total}, {parameters["mean"], parameters["std"]});
    const auto e = draws.normal(step, 0);
    const double end = teacher_.process->t_end(), first = end + 0.02 * (1 - end), last = end + 0.998 * (1 - end);
    const auto u = draws.uniform(step, 1);
    const auto t = 1 - (std::sqrt(1 - first) * (1 - u) + std::sqrt(1 - last) * u).square();
    const auto g = dmd.direction(student_(e), draws.normal(step, 1), t) / 2;  // two channels share the mean
    EXPECT_LT(testing::relative_error(gradient[0].flatten(), g.mean({0, 2, 3})), 1e-3);
    EXPECT_LT(testing::relative_error(gradient[1].flatten(), (g * e).mean({0, 2, 3})), 1e-3);
  }
}

TEST_P(DmdTest, ACriticThatAgreesWithTheTeacherLeavesTheStudentAlone) {
  auto dmd = objective({.regression = 0}, kBatch, testing::kMean, testing::kStd);
  EXPECT_LT(dmd.loss(0).total.item<double>(), 1e-10);
  dmd.advance(0);  // now the critic has seen that the student's law is another
  EXPECT_GT(dmd.loss(1).total.item<double>(), 1e-10);
}

TEST_P(DmdTest, FindsTheTeachersLaw) {
  auto dmd = objective({.critic_steps = 5, .regression = 0, .critic_lr = 0.02}, 16, testing::kMean, testing::kStd);
  testing::train_quickly(*model_.network, dmd, 300, 0.02, folder_ / "run");
  const auto found = testing::affine_parameters(model_);
  EXPECT_LT(testing::relative_error(found.first, torch::tensor(testing::kMean)), 0.05);
  EXPECT_LT(testing::relative_error(found.second.abs(), torch::tensor(testing::kStd)), 0.05);
}

TEST_P(DmdTest, AddsTheRegressionOnPairs) {
  auto with = objective({.regression = 0.7}), without = objective({.regression = 0});
  const auto loss = with.loss(2);
  ASSERT_EQ(loss.terms[2].first, "sample");
  const double sample = loss.terms[2].second.item<double>();
  PairPool pool(pairs_, kBatch, kDmdSeed);
  const auto pairs = pool.batch(2);
  const torch::NoGradGuard no_grad;
  EXPECT_NEAR(sample, (student_(pairs.latents) - pairs.targets).square().mean().item<double>(), 1e-5 * sample);
  EXPECT_NEAR(loss.total.item<double>() - without.loss(2).total.item<double>(), 0.7 * sample, 1e-4 * sample);
}

TEST_P(DmdTest, FollowsThePairsAloneInItsWarmUp) {
  auto dmd = objective({.regression = 0, .warm_up = 3}), later = objective({.regression = 0});
  PairPool pool(pairs_, kBatch, kDmdSeed);
  const auto pairs = pool.batch(2);
  const double distance = (student_(pairs.latents) - pairs.targets).square().mean().item<double>();
  EXPECT_NEAR(dmd.loss(2).total.item<double>(), distance, 1e-5 * distance);
  EXPECT_EQ(dmd.loss(3).total.item<double>(), later.loss(3).total.item<double>());
}

TEST_P(DmdTest, RefusesSenselessNumbers) {
  EXPECT_ERROR(objective({.warm_up = -1}), ExitCode::usage, "warm_up");
  EXPECT_ERROR(objective({.critic_steps = 0}), ExitCode::usage, "critic_steps");
  EXPECT_ERROR(objective({.regression = -1}), ExitCode::usage, "regression");
  EXPECT_ERROR(objective({.critic_lr = 0}), ExitCode::usage, "distill.dmd.critic_lr: must be more than 0, got 0");
}

INSTANTIATE_TEST_SUITE_P(Processes, DmdTest, ::testing::Values("linear", "vp", "sub-vp"),
                         [](const auto& test) { return test.param == "sub-vp" ? "sub_vp" : test.param; });

}  // namespace
}  // namespace piddm
