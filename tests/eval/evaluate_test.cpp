#include "piddm/eval/evaluate.h"

#include <cmath>
#include <numbers>

#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

constexpr int64_t kHeldOut = 96, kGrid = testing::kTinyGrid;

Tensor held_out() { return testing::tiny_data(kHeldOut, 1000); }

Normalizer normalizer() { return Normalizer::fit(testing::tiny_data(64), testing::tiny_pde()->channels()); }

Judge judge() { return Judge(testing::tiny_pde(), normalizer(), held_out(), testing::tiny_data(64).mean(0)); }

Samples samples_of(const Tensor& x) { return {x, 3, 2, 0.5}; }

/// sin(k pi x) sin(l pi y) at the cell centres: an eigenvector of the five-point Laplacian, mean square 1/4.
Tensor sine_mode(int64_t k, int64_t l) {
  const auto x = (torch::arange(kGrid, torch::kFloat64) + 0.5) * (std::numbers::pi / kGrid);
  return torch::sin(k * x).unsqueeze(1) * torch::sin(l * x);
}

double eigenvalue(int64_t k, int64_t l) {
  const auto one = [](int64_t m) { return std::pow(2.0 * kGrid * std::sin(m * std::numbers::pi / (2.0 * kGrid)), 2); };
  return one(k) + one(l);
}

TEST(Judge, TrueDataSatisfyTheEquationAndSitOnTheFloor) {
  const auto report = judge().samples(samples_of(testing::tiny_data(kHeldOut, 5000)));
  EXPECT_EQ(report.n, kHeldOut);
  EXPECT_EQ(report.n_reference, kHeldOut);
  EXPECT_LT(report.at("rel_residual"), 1e-10);
  EXPECT_LT(report.at("pde_error"), 1e-20);
  EXPECT_LT(report.at("solution_error"), 1e-20);
  const auto floor = judge().floor(kHeldOut, 1);
  for (const char* metric : {"mmse", "mmse_u", "mmse_a", "smse", "smse_u", "smse_a"}) {
    EXPECT_GT(report.at(metric), 0) << metric;
    EXPECT_LT(report.at(metric), 2 * floor.at(metric)) << metric;
  }
  EXPECT_NEAR(report.at("mmse"), (report.at("mmse_u") + report.at("mmse_a")) / 2, 1e-15);
  EXPECT_LT(floor.at("rel_residual"), 1e-10);
}

TEST(Judge, TheHeldOutDataAgainstThemselvesScoreZero) {
  const auto report = judge().samples(samples_of(held_out()));
  EXPECT_EQ(report.at("mmse"), 0.0);
  EXPECT_EQ(report.at("smse"), 0.0);
}

TEST(Judge, AShiftedChannelScoresTheSquareOfTheShift) {
  auto x = held_out();
  x.select(1, 1).add_(0.5);
  const auto report = judge().samples(samples_of(x));
  EXPECT_NEAR(report.at("mmse_a"), std::pow(0.5 / normalizer().std(1), 2), 1e-12);
  EXPECT_EQ(report.at("mmse_u"), 0.0);
  EXPECT_LT(report.at("smse_a"), 1e-24);
}

// u + eps s, a = 3 everywhere: r = -3 eps lambda s, and the solution for a is the u it started from.
TEST(Judge, AWrongSolutionCostsTheClosedFormAmount) {
  constexpr double kEps = 1e-3, kCoefficient = 3;
  constexpr int64_t kModeX = 3, kModeY = 5;
  const auto pde = testing::tiny_pde();
  const auto a = torch::full({4, 1, kGrid, kGrid}, kCoefficient, torch::kFloat64);
  const auto x = torch::cat({pde->solve(a) + kEps * sine_mode(kModeX, kModeY), a}, 1);
  const auto report = judge().samples(samples_of(x));
  const double residual = kEps * kCoefficient * eigenvalue(kModeX, kModeY) / 2;  // RMS
  EXPECT_NEAR(report.at("rel_residual"), residual, 1e-8 * residual);
  EXPECT_NEAR(report.at("pde_error"), std::pow(pde->equations()[0].scale * residual, 2), 1e-8 * std::pow(residual, 2));
  const double expected = kEps * kEps / 4 / std::pow(normalizer().std(0), 2);
  EXPECT_NEAR(report.at("solution_error"), expected, 1e-8 * expected);
}

TEST(Judge, PassesTheWorkOn) {
  const auto report = judge().samples(samples_of(held_out().to(torch::kFloat32)));
  EXPECT_EQ(report.at("nfe"), 3.0);
  EXPECT_EQ(report.at("backward"), 2.0);
  EXPECT_EQ(report.at("seconds_per_sample"), 0.5);
}

TEST(JudgeTask, CountsOnlyWhatWasNotGiven) {
  const auto pde = testing::tiny_pde();
  const auto truth = held_out().narrow(0, 0, 4);
  const auto observation = observe(Task::reconstruct, truth, *pde, 3, 0.4);
  const auto error = torch::tensor({0.01, -2.0}, torch::kFloat64).view({1, 2, 1, 1});

  const auto at_known = judge().task(samples_of(truth + observation.mask * error), truth, observation);
  EXPECT_EQ(at_known.at("mse_u"), 0.0);
  EXPECT_EQ(at_known.at("mse_a"), 0.0);

  const auto at_unknown = judge().task(samples_of(truth + (1 - observation.mask) * error), truth, observation);
  const double u = std::pow(0.01 / normalizer().std(0), 2), a = std::pow(2 / normalizer().std(1), 2);
  EXPECT_NEAR(at_unknown.at("mse_u"), u, 1e-9 * u);
  EXPECT_NEAR(at_unknown.at("mse_a"), a, 1e-9 * a);
  EXPECT_EQ(at_unknown.at("misclassified"), 0.0);  // 12 - 2 and 3 - 2 are on the right side of 7.5
  EXPECT_EQ(at_unknown.n, 4);
}

TEST(JudgeTask, GivenChannelsAreJudgedAsAWhole) {
  const auto truth = held_out().narrow(0, 0, 4);
  const auto observation = observe(Task::forward, truth, *testing::tiny_pde(), 3);
  auto x = truth.clone();
  x.select(1, 1).add_(1);
  const auto report = judge().task(samples_of(x), truth, observation);
  const double a = std::pow(1 / normalizer().std(1), 2);
  EXPECT_NEAR(report.at("mse_a"), a, 1e-9 * a);
  EXPECT_EQ(report.at("mse_u"), 0.0);
  EXPECT_GT(report.at("rel_residual"), 1e-3);
}

TEST(JudgeTask, ComparesWithTheMeanFieldAndCountsWrongCells) {
  const auto truth = held_out().narrow(0, 0, 8);
  const auto observation = observe(Task::inverse, truth, *testing::tiny_pde(), 3);
  auto x = truth.clone();
  x.select(1, 1).slice(1, 0, 4) = 15 - x.select(1, 1).slice(1, 0, 4);  // 3 <-> 12 in a quarter of the cells
  const auto report = judge().task(samples_of(x), truth, observation);
  EXPECT_DOUBLE_EQ(report.at("misclassified"), 0.25);
  const double wrong = 0.25 * std::pow(9 / normalizer().std(1), 2);
  EXPECT_NEAR(report.at("mse_a"), wrong, 1e-9 * wrong);
  const auto mean = testing::tiny_data(64).mean(0);
  for (int64_t c = 0; c < 2; ++c) {
    const double expected =
        (truth - mean).select(1, c).square().mean().item<double>() / std::pow(normalizer().std(c), 2);
    EXPECT_NEAR(report.at(c == 0 ? "mean_field_mse_u" : "mean_field_mse_a"), expected, 1e-9 * expected);
  }
}

TEST(Judge, RefusesAnotherGrid) {
  const auto small = torch::ones({4, 2, 8, 8}, torch::kFloat64);
  EXPECT_ERROR(judge().samples(samples_of(small)), ExitCode::data, "expected (B,2,16,16)");
  EXPECT_ERROR(judge().task(samples_of(small), held_out(), {held_out(), torch::ones_like(held_out())}), ExitCode::data,
               "expected (B,2,16,16)");
  EXPECT_ERROR(Judge(testing::tiny_pde(), normalizer(), small, small[0]), ExitCode::data, "expected (B,2,16,16)");
}

TEST(Judge, IntervalsHoldTheirValueAndDependOnTheSeed) {
  const auto samples = samples_of(testing::tiny_data(24, 5000) * 1.01);
  const auto report = judge().samples(samples, {100, 3});
  const auto& intervals = report.intervals;
  for (const char* key : {"mmse", "mmse_u", "smse", "smse_a", "swd", "apdd", "spectrum_error", "pde_error",
                          "rel_residual", "solution_error"}) {
    const double value = report.at(key);
    EXPECT_LE(intervals.at(key).first, value) << key;
    EXPECT_GE(intervals.at(key).second, value) << key;
    EXPECT_LT(intervals.at(key).first, intervals.at(key).second) << key;
  }
  EXPECT_EQ(judge().samples(samples, {100, 3}).intervals, intervals);
  EXPECT_NE(judge().samples(samples, {100, 4}).intervals, intervals);
  EXPECT_TRUE(judge().samples(samples).intervals.empty());
}

// Darcy's hard constraint sets the outer ring of u to a third of its neighbour: moving an edge (without corners) moves
// it by this much.
TEST(Judge, ConstraintErrorIsTheMeanSquareViolationOfConstrainedEntries) {
  const auto pde = testing::tiny_pde();
  const auto x = pde->constrain(held_out());
  EXPECT_LT(judge().samples(samples_of(x)).at("constraint_error"), 1e-24);
  auto moved = x.clone();
  moved.select(1, 0).select(1, 0).slice(1, 1, kGrid - 1) += 0.002;
  const double entries = 4 * (kGrid - 1), expected = std::pow(0.002 / normalizer().std(0), 2) * (kGrid - 2) / entries;
  EXPECT_NEAR(judge().samples(samples_of(moved)).at("constraint_error"), expected, 1e-6 * expected);
}

TEST(JudgeTask, ConstraintErrorIsTheErrorAtWhatWasGiven) {
  const auto truth = held_out().narrow(0, 0, 4);
  const auto observation = observe(Task::inverse, truth, *testing::tiny_pde(), 3);
  auto x = truth.clone();
  x.select(1, 0) += 0.001;
  x.select(1, 1) += 1;
  const auto report = judge().task(samples_of(x), truth, observation, {50, 1});
  const double expected = std::pow(0.001 / normalizer().std(0), 2);
  EXPECT_NEAR(report.at("constraint_error"), expected, 1e-9 * expected);
  EXPECT_EQ(report.intervals.count("mse_a"), 1U);
}

TEST(JudgeTask, RelativeErrorsAreOfWholeChannelsInPhysicalUnits) {
  const auto truth = held_out().narrow(0, 0, 4);
  const auto observation = observe(Task::forward, truth, *testing::tiny_pde(), 3);
  auto x = truth.clone();
  x.select(1, 0) *= torch::tensor({1.1, 0.9, 1.2, 1.0}, torch::kFloat64).view({4, 1, 1});
  const auto report = judge().task(samples_of(x), truth, observation);
  EXPECT_NEAR(report.at("rel_l2_u"), 0.1, 1e-12);
  EXPECT_EQ(report.at("rel_l2_a"), 0.0);
}

TEST(JudgeEnsemble, JudgesTheChannelsThatWereAskedFor) {
  const auto truth = held_out().narrow(0, 0, 4);
  const auto observation = observe(Task::inverse, truth, *testing::tiny_pde(), 3);
  auto low = truth.clone(), high = truth.clone();
  low.select(1, 1) -= 1;
  high.select(1, 1) += 2;
  const auto report = judge().ensemble({samples_of(low), samples_of(high)}, truth, observation, {50, 1});
  const double unit = normalizer().std(1);
  EXPECT_EQ(report.members, 2);
  EXPECT_NEAR(report.at("crps_a"), 0, 1e-12);  // (1 + 2)/2 - 3/2
  EXPECT_EQ(report.at("coverage_a"), 1.0);
  EXPECT_NEAR(report.at("spread_a"), 4.5 / (unit * unit), 1e-9);
  EXPECT_NEAR(report.at("mean_mse_a"), 0.25 / (unit * unit), 1e-9);
  EXPECT_NEAR(report.at("coverage_nominal"), 1.0 / 3, 1e-12);
  EXPECT_FALSE(report.has("crps_u"));
  EXPECT_ERROR(judge().ensemble({samples_of(low)}, truth, observation), ExitCode::usage, "at least 2 members, got 1");
  EXPECT_ERROR(judge().ensemble({samples_of(low), samples_of(low.narrow(0, 0, 2))}, truth, observation), ExitCode::data,
               "a member has 2 cases, the truth has 4");
}

TEST(Judge, FewerSamplesThanAMetricNeedsIsAClearError) {
  EXPECT_ERROR(judge().samples(samples_of(held_out().narrow(0, 0, 1))), ExitCode::data, "at least 2 samples, got 1");
  const Judge few(testing::tiny_pde(), normalizer(), held_out().narrow(0, 0, 3), held_out()[0]);
  EXPECT_ERROR(few.floor(8, 1), ExitCode::data, "at least 4 samples, got 3");
}

}  // namespace
}  // namespace piddm
