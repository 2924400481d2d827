#include "piddm/solve/methods/pcfm.h"

#include "tests/solve/methods/small_model.h"
#include "tests/testing.h"

namespace piddm {
namespace {

constexpr uint64_t kSeed = 17;

PcfmOptions quick() {
  PcfmOptions options;
  options.steps = 6;
  return options;
}

Model small_model_of(const std::string& name) { return testing::small_model(make_pde({.name = name, .grid = 16})); }

/// RMS residual over that of the field with u halved.
double relative_residual(const Pde& pde, const Tensor& x, const Tensor& truth) {
  auto wrong = truth.clone();
  pde.solution(wrong).mul_(0.5);
  return (pde.pde_error(x).max() / pde.pde_error(wrong).min()).sqrt().item<double>();
}

TEST(Pcfm, EveryTaskMeetsEquationAndObservations) {
  for (const std::string name : {"poisson", "helmholtz", "darcy"}) {
    const auto model = small_model_of(name);
    const auto truth = model.pde->sample(7, 0, 2);
    EXPECT_LT(relative_residual(*model.pde, PcfmMethod(model, quick()).generate(0, 2, kSeed).x, truth), 1e-10) << name;
    for (const auto task : {Task::forward, Task::inverse, Task::reconstruct}) {
      const auto observation = observe(task, truth, *model.pde, kSeed);
      const auto x = PcfmMethod(model, quick()).solve(observation, kSeed).x;
      const auto miss = observation.mask * (model.normalizer.to_network(x) - model.normalizer.to_network(truth));
      EXPECT_LT(miss.abs().max().item<double>(), 1e-12) << name << task_name(task);
      EXPECT_LT(relative_residual(*model.pde, x, truth), 1e-8) << name << task_name(task);
    }
  }
}

TEST(Pcfm, ForwardIsTheSolution) {
  for (const std::string name : {"darcy", "stokes", "burgers"}) {
    const auto model = small_model_of(name);
    const auto truth = model.pde->sample(7, 0, 2);
    const auto x = PcfmMethod(model, quick()).solve(observe(Task::forward, truth, *model.pde, kSeed), kSeed).x;
    EXPECT_LT(testing::relative_error(model.pde->solution(x), model.pde->solution(truth)), 1e-9) << name;
  }
}

// u is known everywhere, so that the scalar is what the equation says.
TEST(Pcfm, FindsTheScalarOfAKnownSolution) {
  const auto model = small_model_of("stokes");
  const auto truth = model.pde->sample(7, 0, 3);
  const auto x = PcfmMethod(model, quick()).solve(observe(Task::inverse, truth, *model.pde, kSeed), kSeed).x;
  EXPECT_LT((x - truth).select(1, 1).abs().max().item<double>(),
            0.3);  // omega in (2,8); the stencil of 16 points is what limits
  EXPECT_EQ((x.select(1, 1) - x.select(1, 1).mean({1, 2}, true)).abs().max().item<double>() < 1e-12, true);
}

// A noisy value pulls the sample, but does not fix it.
TEST(Pcfm, NoisyValuesPull) {
  const auto model = small_model_of("poisson");
  auto observation = observe(Task::reconstruct, model.pde->sample(7, 0, 2), *model.pde, kSeed);
  const auto error = [&](double noise) {
    observation.sigma = torch::zeros_like(observation.values);
    for (int64_t c = 0; c < 2; ++c) observation.sigma.select(1, c).fill_(noise * model.normalizer.scale(c));
    const auto x = PcfmMethod(model, quick()).solve(observation, kSeed).x;
    EXPECT_LT(relative_residual(*model.pde, x, observation.values), 1e-8);
    const auto miss = model.normalizer.to_network(x) - model.normalizer.to_network(observation.values);
    return (observation.mask * miss.square()).mean().item<double>();
  };
  EXPECT_LT(error(0.1), error(1));
  EXPECT_LT(error(1), 0.9 * error(1e3));
}

TEST(Pcfm, CountsOneEvaluationAStepAndFollowsTheSeed) {
  const auto model = small_model_of("darcy");
  const auto samples = PcfmMethod(model, quick()).generate(3, 4, kSeed);
  EXPECT_EQ(samples.nfe, 6);
  EXPECT_EQ(samples.backward, 0);
  auto options = quick();
  options.batch = 1;
  EXPECT_LT(testing::relative_error(PcfmMethod(model, options).generate(4, 2, kSeed).x, samples.x.narrow(0, 1, 2)),
            1e-5);
  EXPECT_GT(testing::relative_error(PcfmMethod(model, quick()).generate(3, 4, kSeed + 1).x, samples.x), 1e-3);
}

TEST(Pcfm, RefusesStudentsAndNoSteps) {
  EXPECT_ERROR(PcfmMethod(testing::tiny_student(), {}), ExitCode::usage, "[pcfm] this model is a student");
  EXPECT_ERROR(PcfmMethod(testing::tiny_teacher(), {.steps = 0}), ExitCode::usage, "at least 1");
}

}  // namespace
}  // namespace piddm
