#include "piddm/solve/methods/dflow.h"

#include "piddm/solve/methods/equation_rows.h"
#include "tests/solve/methods/toys.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

constexpr uint64_t kDflowSeed = 11;

Model double_teacher(const std::string& process = "linear") {
  auto model = testing::tiny_teacher();
  model.process = process_registry().at(process)();
  model.network->to(torch::kFloat64);
  return model;
}

Target double_target(const Model& model) {
  return make_target(observe(Task::reconstruct, testing::tiny_data(2), *model.pde, kDflowSeed), model, "test",
                     torch::kFloat64);
}

Tensor start() { return normal(kDflowSeed, Stream::tasks, 0, 2, {2, 16, 16}, torch::kFloat64); }

TEST(Dflow, HasAWeightOfItsOwnWhateverTheStudentsIs) {
  auto model = testing::tiny_teacher();
  model.training.lambda = 40;
  const double usual = DflowMethod(model, {}).lambda();
  model.training.lambda = 0.02;
  EXPECT_EQ(DflowMethod(model, {}).lambda(), usual);
  EXPECT_NEAR(usual * EquationRows(model.pde, model.normalizer).curvature(), 2.5, 1e-12);
  EXPECT_EQ(DflowMethod(model, {.lambda = 0}).lambda(), 0);
}

TEST(Dflow, GradientMatchesFiniteDifferences) {
  for (const char* process : {"linear", "vp"}) {
    const auto model = double_teacher(process);
    DflowMethod method(model, {.steps = 4, .lambda = 0.5});
    const auto target = double_target(model);
    const auto e = start(), gradient = method.evaluate(e, target).gradient;
    for (uint64_t probe = 0; probe < 6; ++probe) {
      const auto d = normal(probe, Stream::noise, 0, 2, {2, 16, 16}, torch::kFloat64);
      constexpr double kStep = 1e-5;
      const auto slope =
          (method.evaluate(e + kStep * d, target).value - method.evaluate(e - kStep * d, target).value) / (2 * kStep);
      EXPECT_LT(testing::relative_error((gradient * d).sum({1, 2, 3}), slope), 1e-6) << process;
    }
  }
}

TEST(Dflow, CheckpointsDoNotChangeTheGradient) {
  const auto model = double_teacher();
  const auto target = double_target(model);
  const auto whole = DflowMethod(model, {.steps = 7, .segment = 0}).evaluate(start(), target);
  for (const int64_t segment : {1, 2, 3, 7, 9}) {
    const auto parts = DflowMethod(model, {.steps = 7, .segment = segment}).evaluate(start(), target);
    EXPECT_LT(testing::relative_error(parts.gradient, whole.gradient), 1e-13) << segment;
    EXPECT_LT(testing::relative_error(parts.value, whole.value), 1e-14) << segment;
  }
}

TEST(Dflow, CountsThePapersEvaluationsAndSaysWhatItRepeated) {
  for (const auto& [iterations, nfe] : {std::pair{50, 5000}, {20, 2000}}) {
    DflowOptions options;
    options.task = {LatentOptimizer::adam, iterations, 0.01};
    const auto samples = DflowMethod(testing::idle_teacher(), options).generate(0, 1, kDflowSeed);
    EXPECT_EQ(samples.nfe, nfe);
    EXPECT_EQ(samples.backward, nfe);
    EXPECT_EQ(samples.recomputed, nfe * 99 / 100);  // the last step of a trajectory keeps its graph
    options.segment = 0;
    EXPECT_EQ(DflowMethod(testing::idle_teacher(), options).generate(0, 1, kDflowSeed).recomputed, 0);
  }
}

TEST(Dflow, LowersItsObjectiveAndReturnsWhatWasObserved) {
  const auto model = testing::tiny_teacher();
  const auto truth = testing::tiny_data(3).to(torch::kFloat32);
  const auto observation = observe(Task::reconstruct, truth, *model.pde, kDflowSeed);
  const auto misfit = [&](const Tensor& x) {
    return (observation.mask * (model.normalizer.to_network(x) - model.normalizer.to_network(truth)).square())
        .sum({1, 2, 3});
  };
  DflowOptions options{.steps = 5, .lambda = 0, .hard = false};
  options.task.iterations = 1;
  const auto first = DflowMethod(model, options).solve(observation, kDflowSeed);
  options.task.iterations = 12;
  const auto last = DflowMethod(model, options).solve(observation, kDflowSeed);
  EXPECT_TRUE((misfit(last.x) < 0.9 * misfit(first.x)).all().item<bool>());
  EXPECT_LE(last.nfe, 12 * 5);
  EXPECT_EQ(first.nfe, 5);
  options.batch = 2;
  EXPECT_LT(testing::relative_error(DflowMethod(model, options).solve(observation, kDflowSeed).x, last.x), 1e-3);
  options.hard = true;
  const auto hard = DflowMethod(model, options).solve(observation, kDflowSeed).x;
  EXPECT_LT(testing::relative_error(observation.mask * hard, observation.mask * truth), 1e-6);
}

TEST(Dflow, RefusesStudentsAndSenselessOptions) {
  EXPECT_ERROR(DflowMethod(testing::tiny_student(), {}), ExitCode::usage, "[dflow] this model is a student");
  EXPECT_ERROR(DflowMethod(testing::idle_teacher(), {.steps = 0}), ExitCode::usage, "steps");
  EXPECT_ERROR(DflowMethod(testing::idle_teacher(), {.segment = -1}), ExitCode::usage, "segment");
  DflowOptions options;
  options.task.iterations = 0;
  EXPECT_ERROR(DflowMethod(testing::idle_teacher(), options), ExitCode::usage, "task.iterations");
}

}  // namespace
}  // namespace piddm
