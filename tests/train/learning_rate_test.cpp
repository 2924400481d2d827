#include <cmath>

#include "piddm/train/trainer.h"
#include "tests/testing.h"

namespace piddm {
namespace {

TrainOptions one_cycle() {
  TrainOptions options;
  options.steps = 250;
  options.adam.lr = 0.5;
  return options;
}

TEST(LearningRate, OneCycleHasItsClosedFormValues) {
  const auto rate = [](int64_t step) { return learning_rate(one_cycle(), step); };
  EXPECT_NEAR(rate(0), 0.5 / 25, 1e-15);
  EXPECT_NEAR(rate(25), (0.5 / 25 + 0.5) / 2, 1e-15);
  EXPECT_DOUBLE_EQ(rate(50), 0.5);
  EXPECT_NEAR(rate(150), (0.5 + 0.5e-4) / 2, 1e-15);
  EXPECT_NEAR(rate(250), 0.5e-4, 1e-15);
  const double up = 0.5 / 25 + (0.5 - 0.5 / 25) * 0.5 * (1 - std::cos(M_PI * 10 / 50));
  EXPECT_NEAR(rate(10), up, 1e-15);
  const double down = 0.5e-4 + (0.5 - 0.5e-4) * 0.5 * (1 + std::cos(M_PI * 120 / 200));
  EXPECT_NEAR(rate(170), down, 1e-15);
}

TEST(LearningRate, RisesThenFalls) {
  for (int64_t step = 1; step < 250; ++step) {
    const double change = learning_rate(one_cycle(), step) - learning_rate(one_cycle(), step - 1);
    EXPECT_TRUE(step <= 50 ? change > 0 : change < 0) << step;
  }
}

TEST(LearningRate, ConstantIsConstant) {
  auto options = one_cycle();
  options.schedule = ScheduleKind::constant;
  for (const int64_t step : {0, 50, 249}) EXPECT_EQ(learning_rate(options, step), 0.5);
}

}  // namespace
}  // namespace piddm
