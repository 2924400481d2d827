#include "piddm/recipe/cost.h"

#include "tests/recipe/tiny_tables.h"
#include "tests/testing.h"

namespace piddm {
namespace {

const torch::Device kCpu = torch::kCPU;

Experiment tiny(const json& overlay = json::object()) {
  return table_experiment(testing::tiny_table_options(), "darcy", overlay);
}

double sampling(const std::string& method, const json& options, Task task, int64_t n) {
  return expected_sampling_seconds(tiny(), method, options, task, n, kCpu);
}

double distillation(const json& distill) { return expected_distillation_seconds(tiny({{"distill", distill}}), kCpu); }

TEST(NetworkRates, AreMeasuredOnceForEachNetwork) {
  const auto first = measure_rates(tiny(), Precision::fp32, kCpu), again = measure_rates(tiny(), Precision::fp32, kCpu);
  EXPECT_GT(first.forward, 0);
  EXPECT_GT(first.gradient, 0);
  EXPECT_EQ(first.forward, again.forward);
  EXPECT_EQ(first.gradient, again.gradient);
  const auto wider = measure_rates(tiny({{"model", {{"width", 12}}}}), Precision::fp32, kCpu);
  EXPECT_NE(wider.forward, first.forward);
}

TEST(ExpectedSeconds, OfSamplingCountEvaluations) {
  const auto [forward, gradient] = measure_rates(tiny(), Precision::fp32, kCpu);
  EXPECT_DOUBLE_EQ(sampling("teacher", {{"steps", 25}}, Task::generate, 4), 4 * 25 * forward);
  EXPECT_DOUBLE_EQ(sampling("teacher", json::object(), Task::forward, 4), 4 * 100 * gradient);
  EXPECT_DOUBLE_EQ(sampling("eci", {{"steps", 10}, {"mixing", 3}}, Task::forward, 2), 2 * 30 * forward);
  EXPECT_DOUBLE_EQ(sampling("diffusionpde", {{"steps", 80}}, Task::inverse, 3), 3 * 80 * gradient);
  EXPECT_DOUBLE_EQ(sampling("piddm", json::object(), Task::generate, 7), 7 * forward);
  EXPECT_DOUBLE_EQ(sampling("piddm", {{"refine", {{"iterations", 80}}}}, Task::generate, 1), forward + 80 * gradient);
  EXPECT_DOUBLE_EQ(sampling("piddm", {{"task", {{"iterations", 20}}}}, Task::forward, 1), forward + 20 * gradient);
  EXPECT_GT(sampling("dflow", {{"steps", 5}, {"task", {{"iterations", 10}}}}, Task::forward, 1), 50 * gradient);
  EXPECT_EQ(sampling("direct", json::object(), Task::forward, 100), 0);
}

TEST(ExpectedSeconds, OfTrainingGrowWithStepsTimesBatch) {
  const auto seconds = [](int64_t steps) {
    return expected_training_seconds(tiny({{"train", {{"steps", steps}}}}), false, kCpu);
  };
  EXPECT_DOUBLE_EQ(seconds(1000), 1000 * 4 * measure_rates(tiny(), Precision::bf16, kCpu).gradient);
  EXPECT_DOUBLE_EQ(seconds(3000), 3 * seconds(1000));
  EXPECT_DOUBLE_EQ(expected_training_seconds(tiny(), true, kCpu),
                   5 * 4 * measure_rates(tiny(), Precision::fp32, kCpu).gradient);  // the residual needs it
}

TEST(ExpectedSeconds, OfDistillationKnowWhatEachObjectiveAdds) {
  const double regression = distillation({{"objective", "regression"}});
  EXPECT_GT(regression, 0);
  for (const char* objective : {"dmd", "consistency", "reflow"})
    EXPECT_GT(distillation({{"objective", objective}}), regression) << objective;
  EXPECT_GT(distillation({{"objective", "reflow2"}}), distillation({{"objective", "reflow"}}));
  EXPECT_GT(distillation({{"pairs", {{"steps", 200}}}}), regression);        // the trajectories of its pairs
  const json without = {{"objective", "dmd2"}, {"dmd2", {{"warm_up", 0}}}};  // and so without pairs
  const json longer = {{"objective", "dmd2"}, {"dmd2", {{"warm_up", 0}}}, {"pairs", {{"steps", 200}}}};
  EXPECT_EQ(distillation(longer), distillation(without));
  const json with = {{"objective", "dmd2"}, {"dmd2", {{"warm_up", 1}}}, {"pairs", {{"steps", 200}}}};
  EXPECT_GT(distillation(with), distillation(without));
}

TEST(ExpectedSeconds, OfDataGrowWithTheirNumber) {
  EXPECT_GT(expected_data_seconds(tiny(), 1'000'000), expected_data_seconds(tiny(), 10));
}

TEST(ExpectedBytes, AreThoseOfTheLargestBatch) {
  const auto bytes = [](int64_t teacher, int64_t student) {
    return expected_bytes(tiny({{"train", {{"batch", teacher}}}, {"distill", {{"train", {{"batch", student}}}}}}));
  };
  EXPECT_GT(bytes(1, 1), 2 * 16 * 16 * 4);
  EXPECT_EQ(bytes(32, 8), 32 * bytes(1, 1));
  EXPECT_EQ(bytes(8, 32), bytes(32, 8));
}

}  // namespace
}  // namespace piddm
