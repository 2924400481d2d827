#include "piddm/solve/task/task.h"

#include <cmath>

#include "tests/data/fake_pde.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

TEST(Observe, ForwardKnowsCoefficientsAndInverseSolutions) {
  const testing::FakePde pde(4);
  const auto truth = pde.sample(1, 0, 3);
  const auto forward = observe(Task::forward, truth, pde, 7), inverse = observe(Task::inverse, truth, pde, 7);
  EXPECT_TRUE(torch::equal(forward.values, truth));
  EXPECT_EQ(forward.mask.select(1, 0).sum().item<double>(), 0);
  EXPECT_TRUE((forward.mask.narrow(1, 1, 2) == 1).all().item<bool>());  // the scalar channel is a coefficient too
  EXPECT_TRUE(torch::equal(inverse.mask, 1 - forward.mask));
}

TEST(Observe, ForwardKnowsTheRingAndInverseThePhase) {
  const auto poisson = make_pde({.name = "poisson", .grid = 16});
  const auto forward = observe(Task::forward, poisson->sample(1, 0, 2), *poisson, 7).mask;
  EXPECT_EQ(forward[0][0].sum().item<double>(), 4 * 15);
  EXPECT_EQ(forward[1][0].narrow(0, 1, 14).narrow(1, 1, 14).sum().item<double>(), 0);
  EXPECT_EQ(forward.select(1, 1).min().item<double>(), 1);
  const auto flow = make_pde({.name = "navier-stokes", .grid = 16});
  const auto inverse = observe(Task::inverse, torch::zeros({2, 3, 16, 16}), *flow, 7).mask;  // w, w0, phi
  for (int64_t c = 0; c < 3; ++c) EXPECT_EQ(inverse.select(1, c).mean().item<double>(), c == 1 ? 0 : 1) << c;
}

TEST(Observe, ReconstructionRevealsAShareOfEveryFieldChannel) {
  constexpr double kShare = 0.3;
  constexpr int64_t kSamples = 16, kGrid = 32;
  const testing::FakePde pde(kGrid);
  const auto mask = observe(Task::reconstruct, pde.sample(1, 0, kSamples), pde, 7, kShare).mask;
  EXPECT_TRUE(((mask == 0) | (mask == 1)).all().item<bool>());
  const auto binomial = [&](double entries) { return 4 * std::sqrt(kShare * (1 - kShare) / entries); };
  for (int64_t channel = 0; channel < 2; ++channel) {
    const auto m = mask.select(1, channel);
    EXPECT_NEAR(m.mean().item<double>(), kShare, binomial(kSamples * kGrid * kGrid));
    for (int64_t i = 0; i < kSamples; ++i)
      EXPECT_NEAR(m[i].mean().item<double>(), kShare, binomial(kGrid * kGrid)) << i;
  }
  EXPECT_EQ(mask.select(1, 2).sum().item<double>(), 0);  // scalars stay unknown
  const double both = (mask.select(1, 0) * mask.select(1, 1)).mean().item<double>();
  EXPECT_NEAR(both, kShare * kShare, 4 * kShare / std::sqrt(kSamples * kGrid * kGrid));  // channels are independent
}

TEST(Observe, TheMaskIsAFunctionOfSeedAndSample) {
  const auto pde = testing::tiny_pde();
  const auto truth = testing::tiny_data(5);
  const auto mask = observe(Task::reconstruct, truth, *pde, 7).mask;
  EXPECT_TRUE(torch::equal(observe(Task::reconstruct, truth.narrow(0, 0, 2) + 1, *pde, 7).mask, mask.narrow(0, 0, 2)));
  EXPECT_FALSE(torch::equal(observe(Task::reconstruct, truth, *pde, 8).mask, mask));
  EXPECT_FALSE(torch::equal(mask[0], mask[1]));
  // more is revealed by adding entries
  EXPECT_TRUE((observe(Task::reconstruct, truth, *pde, 7, 0.5).mask >= mask).all().item<bool>());
}

TEST(Observe, PointsAreCountedInEveryFieldChannelOfTheTask) {
  const testing::FakePde pde(8);  // u, a, and the scalar s
  const auto truth = pde.sample(1, 0, 3);
  const ObserveOptions options{.points = 11};
  const std::vector<std::pair<Task, std::vector<double>>> expected = {
      {Task::forward, {0, 11, 64}}, {Task::inverse, {11, 0, 0}}, {Task::reconstruct, {11, 11, 0}}};
  for (const auto& [task, counts] : expected) {
    const auto mask = observe(task, truth, pde, 7, options).mask;
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t c = 0; c < 3; ++c) EXPECT_EQ(mask[i][c].sum().item<double>(), counts[c]) << task_name(task) << c;
  }
  const auto mask = observe(Task::reconstruct, truth, pde, 7, options).mask;
  EXPECT_FALSE(torch::equal(mask[0][0], mask[0][1]));
  EXPECT_FALSE(torch::equal(mask[0][0], mask[1][0]));
  EXPECT_TRUE(
      torch::equal(observe(Task::reconstruct, truth.narrow(0, 0, 2), pde, 7, options).mask, mask.narrow(0, 0, 2)));
}

TEST(Observe, OnlyTheListedChannelsAreRevealed) {
  const auto pde = testing::tiny_pde();
  const auto truth = testing::tiny_data(2);
  const auto mask = observe(Task::reconstruct, truth, *pde, 7, ObserveOptions{.channels = {"u"}}).mask;
  EXPECT_TRUE(torch::equal(mask.select(1, 0), observe(Task::reconstruct, truth, *pde, 7).mask.select(1, 0)));
  EXPECT_EQ(mask.select(1, 1).sum().item<double>(), 0);
  EXPECT_ERROR(observe(Task::reconstruct, truth, *pde, 7, ObserveOptions{.channels = {"v"}}), ExitCode::usage,
               "[darcy] unknown channel 'v'");
  EXPECT_ERROR(observe(Task::reconstruct, truth, *pde, 7, ObserveOptions{.points = 257}), ExitCode::usage,
               "between 0 and 256, got 257");
}

TEST(Observe, RefusesWhatMakesNoSense) {
  const auto pde = testing::tiny_pde();
  const auto truth = testing::tiny_data(2);
  EXPECT_ERROR(observe(Task::generate, truth, *pde, 1), ExitCode::usage, "generate observes nothing");
  EXPECT_ERROR(observe(Task::reconstruct, truth, *pde, 1, 0), ExitCode::usage, "got 0");
  EXPECT_ERROR(observe(Task::reconstruct, truth, *pde, 1, 1.5), ExitCode::usage, "got 1.5");
  EXPECT_ERROR(observe(Task::forward, truth.narrow(2, 0, 8), *pde, 1), ExitCode::data, "expected (B,2,16,16)");
}

TEST(Task, NamesGoBothWays) {
  for (const auto* name : {"generate", "forward", "inverse", "reconstruct"})
    EXPECT_EQ(task_name(parse_task(name)), name);
  EXPECT_ERROR(parse_task("invers"), ExitCode::usage, "did you mean 'inverse'");
  EXPECT_EQ(parse_solve_task("inverse"), Task::inverse);
  EXPECT_ERROR(parse_solve_task("invers"), ExitCode::usage, "did you mean 'inverse'");
  EXPECT_ERROR(parse_solve_task("generate"), ExitCode::usage, "observes nothing; choose forward, inverse, reconstruct");
  EXPECT_ERROR(parse_solve_task("nope"), ExitCode::usage, "forward, inverse, reconstruct");
  try {
    parse_solve_task("nope");
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()).find("generate"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace piddm
