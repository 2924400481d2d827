#include "piddm/experiment/chosen_experiment.h"

#include "piddm/core/config.h"
#include "piddm/core/toml_text.h"
#include "piddm/experiment/data_misfit.h"
#include "tests/experiment/pointwise_pde.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using testing::PointwisePde;
using testing::TempDir;

void add_pointwise() {
  static const bool once = [] {
    pde_registry().add({PointwisePde::kName, "u = a", make_registered_pde<PointwisePde>});
    return true;
  }();
  static_cast<void>(once);
}

PdeOptions pointwise(json parameters = json::object(), GridSize grid = {16, 32}) {
  add_pointwise();
  return {.name = PointwisePde::kName, .grid = grid, .parameters = std::move(parameters)};
}

Experiment chosen(const json& parameters, GridSize grid = {16, 32}, ChoiceOptions choice = {}) {
  return choose_experiment(pointwise(parameters, grid), nullptr, choice).experiment;
}

PdeScales scales_of(const json& parameters, GridSize grid = {16, 32}) {
  const auto pde = make_pde(pointwise(parameters, grid));
  return measure_scales(*pde, pde->sample(0, 0, 16));
}

// 4 c^2 and (c offset)^2, up to the noise of the noise.
TEST(PdeScales, GainAndFloorAreThoseOfThePaper) {
  const auto scales = scales_of({{"c", 5.0}, {"offset", 0.01}});
  EXPECT_NEAR(scales.gain, 100, 5);
  EXPECT_NEAR(scales.floor, 0.0025, 1e-12);
  EXPECT_FALSE(scales.boundary);
  EXPECT_TRUE(scales_of({{"edge", 1.0}}).boundary);
  EXPECT_NEAR(scales_of({{"c", 50.0}}).gain / scales.gain, 100, 1e-6);
}

// The Hann window spreads wave k over k - 1 to k + 1.
TEST(PdeScales, WavesAreThoseOfTheFieldsAlongEachAxis) {
  const GridSize grid = {64, 32};
  const auto waves = [&](double x, double y) { return scales_of({{"waves_x", x}, {"waves_y", y}}, grid).waves; };
  EXPECT_EQ(waves(3, 0), (std::array<int64_t, 2>{4, 0}));
  EXPECT_EQ(waves(0, 5), (std::array<int64_t, 2>{0, 6}));
  EXPECT_EQ(waves(20, 7), (std::array<int64_t, 2>{21, 8}));
}

TEST(PdeScales, ASampleThatIsNotFiniteIsRefused) {
  const auto pde = make_pde(pointwise());
  auto x = pde->sample(0, 0, 4);
  x[1][0][3][3] = std::nan("");
  EXPECT_ERROR(measure_scales(*pde, x), ExitCode::numerics, "no weight can be chosen");
}

TEST(ChosenExperiment, WeightsFollowFromTheGainInRoundNumbers) {
  struct Case {
    double c, lambda, solve, step;
  };
  for (const auto& [c, lambda, solve, step] :
       {Case{5, 10, 1, 0.5}, {50, 0.1, 0.01, 0.005}, {0.5, 1000, 100, 50}, {3.5, 20, 2, 1}}) {
    const auto experiment = chosen({{"c", c}});
    EXPECT_EQ(experiment.distill.loss.lambda, lambda) << c;
    EXPECT_EQ(experiment.solve.lambda, solve) << c;
    EXPECT_EQ(experiment.solve.refine.step, step) << c;  // 512 points / (10 gain)
  }
}

TEST(ChosenExperiment, TheResidualOfTheSamplesThemselvesLimitsItsWeight) {
  const auto at_floor = choose_experiment(pointwise({{"c", 5.0}, {"offset", 0.04}}));  // 0.04: 2e-3 / 0.04
  EXPECT_EQ(at_floor.experiment.distill.loss.lambda, 0.05);
  EXPECT_THAT(at_floor.lines(),
              ::testing::Contains(::testing::HasSubstr("the samples themselves have pde_error 0.04")));
}

TEST(ChosenExperiment, ModesHoldWhatTheFieldsHave) {
  const auto modes = [](double x, double y, GridSize grid) {
    return chosen({{"waves_x", x}, {"waves_y", y}}, grid).model.at("modes");
  };
  EXPECT_EQ(modes(3, 0, {16, 32}), json({8, 8}));     // never below 8
  EXPECT_EQ(modes(9, 10, {32, 32}), json({10, 12}));  // the wave and its neighbour, an even number
  EXPECT_EQ(modes(20, 20, {32, 48}), json({12, 12}));
  EXPECT_EQ(modes(20, 3, {64, 32}), json({16, 8}));
  EXPECT_EQ(modes(20, 20, {16, 64}), json({8, 16}));  // half the points
  EXPECT_EQ(modes(8, 8, {18, 22}), json({8, 10}));
}

TEST(ChosenExperiment, HeadsFollowFromTheChannels) {
  const auto field = chosen(json::object());
  EXPECT_TRUE(field.distill.heads.band_limited);
  EXPECT_TRUE(field.distill.heads.constrained);
  EXPECT_FALSE(field.distill.heads.constant || field.distill.heads.smooth || field.distill.heads.bounded);
  EXPECT_EQ(field.distill.heads.band_modes, 0);
  EXPECT_EQ(field.distill.loss.boundary, 0);

  const auto number = chosen({{"scalar", 1.0}, {"edge", 1.0}, {"waves_x", 4.0}});
  EXPECT_TRUE(number.distill.heads.constant);
  EXPECT_EQ(number.distill.heads.band_modes, 5);
  EXPECT_EQ(number.distill.loss.spread, 3);
  EXPECT_EQ(number.distill.loss.boundary, 1);
  EXPECT_EQ(number.solve.boundary, 1);

  const auto walls = chosen({{"ring", 1.0}, {"solver", 1.0}});
  EXPECT_TRUE(walls.distill.heads.smooth);
  EXPECT_EQ(walls.solve.lambda, 1);
  EXPECT_EQ(walls.solve.refine.step, 5);  // ten times that behind the smooth head

  const auto two = chosen({{"two_valued", 1.0}, {"solver", 1.0}});
  EXPECT_TRUE(two.distill.heads.bounded && two.distill.heads.sharp);
  EXPECT_EQ(two.distill.heads.corrector, 0);  // this PDE has none
  EXPECT_EQ(two.distill.loss.adversary.weight, 0.1);
  EXPECT_EQ(two.distill.loss.error, 1);
  EXPECT_EQ(two.distill.train.steps, 3000);
}

TEST(ChosenExperiment, SizesAreThoseOfTheMachine) {
  const auto base = [](const std::string& name) { return parse_experiment(load_config("base/" + name)); };
  EXPECT_EQ(chosen(json::object()).train.steps, base("32").train.steps);
  EXPECT_EQ(chosen(json::object()).data.n, base("32").data.n);
  const auto large = chosen(json::object(), {16, 32}, {.gpu = true});
  EXPECT_EQ(large.train.steps, base("128").train.steps);
  EXPECT_EQ(large.model.at("width"), base("128").model.at("width"));
  EXPECT_EQ(large.pde.grid, GridSize(16, 32));
}

TEST(ChosenExperiment, APosteriorHasSettingsOfItsOwn) {
  const auto posterior = chosen({{"scalar", 1.0}}, {32, 32}, {.kind = ModelKind::posterior});
  EXPECT_EQ(posterior.kind, ModelKind::posterior);
  EXPECT_TRUE(posterior.posterior.heads.constant && posterior.posterior.heads.constrained);
  EXPECT_EQ(posterior.posterior.loss.lambda, 0);
  EXPECT_EQ(posterior.posterior.draw.smooth, 4);
  EXPECT_EQ(posterior.posterior.draw.modes, 16);
  EXPECT_EQ(posterior.train.steps, parse_experiment(load_config("base/posterior-32")).train.steps);
}

TEST(ChosenExperiment, SaysWhatWasChosenAndWhy) {
  const auto lines = choose_experiment(pointwise({{"scalar", 1.0}})).lines();
  for (const std::string line : {"train.steps = 3000: sizes of base/32 for 16x32 points on a CPU",
                                 "model.modes = [8,8]: 99.99 % of the power is up to wave 4 along x and 0 along y",
                                 "distill.heads.constant = true: a coefficient is one number"})
    EXPECT_THAT(lines, ::testing::Contains(line));
  EXPECT_THAT(lines, ::testing::Contains(::testing::StartsWith("distill.loss.lambda = 10.0: white noise of one")));
}

Dataset pointwise_data(const json& parameters, int64_t n = 8) {
  return make_dataset(*make_pde(pointwise(parameters)), 7, 0, n);
}

TEST(ChosenExperiment, WithoutALawTheDataDecide) {
  const json lawless = {{"lawless", 1.0}, {"waves_x", 3.0}};
  EXPECT_ERROR(choose_experiment(pointwise(lawless)), ExitCode::usage, "no law to draw coefficients from: add --data");
  auto data = pointwise_data({{"waves_x", 6.0}});
  EXPECT_ERROR(choose_experiment(pointwise(lawless), &data), ExitCode::data, "waves_x");
  data.description.parameters = json();
  const auto experiment = choose_experiment(pointwise(lawless, {16, 32}), &data).experiment;
  EXPECT_EQ(experiment.distill.loss.lambda, 10);
  data.fields.select(1, 0) += 0.04;  // float32 of a file, and the residual they have
  EXPECT_EQ(choose_experiment(pointwise(lawless), &data).experiment.distill.loss.lambda, 0.05);
}

TEST(DataMisfit, ComparesDataWithSolutionsForTheirCoefficients) {
  const auto pde = make_pde({.name = "poisson", .grid = 16});
  auto data = make_dataset(*pde, 3, 0, 4);
  EXPECT_EQ(data_misfit(data, *pde), "");
  data.fields.select(1, 0) *= 1.2;
  const auto words = data_misfit(data, *pde);
  EXPECT_THAT(words, ::testing::MatchesRegex("pde_error [0-9.e-]+, where solutions of poisson for the same "
                                             "coefficients have [0-9.e-]+"));
  data.fields.select(1, 0) *= -1;
  EXPECT_GT(std::stod(data_misfit(data, *pde).substr(10)), std::stod(words.substr(10)));
}

}  // namespace
}  // namespace piddm
