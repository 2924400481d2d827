#include "piddm/distill/adversary.h"

#include "piddm/core/rng.h"
#include "tests/testing.h"

namespace piddm {
namespace {

constexpr uint64_t kSeed = 5;

Tensor noise(int64_t first, int64_t count) { return normal(kSeed, Stream::coefficients, first, count, {2, 32, 32}); }

/// Neighbours along x averaged: less power in the high modes, the same mean.
Tensor blurred(const Tensor& x) { return (x + x.roll(1, 2)) * std::sqrt(0.5); }

constexpr int64_t kFirst = 3, kEnd = 1003;

Adversary make(double weight = 1) {
  return {noise(0, 64), {.weight = weight, .lr = 1e-3, .width = 8}, kFirst, kEnd, kSeed};
}

TEST(PatchDiscriminator, DividesEveryWeightByItsLargestSingularValue) {
  PatchDiscriminator d(2, 4, kSeed);
  for (int i = 0; i < 200; ++i) d.normalise();
  const auto vectors = d.vectors();
  for (size_t i = 0; i < 5; ++i) {
    const auto w = d.named_parameters()["layer" + std::to_string(i) + "_weight"].detach().flatten(1);
    const double largest = torch::linalg_svdvals(w).max().item<double>();
    const auto u = vectors.at("u" + std::to_string(i)), v = vectors.at("v" + std::to_string(i));
    EXPECT_NEAR(u.dot(w.mv(v)).item<double>(), largest, 1e-3 * largest) << i;
  }
}

TEST(PatchDiscriminator, GivesOneNumberPerPatchOnAnyRectangle) {
  const PatchDiscriminator d(3, 4, kSeed);
  EXPECT_EQ(d.forward(torch::randn({2, 3, 48, 96}), true).sizes(), (std::vector<int64_t>{2, 1, 3, 6}));
  EXPECT_EQ(d.forward(torch::randn({1, 3, 17, 33}), true).sizes(), (std::vector<int64_t>{1, 1, 1, 2}));
}

TEST(PatchDiscriminator, NoPatchReachesFurtherThanFortySixPoints) {
  const PatchDiscriminator d(1, 4, kSeed);
  auto x = torch::randn({1, 1, 128, 128}).requires_grad_();
  d.forward(x, true).index({0, 0, 4, 4}).backward();
  const auto seen = (x.grad().abs().sum(torch::IntArrayRef{0, 1, 2}) > 0).nonzero();
  EXPECT_EQ(seen.max().item<int64_t>() - seen.min().item<int64_t>() + 1, 46);
}

TEST(Adversary, LearnsToTellBlurredFieldsFromTrueOnes) {
  auto adversary = make();
  const auto before = adversary.verdict(blurred(noise(200, 16))) - adversary.verdict(noise(300, 16));
  for (int64_t step = 3; step < 120; ++step) adversary.learn(step, blurred(noise(1000 + 16 * step, 16)));
  EXPECT_LT(adversary.last_loss().item<double>(), 1);
  const auto after = adversary.verdict(blurred(noise(200, 16))) - adversary.verdict(noise(300, 16));
  EXPECT_GT(after.item<double>(), before.item<double>() + 1);
}

TEST(Adversary, FindsNothingWhereThereIsNothingToFind) {
  auto adversary = make();
  for (int64_t step = 3; step < 60; ++step) adversary.learn(step, noise(1000 + 16 * step, 16));
  const auto one = adversary.verdict(noise(5000, 64)), other = adversary.verdict(noise(6000, 64));
  EXPECT_LT((one - other).abs().item<double>(), 0.3);  // blurred fields: more than 1
}

TEST(Adversary, ItsVerdictLeadsTowardsTrueData) {
  auto adversary = make();
  for (int64_t step = 3; step < 120; ++step) adversary.learn(step, blurred(noise(1000 + 16 * step, 16)));
  auto x = blurred(noise(400, 8)).requires_grad_();
  const auto roughness = [](const Tensor& y) { return (y - y.roll(1, 2)).square().mean().item<double>(); };
  const double start = roughness(x.detach());
  const auto gradient = torch::autograd::grad({adversary.verdict(x)}, {x})[0];
  EXPECT_GT(roughness(x.detach() - gradient * (1 / gradient.abs().mean().item<double>()) * 0.1), 1.005 * start);
}

TEST(Adversary, GoesOnInTheSameBits) {
  auto whole = make(), first = make(), second = make();
  const auto shown = [](int64_t step) { return blurred(noise(1000 + 6 * step, 6)); };
  for (int64_t step = 3; step < 9; ++step) whole.learn(step, shown(step));
  for (int64_t step = 3; step < 6; ++step) first.learn(step, shown(step));
  second.load(first.state());
  for (int64_t step = 6; step < 9; ++step) second.learn(step, shown(step));
  EXPECT_TRUE(torch::equal(second.verdict(noise(0, 3)), whole.verdict(noise(0, 3))));
  EXPECT_TRUE(torch::equal(second.last_loss(), whole.last_loss()));
  EXPECT_ERROR(second.load({}), ExitCode::data, "adversary");
}

// A recorded step of the student reads them where they were.
TEST(Adversary, LearnsAndLoadsInPlace) {
  auto adversary = make(), other = make();
  const auto* place = adversary.last_loss().data_ptr<float>();
  adversary.learn(kFirst, blurred(noise(1000, 16)));
  const float loss = *place;
  EXPECT_GT(loss, 0);
  other.learn(kFirst, noise(2000, 16));
  adversary.load(other.state());
  EXPECT_EQ(adversary.last_loss().data_ptr<float>(), place);
  EXPECT_EQ(*place, other.last_loss().item<float>());
  EXPECT_NE(*place, loss);
}

TEST(Adversary, ItsLearningRateFallsAsACosineToNothing) {
  const auto adversary = make();
  EXPECT_DOUBLE_EQ(adversary.learning_rate(kFirst), 1e-3);
  EXPECT_NEAR(adversary.learning_rate((kFirst + kEnd) / 2), 5e-4, 1e-15);
  EXPECT_NEAR(adversary.learning_rate(kEnd), 0, 1e-15);
  EXPECT_GT(adversary.learning_rate(kEnd - 1), 0);
}

TEST(Adversary, SetsInWhereItIsTold) {
  const auto adversary = make();
  EXPECT_FALSE(adversary.active(2));
  EXPECT_TRUE(adversary.active(3));
}

}  // namespace
}  // namespace piddm
