#include "piddm/eval/calibration.h"

#include "piddm/core/rng.h"
#include "tests/solve/methods/toys.h"
#include "tests/testing.h"

namespace piddm {
namespace {

constexpr int64_t kCases = 40;

/// Answers N(0, size^2) whatever the data say; remembers what it was asked.
class Guess : public Method {
 public:
  explicit Guess(double size) : size_(size) {}
  std::string name() const override { return "guess"; }
  Samples generate(int64_t, int64_t, uint64_t) override { throw std::logic_error("not here"); }
  void generate(int64_t, int64_t, uint64_t, const std::function<void(Samples&)>&) override {}
  Samples solve(const Observation& observation, uint64_t seed) override {
    asked = observation;
    const auto shape = observation.mask.sizes().slice(1).vec();
    return {.x = size_ * piddm::normal(seed, Stream::tasks, 0, observation.mask.size(0), shape), .nfe = 1};
  }

  Observation asked;

 private:
  double size_;
};

Tensor truth() { return piddm::normal(1, Stream::coefficients, 0, kCases, {2, 16, 16}); }

ChannelCalibration of_solution(double size, const CalibrationOptions& options = {.members = 19}) {
  Guess guess(size);
  return calibrate(guess, testing::idle_teacher(), truth(), options).channels.at(1);
}

TEST(Calibration, FindsTheNominalNumbersWhereMembersAndTruthHaveOneLaw) {
  const auto c = of_solution(1);
  EXPECT_NEAR(c.nominal, 0.9, 1e-12);
  EXPECT_NEAR(c.coverage, c.nominal, 0.01);
  EXPECT_NEAR(c.spread_skill, 1, 0.01);
  EXPECT_NEAR(c.crps, 1 / std::sqrt(M_PI), 0.01);
  EXPECT_NEAR(c.one, std::sqrt(2), 0.02);
  EXPECT_NEAR(c.mean, std::sqrt(1 + 1.0 / 19), 0.02);
}

TEST(Calibration, SeesASpreadThatIsTooSmallOrTooLarge) {
  const auto narrow = of_solution(0.5), wide = of_solution(2);
  EXPECT_LT(narrow.coverage, 0.65);
  EXPECT_NEAR(narrow.spread_skill, 0.5, 0.02);
  EXPECT_GT(wide.coverage, 0.99);
  EXPECT_GT(wide.spread_skill, 1.8);
  EXPECT_GT(std::min(narrow.crps, wide.crps), of_solution(1).crps);
}

TEST(Calibration, AsksEachCaseOnceForEachMemberWithTheNoiseItWasTold) {
  Guess guess(1);
  const CalibrationOptions options{.reveal = {.points = 30}, .noise = 0.1, .members = 3};
  calibrate(guess, testing::idle_teacher(), truth(), options);
  const auto& asked = guess.asked;
  ASSERT_EQ(asked.mask.size(0), 3 * kCases);
  EXPECT_TRUE(asked.values[0].equal(asked.values[2]));
  EXPECT_FALSE(asked.values[0].equal(asked.values[3]));
  EXPECT_EQ(asked.mask.select(1, 0).sum().item<double>(), 30.0 * 3 * kCases);
  EXPECT_EQ(asked.mask.select(1, 1).sum().item<double>(), 0);
  const auto off = ((asked.values - truth().repeat_interleave(3, 0)) * asked.mask).select(1, 0);
  EXPECT_NEAR(std::sqrt(off.square().sum().item<double>() / (90 * kCases)), 0.1, 0.01);
  EXPECT_TRUE(asked.sigma.equal(asked.mask * asked.sigma.max()));
}

TEST(Calibration, CountsWrongCellsOfACoefficientWithTwoValues) {
  auto model = testing::idle_teacher();
  model.pde = make_pde({"darcy", 16});
  Guess guess(1);
  auto x = truth();
  x.select(1, 1).fill_(12);
  EXPECT_DOUBLE_EQ(calibrate(guess, model, x, {.members = 2}).channels.at(1).one, 1);  // all answers are below 7.5
  x.select(1, 1).fill_(3);
  EXPECT_DOUBLE_EQ(calibrate(guess, model, x, {.members = 2}).channels.at(1).mean, 0);
}

}  // namespace
}  // namespace piddm
