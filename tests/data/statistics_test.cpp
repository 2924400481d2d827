#include "piddm/data/statistics.h"

#include "tests/data/fake_pde.h"
#include "tests/testing.h"

namespace piddm {
namespace {

TEST(Statistics, AgreeWithTorch) {
  const auto x = torch::randn({7, 2, 5, 6}, torch::kFloat64);
  const auto statistics = channel_statistics(x);
  ASSERT_EQ(statistics.size(), 2u);
  for (int64_t c = 0; c < 2; ++c) {
    const auto& s = statistics[static_cast<size_t>(c)];
    const auto channel = x.select(1, c);
    EXPECT_NEAR(s.mean, channel.mean().item<double>(), 1e-14);
    EXPECT_NEAR(s.std, channel.std(false).item<double>(), 1e-14);
    EXPECT_EQ(s.min, channel.min().item<double>());
    EXPECT_EQ(s.max, channel.max().item<double>());
  }
}

TEST(Statistics, LargeOffsetsAndConstantsKeepTheirDigits) {
  const auto noise = torch::randn({50, 1, 8, 8}, torch::kFloat64) * 1e-3;
  const auto expected = channel_statistics(noise)[0];
  const auto moved = channel_statistics(noise + 1e8)[0];
  EXPECT_NEAR(moved.std / expected.std, 1, 1e-5);  // the data themselves have 1.5e-8 / 1e-3 left
  EXPECT_NEAR(moved.mean, 1e8 + expected.mean, 3e-8);
  const auto constant = channel_statistics(torch::full({9, 1, 3, 3}, 0.1e8 / 3, torch::kFloat64))[0];
  EXPECT_EQ(constant.std, 0);
  EXPECT_EQ(constant.mean, 0.1e8 / 3);
}

TEST(Statistics, DoNotDependOnThreads) {
  const auto x = torch::randn({20, 2, 64, 64});
  const int threads = torch::get_num_threads();
  const auto several = channel_statistics(x);
  torch::set_num_threads(1);
  const auto one = channel_statistics(x);
  torch::set_num_threads(threads);
  for (size_t c = 0; c < 2; ++c) {
    EXPECT_EQ(several[c].mean, one[c].mean);
    EXPECT_EQ(several[c].std, one[c].std);
  }
}

TEST(Statistics, ResidualsOfKnownErrors) {
  const testing::FakePde pde;
  auto x = pde.sample(0, 0, 5);
  x[3].select(0, 0) += 0.5;
  for (const int64_t batch : {1, 2, 64}) {
    const auto s = residual_statistics(pde, x, batch);
    EXPECT_DOUBLE_EQ(s.mean_pde_error(), 100 * 0.25 / 5);
    EXPECT_DOUBLE_EQ(s.rel_residual(), std::sqrt(0.25 / 5) / 2);
    EXPECT_DOUBLE_EQ(s.worst_rel_residual(), 0.25);
    const auto& [error, residual, reference, peak] = s.equations.at(0);
    EXPECT_NEAR(peak[3].item<double>(), 25, 1e-12);
    EXPECT_EQ(peak[2].item<double>(), 0);
    EXPECT_TRUE(join_statistics({s, s}).equations[0].residual.equal(torch::cat({residual, residual})));
    EXPECT_LT(testing::relative_error(error, pde.pde_error(x)), 1e-14);
    EXPECT_TRUE(s.pde_error().equal(error));
  }
}

TEST(Statistics, RefusesWhatIsNotASetOfFields) {
  EXPECT_ERROR(channel_statistics(torch::zeros({2, 3})), ExitCode::data, "got (2,3)");
  EXPECT_ERROR(channel_statistics(torch::zeros({0, 1, 2, 2})), ExitCode::data, "got (0,1,2,2)");
}

}  // namespace
}  // namespace piddm
