#include "piddm/eval/ensembles/calibration.h"

#include "piddm/core/rng.h"
#include "piddm/eval/ensembles/conformal.h"
#include "piddm/eval/ensembles/exact_posterior.h"
#include "piddm/eval/ensembles/law_shift.h"
#include "piddm/eval/ensembles/spread_factors.h"
#include "piddm/files/json_file.h"
#include "piddm/solve/methods/classical.h"
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

/// Cases whose entries depend on each other: truths N(0,1) around a shift that all entries of a case share.
struct Ensembles {
  Tensor sorted, truth, open;
};

Ensembles dependent(uint64_t seed, int64_t cases, double spread) {
  constexpr int64_t kMembers = 64, kEntries = 100;
  const auto draws = [&](int64_t first, int64_t n) {
    const auto shared = piddm::normal(seed, Stream::tasks, first, n, {1}, torch::kFloat64);
    const auto own = piddm::normal(seed, Stream::noise, first, n, {kEntries}, torch::kFloat64);
    return std::sqrt(0.5) * (shared + own);
  };
  const auto members = spread * draws(cases, kMembers * cases).view({kMembers, cases, kEntries});
  return {std::get<0>(members.sort(0)), draws(0, cases), torch::ones({cases, kEntries}, torch::kFloat64)};
}

double factor_of(const Ensembles& e) { return conformal_factor(interval_scores(e.sorted, e.truth, 0.9, 1e-9), e.open); }

TEST(Conformal, FactorsOfOneEntryPerCaseAreTheQuantileOfSplitConformal) {
  const auto scores = torch::randperm(99, torch::kInt64).to(torch::kFloat64).unsqueeze(1);  // 0..98
  EXPECT_EQ(conformal_factor(scores, torch::ones_like(scores)), 89);  // the ceil(0.9 * 100) = 90th smallest
  const auto nine = torch::arange(9, torch::kFloat64).unsqueeze(1);
  EXPECT_EQ(conformal_factor(nine, torch::ones_like(nine)), 8);
  EXPECT_ERROR(conformal_factor(nine.narrow(0, 0, 8), torch::ones({8, 1}, torch::kFloat64)), ExitCode::data,
               "needs 9 cases, got 8");
}

TEST(Conformal, StatedIntervalsCoverOtherCasesOnceWidened) {
  for (const double spread : {0.4, 3.0}) {
    const double factor = factor_of(dependent(1, 400, spread));
    const auto other = dependent(2, 2000, spread);
    const auto scores = interval_scores(other.sorted, other.truth, 0.9, 1e-9);
    const double before = covered_share(scores, other.open), after = covered_share(scores, other.open, factor);
    EXPECT_TRUE(spread < 1 ? before < 0.6 : before > 0.99) << before;
    EXPECT_GT(after, 0.88) << spread;
    EXPECT_LT(after, 0.92) << spread;
    EXPECT_NEAR(factor * spread, 1, 0.12);
  }
}

TEST(Conformal, OfACalibratedModelIsNearOne) { EXPECT_NEAR(factor_of(dependent(3, 1000, 1)), 1, 0.05); }

TEST(Conformal, CountsNoEntriesThatEverybodyKnows) {
  auto e = dependent(4, 50, 0.4);
  const double alone = factor_of(e);
  const auto wall = torch::zeros({50, 300}, torch::kFloat64);
  e.sorted = torch::cat({e.sorted, wall.unsqueeze(0).expand({64, 50, 300})}, 2);
  e.truth = torch::cat({e.truth, wall}, 1);
  e.open = open_entries(e.sorted, e.truth, torch::ones_like(e.truth), 1e-6);
  EXPECT_EQ(e.open.sum().item<double>(), 50 * 100);
  EXPECT_DOUBLE_EQ(factor_of(e), alone);
}

TEST(RankTests, AreUniformForOneLawAndNotForAnother) {
  const auto members = piddm::normal(1, Stream::noise, 0, 200, {19, 4, 4}, torch::kFloat64).transpose(0, 1);
  const auto truth = piddm::normal(1, Stream::tasks, 0, 200, {4, 4}, torch::kFloat64);
  const auto open = torch::ones_like(truth);
  const auto right = rank_tests(members, truth, open, 0), narrow = rank_tests(0.3 * members, truth, open, 0),
             shifted = rank_tests(members + 1, truth, open, 0);
  ASSERT_EQ(right.size(), 3U);
  for (const auto& test : right) EXPECT_GT(test.p_value, 0.01) << test.quantity;
  for (const auto& test : narrow) EXPECT_LT(test.p_value, 1e-6) << test.quantity;
  EXPECT_LT(shifted[0].p_value, 1e-6);
  EXPECT_GT(shifted[0].counts.front(), 50);  // truths below nearly all members
  EXPECT_TRUE(rank_tests(members.narrow(1, 0, 9), truth.narrow(0, 0, 9), open.narrow(0, 0, 9), 0).empty());
}

TEST(RankTests, HaveTheChiSquareOfTheirCounts) {
  const auto test = rank_test("x", {0, 0, 0, 0, 0, 0, 1, 1, 2, 3}, 3);  // ranks 0..3 in two bins, 5 expected in each
  EXPECT_EQ(test.counts, (std::vector<int64_t>{8, 2}));
  EXPECT_DOUBLE_EQ(test.chi2, 3.6);
  EXPECT_NEAR(test.p_value, std::erfc(std::sqrt(1.8)), 1e-12);
}

/// Poisson 16x16: 25 noisy values of u.
Observation sensors(const Pde& pde, int64_t cases, double sigma) {
  auto known = observe(Task::inverse, pde.sample(0, 0, cases), pde, 3, ObserveOptions{.points = 25});
  known.sigma = sigma * known.mask;
  return known;
}

TEST(ExactPosterior, HasTheMeanAndSpreadOfTheMethodClassical) {
  auto model = testing::toy_teacher([](const Tensor& x, const Tensor&) { return x; }, 0.03, 0, 1);
  const auto& poisson = dynamic_cast<const Poisson&>(*model.pde);
  const auto known = sensors(poisson, 2, 0.003);
  const auto exact = ExactPosterior(poisson, {0.03, 1}).of(known);
  const auto mean = ClassicalMethod(model, {}).solve(known, 0).x;
  EXPECT_LT(testing::relative_error(exact.mean, mean), 1e-5);
  constexpr int64_t kDraws = 400;
  const auto draws = ClassicalMethod(model, {.estimate = Estimate::draw}).solve(repeated(known, kDraws), 1).x;
  const auto spread = draws.unflatten(0, {2, kDraws}).std(1);
  EXPECT_LT(testing::relative_error(spread.select(1, 0), exact.deviation.select(1, 0)), 0.08);
  EXPECT_LT(testing::relative_error(spread.select(1, 1), exact.deviation.select(1, 1)), 0.08);
}

TEST(ExactPosterior, IsWhereItsOwnDrawsAreCalibrated) {
  const auto model = testing::toy_teacher([](const Tensor& x, const Tensor&) { return x; }, 0.03, 0, 1);
  ClassicalMethod draws(model, {.estimate = Estimate::draw});
  const auto result =
      calibrate(draws, model, model.pde->sample(0, 50, 40), {.reveal = {.points = 20}, .noise = 0.05, .members = 39});
  ASSERT_EQ(result.exact.size(), 2U);
  EXPECT_EQ(result.no_exact, "");
  EXPECT_LT(result.warned, 0.05);
  for (size_t c = 0; c < 2; ++c) {
    const auto& ours = result.channels[c];
    ASSERT_TRUE(ours.gap);
    EXPECT_NEAR(ours.gap->spread, 1, 0.06);
    EXPECT_NEAR(ours.gap->wasserstein / ours.gap->floor, 1, 0.2);
    EXPECT_NEAR(ours.crps / result.exact[c].crps, 1, 0.05);
    EXPECT_NEAR(ours.at(ours.covered, 0.9), 0.9, 0.05);
    EXPECT_NEAR(ours.at(ours.covered, 0.5), 0.5, 0.1);
    EXPECT_NEAR(ours.factor, 1, 0.25);
    for (const auto& test : ours.ranks) EXPECT_GT(test.p_value, 1e-3) << test.quantity;
  }
}

TEST(Calibration, TellsTheFactorThatItsCasesCallForAndJudgesTheWidenedIntervals) {
  const auto c = of_solution(0.5, {.members = 39});
  const double covered = 1 - (0.1 * (kCases + 1) - 1) / kCases;  // 90 %, and what 40 cases leave open
  EXPECT_NEAR(c.factor, 2 * 1.765 / 1.645, 0.1);
  const auto widened = of_solution(0.5, {.members = 39, .seed = 5, .factors = {{"a", c.factor}}});
  EXPECT_LT(widened.at(widened.covered, 0.9), 0.65);
  EXPECT_NEAR(widened.at(widened.covered_widened, 0.9), covered, 0.01);
  EXPECT_TRUE(c.covered_widened.empty());
  EXPECT_TRUE(std::isnan(c.at(c.covered_widened, 0.9)));
}

TEST(LawShift, DoublesWavesAndContrastAndSolvesAgain) {
  const auto pde = make_pde({"poisson", 32});
  const auto truth = pde->sample(0, 0, 8);
  const auto slope = [](const Tensor& a) { return a.diff(1, 1).square().mean().item<double>(); };
  const auto rough = shifted(truth, LawShift::roughness, *pde), strong = shifted(truth, LawShift::contrast, *pde);
  EXPECT_GT(slope(rough.select(1, 1)), 2 * slope(truth.select(1, 1)));
  EXPECT_NEAR(strong.select(1, 1).std().item<double>() / truth.select(1, 1).std().item<double>(), 2, 1e-9);
  for (const auto& x : {rough, strong}) EXPECT_LT(testing::relative_error(x, pde->decode(x).x), 1e-9);
  const auto darcy = make_pde({"darcy", 16});
  const auto cells = shifted(darcy->sample(0, 0, 2), LawShift::contrast, *darcy).select(1, 1);
  EXPECT_NEAR((cells.max() / cells.min()).item<double>(), 8, 1e-9);  // 3 and 12 before
}

/// A folder that looks like a model's to those who ask for its weights alone.
void write_weights(const testing::TempDir& folder, const std::string& text) {
  testing::write_text(folder / "config.json", "{}");
  testing::write_text(folder / "model.safetensors", text);
}

TEST(SpreadFactors, AreKeptBesideTheModelByMethodAndTask) {
  const testing::TempDir folder;
  write_weights(folder, "weights");
  EXPECT_FALSE(stored_spread(folder.path(), "amortised", "inverse"));
  store_spread(folder.path(), {.method = "amortised", .task = "inverse", .channels = {{"a", 1.5}, {"u", 2}}});
  store_spread(folder.path(), {.method = "amortised", .task = "forward", .channels = {{"u", 3}}});
  store_spread(folder.path(), {.method = "amortised", .task = "inverse", .channels = {{"a", 1.25}}});
  const auto found = stored_spread(folder.path(), "amortised", "inverse");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->channels, (decltype(found->channels){{"a", 1.25}}));
  EXPECT_EQ(stored_spread(folder.path(), "amortised", "forward")->channels.at(0).second, 3);
  EXPECT_FALSE(stored_spread(folder.path(), "piddm", "inverse"));
}

TEST(SpreadFactors, OfOtherWeightsOrDamagedAreRefused) {
  const testing::TempDir folder;
  write_weights(folder, "weights");
  store_spread(folder.path(), {.method = "amortised", .task = "inverse", .channels = {{"a", 1.5}}});
  write_weights(folder, "others");
  EXPECT_ERROR(stored_spread(folder.path(), "amortised", "inverse"), ExitCode::data, "belongs to other weights");
  write_weights(folder, "weights");
  auto text = testing::read_text(folder / "spread.json");
  text.replace(text.find("1.5"), 3, "1.4");
  testing::write_text(folder / "spread.json", text);
  EXPECT_ERROR(stored_spread(folder.path(), "amortised", "inverse"), ExitCode::data, "calibrate MODEL --store");
}

TEST(SpreadFactors, WidenTheQuantilesOfTheirChannelsAboutTheMedian) {
  const auto pde = make_pde({"poisson", 16});
  const auto members = piddm::normal(1, Stream::noise, 0, 2 * 19, {2, 16, 16}, torch::kFloat64);
  const auto before = summarize(members, 19, *pde);
  auto after = summarize(members, 19, *pde);
  widen(after, members, 19, {.method = "m", .task = "inverse", .channels = {{"a", 2}}}, *pde);
  const auto a = [](const Tensor& x) { return x.select(1, 1); };
  const auto sorted = std::get<0>(a(members).unflatten(0, {2, 19}).sort(1));
  const auto median = sorted.select(1, 9);
  EXPECT_LT(testing::relative_error(a(after.quantiles[0]), median + 2 * (sorted.select(1, 0) - median)), 1e-12);
  EXPECT_LT(testing::relative_error(a(after.quantiles[4]), median + 2 * (sorted.select(1, 18) - median)), 1e-12);
  EXPECT_TRUE(a(after.quantiles[2]).allclose(median));
  EXPECT_TRUE(after.quantiles[0].select(1, 0).equal(before.quantiles[0].select(1, 0)));
  EXPECT_TRUE(after.deviation.equal(before.deviation));
  EXPECT_ERROR(widen(after, members, 2, {.method = "m", .task = "inverse"}, *pde), ExitCode::usage, "19 members");
}

}  // namespace
}  // namespace piddm
