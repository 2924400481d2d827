#include "piddm/solve/methods/piddm.h"

#include "piddm/numerics/smooth_fill.h"
#include "tests/solve/methods/quick_piddm.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

using testing::kSeed;
using testing::largest;
using testing::quick;

Tensor pde_errors(const Tensor& x) { return testing::tiny_pde()->pde_error(x.to(torch::kFloat64)); }

TEST(Piddm, GeneratesTheStudentsOutput) {
  const auto model = testing::tiny_student();
  PiddmMethod method(model, {});
  const auto samples = method.generate(4, 3, kSeed);
  const torch::NoGradGuard no_grad;
  const auto x = model.normalizer.to_physical(Student(model)(normal(kSeed, Stream::latents, 4, 3, {2, 16, 16})));
  EXPECT_LT(testing::relative_error(samples.x, x), 1e-6);
  EXPECT_EQ(samples.x.scalar_type(), torch::kFloat32);
  EXPECT_FALSE(samples.x.requires_grad());
}

TEST(Piddm, BatchesDoNotChangeSamples) {
  for (const auto& refine :
       {LatentOptions{LatentOptimizer::gd, 0, 1}, {LatentOptimizer::gd, 3, 1}, {LatentOptimizer::adam, 3, 0.01}}) {
    PiddmOptions options;
    options.refine = refine;
    options.batch = 32;
    const auto whole = PiddmMethod(testing::tiny_student(), options).generate(0, 5, kSeed).x;
    for (const int64_t batch : {1, 2}) {
      options.batch = batch;
      const auto parts = PiddmMethod(testing::tiny_student(), options).generate(0, 5, kSeed).x;
      EXPECT_LT(largest(parts - whole), 1e-5 * largest(whole)) << batch;
    }
    const auto later = PiddmMethod(testing::tiny_student(), options).generate(2, 3, kSeed).x;
    EXPECT_LT(largest(later - whole.narrow(0, 2, 3)), 1e-5 * largest(whole));
  }
}

TEST(Piddm, CountsItsWork) {
  auto options = quick(6);
  options.batch = 2;
  const auto observation = observe(Task::forward, testing::tiny_data(3), *testing::tiny_pde(), kSeed);
  const auto one_step = PiddmMethod(testing::tiny_student(), options).generate(0, 3, kSeed);
  EXPECT_EQ(one_step.nfe, 1);
  EXPECT_EQ(one_step.backward, 0);
  for (const auto optimizer : {LatentOptimizer::gd, LatentOptimizer::adam, LatentOptimizer::lbfgs}) {
    options.refine = {optimizer, 4, 0.01};
    options.task.optimizer = optimizer;
    PiddmMethod method(testing::tiny_student(), options);
    const auto refined = method.generate(0, 3, kSeed), solved = method.solve(observation, kSeed);
    EXPECT_EQ(refined.nfe, 4);
    EXPECT_EQ(refined.backward, 4);
    EXPECT_EQ(solved.nfe, 6);
    EXPECT_EQ(solved.backward, 6);
    EXPECT_GT(solved.seconds_per_sample, 0);
  }
}

TEST(Piddm, RefinementLowersThePdeError) {
  const auto model = testing::tiny_student();
  const auto before = pde_errors(PiddmMethod(model, {}).generate(0, 4, kSeed).x);
  for (const auto& refine : {LatentOptions{LatentOptimizer::gd, 12, 0.5},
                             {LatentOptimizer::lbfgs, 12, 1},
                             {LatentOptimizer::adam, 12, 0.05}}) {
    PiddmOptions options;
    options.refine = refine;
    const auto after = pde_errors(PiddmMethod(model, options).generate(0, 4, kSeed).x);
    EXPECT_TRUE((after <= before * (1 + 1e-5)).all().item<bool>());
    EXPECT_LT(after.mean().item<double>(), 0.9 * before.mean().item<double>());
  }
}

// A tolerance, however small, makes it watch every sample.
TEST(Piddm, RefinementWithoutAToleranceIsTheSame) {
  const auto model = testing::tiny_student();
  for (const auto& refine : {LatentOptions{LatentOptimizer::gd, 12, 0.5}, {LatentOptimizer::lbfgs, 12, 1}}) {
    PiddmOptions plain, watched;
    plain.refine = watched.refine = refine;
    watched.refine.tolerance = 1e-300;
    const auto samples = PiddmMethod(model, plain).generate(0, 4, kSeed);
    EXPECT_TRUE(torch::equal(samples.x, PiddmMethod(model, watched).generate(0, 4, kSeed).x));
    EXPECT_EQ(samples.nfe, 12);
    EXPECT_EQ(samples.backward, 12);
  }
}

TEST(Piddm, RefinesWithGaussNewton) {
  const auto model = testing::tiny_student();
  const auto before = pde_errors(PiddmMethod(model, {}).generate(0, 4, kSeed).x);
  PiddmOptions options;
  options.refine = {LatentOptimizer::gauss_newton, 30, 1};
  const auto refined = PiddmMethod(model, options).generate(0, 4, kSeed);
  EXPECT_TRUE((pde_errors(refined.x) < 0.9 * before).all().item<bool>());
  EXPECT_LE(refined.nfe, 30);
}

TEST(Piddm, HardReplacementReturnsWhatWasObserved) {
  const auto model = testing::tiny_student();
  const auto truth = testing::tiny_data(3).to(torch::kFloat32);
  for (const auto task : {Task::forward, Task::inverse, Task::reconstruct}) {
    const auto observation = observe(task, truth, *model.pde, kSeed);
    auto options = quick(3);
    const auto hard = PiddmMethod(model, options).solve(observation, kSeed).x;
    options.hard = false;
    const auto soft = PiddmMethod(model, options).solve(observation, kSeed).x;
    for (int64_t c = 0; c < 2; ++c) {
      const auto mask = observation.mask.select(1, c);
      const double unit = std::abs(model.normalizer.shift(c)) + model.normalizer.scale(c);
      EXPECT_LT(largest(mask * (hard - truth).select(1, c)), 1e-6 * unit) << task_name(task) << c;
      if (mask.sum().item<double>() == 0) continue;
      EXPECT_GT(largest(mask * (soft - truth).select(1, c)), 1e-3 * unit) << task_name(task) << c;
    }
  }
}

TEST(Piddm, TasksOfASharpStudentAreThoseOfTheSameStudentWithoutTheHead) {
  auto model = testing::tiny_student();
  model.heads.bounded = true;
  const auto observation = observe(Task::inverse, testing::tiny_data(3).to(torch::kFloat32), *model.pde, kSeed);
  const auto answer = PiddmMethod(model, quick(5)).solve(observation, kSeed).x;
  const auto sample = PiddmMethod(model, {}).generate(0, 3, kSeed).x;
  model.heads.sharp = true;
  EXPECT_TRUE(torch::equal(PiddmMethod(model, quick(5)).solve(observation, kSeed).x, answer));
  EXPECT_FALSE(torch::equal(PiddmMethod(model, {}).generate(0, 3, kSeed).x, sample));
}

TEST(Piddm, CarriesTheMisfitToTheEntriesAroundTheKnownOnes) {
  const auto model = testing::tiny_student(testing::all_heads());
  const auto solved = [&](Task task, bool hard, double reach) {
    auto options = quick(0);
    options.hard = hard, options.reach = reach;
    const auto observation = observe(task, testing::tiny_data(3), *model.pde, kSeed);
    return std::pair{observation, PiddmMethod(model, options).solve(observation, kSeed).x};
  };
  const auto [observation, soft] = solved(Task::reconstruct, false, 8);
  const auto mask = observation.mask, known = observation.values.to(torch::kFloat32);
  const auto misfit = model.normalizer.to_network(known) - model.normalizer.to_network(soft);
  const auto filled = model.normalizer.to_physical(model.normalizer.to_network(soft) +
                                                   smooth_fill(misfit, mask.to(torch::kFloat32), 8));
  const auto expected =
      torch::where(mask > 0, known, torch::stack({filled.select(1, 0), filled.select(1, 1).clamp(3, 12)}, 1));
  const auto hard = solved(Task::reconstruct, true, 8).second;
  EXPECT_LT(testing::relative_error(hard, expected), 1e-4);
  EXPECT_GT(testing::relative_error(solved(Task::reconstruct, true, 0).second, expected), 1e-3);
  EXPECT_TRUE(torch::equal(solved(Task::forward, true, 8).second, solved(Task::forward, true, 0).second));
}

TEST(Piddm, SolvingLowersTheObjective) {
  const auto model = testing::tiny_student();
  const auto observation = observe(Task::reconstruct, testing::tiny_data(3).to(torch::kFloat32), *model.pde, kSeed);
  const auto unknown_misfit = [&](int64_t iterations) {
    auto options = quick(iterations);
    options.hard = false;
    options.lambda = 0;
    const auto x = PiddmMethod(model, options).solve(observation, kSeed).x;
    const auto error = model.normalizer.to_network(x) - model.normalizer.to_network(observation.values);
    return (observation.mask * error.square()).sum({1, 2, 3});
  };
  EXPECT_TRUE((unknown_misfit(15) < 0.95 * unknown_misfit(0)).all().item<bool>());
}

TEST(Piddm, IgnoresValuesThatAreNotObserved) {
  auto observation = observe(Task::forward, testing::tiny_data(2).to(torch::kFloat32), *testing::tiny_pde(), kSeed);
  const auto clean = PiddmMethod(testing::tiny_student(), quick(3)).solve(observation, kSeed).x;
  observation.values = observation.values.clone();
  observation.values.select(1, 0).fill_(NAN);
  EXPECT_TRUE(torch::equal(PiddmMethod(testing::tiny_student(), quick(3)).solve(observation, kSeed).x, clean));
  observation.values.select(1, 1).fill_(NAN);
  EXPECT_ERROR(PiddmMethod(testing::tiny_student(), quick(3)).solve(observation, kSeed), ExitCode::data,
               "observed value is not finite");
}

TEST(Piddm, RefusesTeachersAndSenselessOptions) {
  EXPECT_ERROR(PiddmMethod(testing::tiny_teacher(), {}), ExitCode::usage, "this model is a teacher");
  PiddmOptions options;
  options.batch = -1;
  EXPECT_ERROR(PiddmMethod(testing::tiny_student(), options), ExitCode::usage, "batch");
  options = {};
  options.starts = 0;
  EXPECT_ERROR(PiddmMethod(testing::tiny_student(), options), ExitCode::usage, "starts");
  options = {};
  options.reach = -1;
  EXPECT_ERROR(PiddmMethod(testing::tiny_student(), options), ExitCode::usage, "reach");
  const Observation wrong{torch::zeros({1, 2, 8, 8}), torch::ones({1, 2, 8, 8})};
  EXPECT_ERROR(PiddmMethod(testing::tiny_student(), {}).solve(wrong, kSeed), ExitCode::data, "expected (B,2,16,16)");
}

}  // namespace
}  // namespace piddm
