#include "piddm/eval/metric_registry.h"

#include <set>

#include "piddm/eval/evaluate.h"
#include "piddm/eval/summary.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

using Names = std::vector<std::string>;

const MetricParts kParts = {.channels = {"u", "a"}};
const MetricParts kTinyParts = metric_parts(*testing::tiny_pde());

Judge judge() {
  const auto data = testing::tiny_data(32, 1000);
  const auto pde = testing::tiny_pde();
  Judge out(pde, Normalizer::fit(data, pde->channels()), data, data.mean(0));
  out.add(teacher_metric(testing::tiny_teacher(), *pde));
  out.add(ClassifierRecipe{.width = 4, .steps = 2, .batch = 4});
  return out;
}

/// Keys of values that no metric of the registry has, or that it places elsewhere.
Names unregistered(const Scores& scores, unsigned judged) {
  Names out;
  for (const auto& [key, value] : scores.values) {
    const auto* card = find_metric(key);
    const auto columns = card ? metric_columns({card->name}, kTinyParts) : Names();
    if (!card || !(card->judged & judged) || std::find(columns.begin(), columns.end(), key) == columns.end())
      out.push_back(key);
  }
  return out;
}

TEST(MetricRegistry, KnowsEverythingTheJudgeMeasures) {
  const auto samples = Samples{testing::tiny_data(8, 5000), 3, 2, 0.5, 1};
  EXPECT_EQ(unregistered(judge().samples(samples, {5, 1}), kSamplesJudged), Names());
  EXPECT_EQ(unregistered(judge().floor(8, 1), kSamplesJudged), Names());
  EXPECT_EQ(unregistered(physics_summary(samples, *testing::tiny_pde()), kSamplesJudged), Names());
  const auto truth = testing::tiny_data(8, 1000);
  const auto observation = observe(Task::inverse, truth, *testing::tiny_pde(), 3);
  EXPECT_EQ(unregistered(judge().task(samples, truth, observation), kTasksJudged), Names());
  EXPECT_EQ(unregistered(judge().ensemble({samples, samples}, truth, observation), kEnsemblesJudged), Names());
}

TEST(MetricRegistry, APlantedMetricIsFound) {
  auto planted = judge();
  planted.add({"planted", [](const Tensor& x) { return x.mean({2, 3}).cpu(); }});
  const auto scores = planted.samples({testing::tiny_data(8, 5000), 3, 2, 0.5});
  EXPECT_EQ(unregistered(scores, kSamplesJudged), Names({"planted"}));
  EXPECT_FALSE(unregistered(scores, kTasksJudged).empty());  // mmse and others are no metrics of tasks
}

TEST(MetricRegistry, ChannelsBelongToTheLongestName) {
  EXPECT_EQ(find_metric("mse_u")->name, "mse");
  EXPECT_EQ(find_metric("mean_mse_a")->name, "mean_mse");
  EXPECT_EQ(find_metric("mean_field_mse_a")->name, "mean_field_mse");
  EXPECT_EQ(find_metric("mse_variance")->name, "mse_variance");
  EXPECT_EQ(find_metric("coverage_nominal")->name, "coverage_nominal");
  EXPECT_EQ(find_metric("pde_error_ratio")->name, "pde_error_ratio");
  for (const char* key : {"mse", "swd_u", "mse_", "n", "nothing"}) EXPECT_EQ(find_metric(key), nullptr) << key;
}

TEST(MetricRegistry, CountsHaveNoBestValue) {
  for (const char* key : {"mmse_u", "mse_a", "fpd", "pde_error", "seconds_per_sample", "mse_variance"})
    EXPECT_TRUE(lower_is_better(key)) << key;
  for (const char* key : {"nfe", "backward", "training_seconds", "coverage_u", "spread_u", "nothing"})
    EXPECT_FALSE(lower_is_better(key)) << key;
}

TEST(MetricRegistry, ColumnsFollowTheChannelsOfThePde) {
  EXPECT_EQ(metric_columns({"swd", "mmse", "mse"}, kParts),
            Names({"swd", "mmse", "mmse_u", "mmse_a", "mse_u", "mse_a"}));
  EXPECT_ERROR(metric_columns({"mmsee"}, kParts), ExitCode::usage, "did you mean 'mmse'?");
  EXPECT_EQ(default_columns(kSamplesJudged, kParts),
            Names({"mmse", "smse", "swd", "apdd", "worst_band", "classifier", "fpd", "frechet_teacher", "pde_error",
                   "rel_residual", "solution_error", "nfe", "seconds_per_sample"}));
  EXPECT_EQ(default_columns(kTasksJudged, {.channels = {"u"}}),
            Names({"mse_u", "rel_l2_u", "pde_error", "rel_residual", "solution_error", "constraint_error", "nfe",
                   "seconds_per_sample"}));
}

TEST(MetricRegistry, PhasesAndBandsFollowTheChannelsOfThePde) {
  EXPECT_EQ(metric_columns({"power_ratio", "between"}, kTinyParts),
            Names({"power_ratio_u_1-2", "power_ratio_u_2-4", "power_ratio_u_4-8", "power_ratio_a_1-2",
                   "power_ratio_a_2-4", "power_ratio_a_4-8", "between"}));
  EXPECT_EQ(metric_columns({"islands"}, {.channels = {}, .two_valued = {"a", "b"}}),
            Names({"islands", "islands_a", "islands_b"}));
  const auto columns = default_columns(kSamplesJudged, kTinyParts);
  for (const char* key : {"between", "interface_ratio", "islands_ratio", "worst_band"})
    EXPECT_EQ(std::count(columns.begin(), columns.end(), key), 1) << key;
  const auto others = default_columns(kSamplesJudged, metric_parts(*make_pde({"poisson", 16})));
  EXPECT_EQ(std::count(others.begin(), others.end(), "between"), 0);
  EXPECT_EQ(find_metric("interface_ratio")->name, "interface_ratio");
  EXPECT_EQ(find_metric("power_ratio_a_4-8")->name, "power_ratio");
  EXPECT_EQ(find_metric("power_ratio"), nullptr);
}

TEST(MetricRegistry, SeveralEquationsAndSolutionsHaveColumnsOfTheirOwn) {
  const MetricParts parts{.channels = {"p", "q", "a"}, .solutions = {"p", "q"}, .equations = {"flux", "mass"}};
  EXPECT_EQ(metric_columns({"pde_error", "solution_error", "swd"}, parts),
            Names({"pde_error", "pde_error_flux", "pde_error_mass", "solution_error", "solution_error_p",
                   "solution_error_q", "swd"}));
  EXPECT_EQ(default_columns(kSamplesJudged, parts),
            Names({"mmse", "smse", "swd", "apdd", "worst_band", "classifier", "fpd", "frechet_teacher", "pde_error",
                   "pde_error_flux", "pde_error_mass", "rel_residual", "rel_residual_flux", "rel_residual_mass",
                   "solution_error", "solution_error_p", "solution_error_q", "nfe", "seconds_per_sample"}));
  EXPECT_EQ(find_metric("rel_residual_mass")->name, "rel_residual");
}

TEST(MetricRegistry, EveryCardIsComplete) {
  std::set<std::string> names;
  for (const auto& card : metric_cards()) {
    EXPECT_TRUE(names.insert(card.name).second) << card.name;
    EXPECT_FALSE(card.meaning.empty() || card.unit.empty() || card.judged == 0) << card.name;
    EXPECT_EQ(card.shown & ~card.judged, 0U) << card.name;
    EXPECT_LT(static_cast<size_t>(card.needs), enum_names(card.needs).size()) << card.name;
  }
  for (const char* key : {metric::kDecodeIterations, metric::kDecodeMoved, metric::kMseVariance, metric::kPeakMemory,
                          metric::kTrainingSeconds})
    EXPECT_EQ(names.count(key), 1U) << key;
}

}  // namespace
}  // namespace piddm
