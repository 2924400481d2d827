#include "piddm/recipe/tune.h"

#include <cmath>

#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

using ::testing::HasSubstr;

TuneOptions small_search(const std::string& method, int64_t budget) {
  return {.method = method, .budget = budget, .samples = 8, .held_out = 16, .keep = 100, .settings = {{"steps", 50}}};
}

TEST(DrawnOptions, AreAPointOfTheAxesAndAFunctionOfSeedAndNumber) {
  const SearchFamily family{.name = "f",
                            .fixed = {{"heun", true}},
                            .axes = {{.key = "eta", .low = 0.01, .high = 100},
                                     {.key = "task.iterations", .low = 1, .high = 1000, .whole = true},
                                     {.key = "spacing", .choices = {"uniform", "quadratic"}}}};
  EXPECT_EQ(drawn_options(family, 1, 0), family.fixed);
  EXPECT_EQ(drawn_options(family, 1, 5), drawn_options(family, 1, 5));
  EXPECT_NE(drawn_options(family, 1, 5), drawn_options(family, 2, 5));
  double logs = 0;
  int quadratic = 0;
  constexpr int kDraws = 200;
  for (int i = 1; i <= kDraws; ++i) {
    const auto options = drawn_options(family, 7, i);
    EXPECT_EQ(options.at("heun"), true);
    const double eta = options.at("eta");
    EXPECT_TRUE(eta >= 0.01 && eta <= 100);
    logs += std::log10(eta) / kDraws;
    const auto iterations = options.at("task").at("iterations");
    EXPECT_TRUE(iterations.is_number_integer() && iterations >= 1 && iterations <= 1000);
    quadratic += options.at("spacing") == "quadratic";
  }
  EXPECT_NEAR(logs, 0, 0.3);  // log-uniform: deviation of the mean 0.08
  EXPECT_NEAR(quadratic, kDraws / 2, 30);
}

TEST(Tune, ChoosesTheLeastScoreOfTheTriesThatKeepTheLaw) {
  const auto model = testing::tiny_teacher();
  const auto report = tune({{"one", model}}, small_search("cocogen", 6));
  ASSERT_EQ(report.tries.size(), 6u);
  ASSERT_LT(report.chosen, report.tries.size());
  const auto& chosen = report.tries[report.chosen];
  EXPECT_TRUE(chosen.admissible);
  for (const auto& tried : report.tries) EXPECT_TRUE(!tried.admissible || chosen.score <= tried.score);
  EXPECT_EQ(report.tries[0].options, (json{{"steps", 50}}));  // the method as it is by default
  EXPECT_LE(chosen.score, report.tries[0].score);
  EXPECT_EQ(report.evaluations, 6 * 8 * 50);  // tries, samples, steps
  auto strict = small_search("cocogen", 4);
  strict.keep = 1;
  const auto kept = tune({{"one", model}}, strict);
  for (const auto& tried : kept.tries) {
    bool within = true;
    for (const char* law : {"mmse", "smse"})
      within = within && tried.result.scores.at(law) <= std::max(kept.plain.at(law), kept.floor.at(law));
    EXPECT_EQ(tried.admissible, within && tried.result.diverged.empty());
  }
}

TEST(Tune, ASettingThatTheMethodRefusesIsATryThatFailed) {
  auto options = small_search("cocogen", 12);
  options.settings = {{"steps", 5}, {"last", 0}};
  const auto report = tune({{"one", testing::tiny_teacher()}}, options);
  int refused = 0;
  for (const auto& tried : report.tries) refused += !tried.result.failed.empty();
  EXPECT_GT(refused, 0);  // last = 50 of 5 steps
  EXPECT_LT(report.chosen, report.tries.size());
}

TEST(Tune, FamiliesTakeTurnsAndTasksAreScoredByTheirError) {
  const auto model = testing::tiny_teacher();
  auto options = small_search("diffusionpde", 4);
  options.task = Task::reconstruct;
  const auto report = tune({{"one", model}}, options);
  EXPECT_EQ(report.tries[0].family, "mean square");
  EXPECT_EQ(report.tries[1].family, "norm");
  EXPECT_EQ(report.tries[2].family, "preconditioned");
  EXPECT_EQ(report.tries[3].family, "mean square");
  EXPECT_EQ(report.tries[2].options.at("precondition"), true);
  const auto& scores = report.tries[0].result.scores;
  EXPECT_DOUBLE_EQ(report.tries[0].score, (scores.at("mse_u") + scores.at("mse_a")) / 2);
}

TEST(Tune, ItsFileHasEveryTryAndHowItWasMade) {
  const auto report = to_json(tune({{"one", testing::tiny_teacher()}}, small_search("eci", 2)));
  EXPECT_EQ(report.at("tries").size(), 2u);
  EXPECT_EQ(report.at("validation").at("first"), 2'000'000);  // tables have 1,000,000 and up
  EXPECT_EQ(report.at("validation").at("first_sample"), 1'000'000);
  EXPECT_EQ(report.at("options").at("seed"), 0);
  EXPECT_TRUE(report.at("machine").contains("piddm"));
  EXPECT_TRUE(report.at("plain").contains("smse"));
  for (const auto& tried : report.at("tries")) EXPECT_EQ(tried.at("result").at("precision"), "fp32");
}

Model with_residual(uint64_t seed) {
  auto model = testing::tiny_teacher(seed);
  model.training.residual_lambda = 0.1;
  return model;
}

TEST(Tune, SeveralModelsTakeTurnsAndTheBestOfThemIsNamed) {
  auto options = small_search("pidm", 4);
  options.settings["steps"] = 4;
  const auto report = tune({{"a", with_residual(1)}, {"b", with_residual(2)}}, options, testing::tiny_teacher());
  ASSERT_EQ(report.tries.size(), 4u);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(report.tries[i].model, i % 2 == 0 ? "a" : "b");
  EXPECT_NE(report.tries[0].score, report.tries[1].score);
  ASSERT_LT(report.chosen, 4u);
  EXPECT_EQ(to_json(report).at("chosen_model"), report.tries[report.chosen].model);
  Model other = with_residual(3);
  other.pde = make_pde({"darcy", 32});
  EXPECT_ERROR(tune({{"a", with_residual(1)}, {"wide", other}}, options), ExitCode::usage, "wide is of another PDE");
  EXPECT_ERROR(tune({{"plain", testing::tiny_teacher()}}, options), ExitCode::usage, "trained without a residual");
}

TEST(Tune, WhatCannotBeTunedIsRefused) {
  const auto model = testing::tiny_teacher();
  EXPECT_ERROR(tune({{"one", model}}, small_search("teacher", 2)), ExitCode::usage, "has nothing to tune in generate");
  EXPECT_ERROR(tune({{"one", testing::tiny_student()}}, small_search("eci", 2)), ExitCode::usage,
               "this model is a student");
  auto options = small_search("eci", 2);
  options.metric = "nfe";
  EXPECT_ERROR(tune({{"one", model}}, options), ExitCode::usage, "metric: 'nfe'");
}

}  // namespace
}  // namespace piddm
