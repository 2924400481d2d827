#include "piddm/solve/piddm.h"

#include "piddm/numerics/smooth_fill.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

constexpr uint64_t kSeed = 17;

PiddmOptions quick(int64_t iterations = 6) {
  PiddmOptions options;
  options.task.iterations = iterations;
  return options;
}

Tensor pde_errors(const Tensor& x) { return testing::tiny_pde()->pde_error(x.to(torch::kFloat64)); }

double largest(const Tensor& x) { return x.abs().max().item<double>(); }

/// The objective of Algorithm 3 in float64 at a random latent.
double task_gradient_error(const HeadOptions& heads, bool hard, bool precondition, Task task) {
  const auto model = testing::tiny_student(heads);
  model.network->to(torch::kFloat64);
  auto options = quick();
  options.hard = hard;
  options.precondition = precondition;
  options.lambda = 0.7;
  const PiddmMethod method(model, options);
  const auto observation = observe(task, testing::tiny_data(2), *model.pde, kSeed);
  const auto observed = model.normalizer.to_network(observation.values);
  const auto e = normal(kSeed, Stream::tasks, 0, 2, {2, 16, 16}, torch::kFloat64);
  return testing::gradient_error(
      [&](const Tensor& x) { return method.task_loss(x, exact_target(observed, observation.mask)).sum(); }, e, 4);
}

TEST(Piddm, TheGradientOfTheTaskIsExact) {
  for (const bool hard : {true, false})
    for (const bool precondition : {true, false}) {
      EXPECT_LT(task_gradient_error(testing::all_heads(), hard, precondition, Task::reconstruct), 1e-6)
          << hard << precondition;
      EXPECT_LT(task_gradient_error({}, hard, precondition, Task::forward), 1e-6) << hard << precondition;
    }
  EXPECT_LT(task_gradient_error(testing::all_heads(), true, true, Task::inverse), 1e-6);
}

// Both terms by hand: mean misfit over the observed entries, mean square residual of the mixed sample.
TEST(Piddm, TheTaskWeighsMisfitAndResidual) {
  const auto model = testing::tiny_student();
  auto options = quick();
  options.precondition = false;
  const auto observation = observe(Task::forward, testing::tiny_data(2).to(torch::kFloat32), *model.pde, kSeed);
  const auto observed = model.normalizer.to_network(observation.values);
  const auto e = model.latents(kSeed, Stream::tasks, 0, 2);
  const torch::NoGradGuard no_grad;
  const auto z = Student(model)(e);
  const auto misfit = (z - observed).select(1, 1).square().mean({1, 2});
  const auto mixed = torch::stack({z.select(1, 0), observed.select(1, 1)}, 1);
  const auto expected = [&](const Tensor& sample, double lambda) {
    return misfit + lambda * model.pde->pde_error(model.normalizer.to_physical(sample));
  };
  for (const double lambda : {0.0, 0.5}) {
    options.lambda = lambda;
    options.hard = true;
    EXPECT_LT(
        testing::relative_error(PiddmMethod(model, options).task_loss(e, exact_target(observed, observation.mask)),
                                expected(mixed, lambda)),
        1e-5);
    options.hard = false;
    EXPECT_LT(
        testing::relative_error(PiddmMethod(model, options).task_loss(e, exact_target(observed, observation.mask)),
                                expected(z, lambda)),
        1e-5);
  }
}

// lambda ||R||^2 + boundary ||B||^2 / std(u)^2, by hand, for a PDE without a fast solver.
TEST(Piddm, TheTaskWeighsBoundaryConditions) {
  auto model = testing::tiny_student({});
  model.pde = make_pde({.name = "stokes", .grid = 16});
  const auto truth = model.pde->sample(5, 0, 2).to(torch::kFloat32);
  model.normalizer = Normalizer::fit(truth, model.pde->channels());
  auto options = quick();
  options.lambda = 0.5;
  options.boundary = 2;
  const auto observation = observe(Task::inverse, truth, *model.pde, kSeed);
  const auto observed = model.normalizer.to_network(observation.values);
  const auto e = model.latents(kSeed, Stream::tasks, 0, 2);
  const torch::NoGradGuard no_grad;
  const auto z = Student(model)(e);
  const auto misfit = (z - observed).select(1, 0).square().mean({1, 2});
  const auto x = model.normalizer.to_physical(torch::stack({observed.select(1, 0), z.select(1, 1)}, 1));
  const auto edge = model.pde->residual(x).boundary.square().mean(1) / std::pow(model.normalizer.std(0), 2);
  const auto expected = misfit + 0.5 * model.pde->pde_error(x) + 2 * edge;
  EXPECT_LT(testing::relative_error(PiddmMethod(model, options).task_loss(e, exact_target(observed, observation.mask)),
                                    expected),
            1e-5);
  EXPECT_GT((2 * edge / expected).min().item<double>(), 1e-3);
}

// For a sample whose residual comes from a wrong u alone, L^-1 r is the error of u up to a/6: a = 6 makes it exact.
TEST(Piddm, ThePreconditionedResidualIsAnErrorOfTheSolution) {
  const auto model = testing::tiny_student({});
  const auto a = torch::full({1, 1, 16, 16}, 6.0, torch::kFloat64);
  const auto u = model.pde->solve(a), wrong = u + 0.1 * torch::randn_like(u);
  const auto error = ((wrong - u) / model.normalizer.std(0)).square().mean().item<double>();
  const auto e = model.pde->precondition(model.pde->residual(torch::cat({wrong, a}, 1)).interior);
  EXPECT_NEAR((e / model.normalizer.std(0)).square().mean().item<double>(), error, 1e-9 * error);
}

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

/// The objective a soft answer without physics ends with: the misfit of what it returns.
Tensor misfits(PiddmOptions options, uint64_t seed = kSeed) {
  options.hard = false;
  options.lambda = 0;
  const auto model = testing::tiny_student();
  const auto observation = observe(Task::reconstruct, testing::tiny_data(3).to(torch::kFloat32), *model.pde, kSeed);
  const auto x = PiddmMethod(model, options).solve(observation, seed).x;
  return make_target(observation, model, "test").misfit(model.normalizer.to_network(x));
}

/// z = e + constant: what the network adds does not depend on e.
Model linear_student() {
  const auto model = testing::tiny_student({});
  const torch::NoGradGuard no_grad;
  model.network->named_parameters()["project2_weight"].zero_();
  return model;
}

TEST(Piddm, GaussNewtonSolvesALinearStudent) {
  const auto model = linear_student();
  const auto truth = testing::tiny_data(2).to(torch::kFloat32);
  auto options = quick(165);
  options.task.optimizer = LatentOptimizer::gauss_newton;
  options.task.directions = 30;
  options.lambda = 100;  // with exact a in place the residual is linear in u, and its zero the solution
  PiddmMethod method(model, options);
  const auto x = method.solve(observe(Task::forward, truth, *model.pde, kSeed), kSeed).x;
  EXPECT_LT(testing::relative_error(x.select(1, 0), truth.select(1, 0)), 2e-3);
  EXPECT_TRUE((method.evaluations() <= 165).all().item<bool>());
}

TEST(Piddm, JacobianProductsOfTheTaskAreExact) {
  const auto model = testing::tiny_student();
  auto wide = testing::tiny_student();
  wide.network->to(torch::kFloat64);
  const auto observation = observe(Task::reconstruct, testing::tiny_data(2), *model.pde, kSeed);
  const auto target = exact_target(model.normalizer.to_network(observation.values), observation.mask);
  const auto e = normal(kSeed, Stream::tasks, 0, 2, {2, 16, 16}, torch::kFloat64);
  const auto v = normal(kSeed, Stream::tasks, 9, 2, {2, 16, 16}, torch::kFloat64);
  for (const bool precondition : {true, false}) {
    auto options = quick();
    options.precondition = precondition;
    const PiddmMethod in_double(wide, options), in_single(model, options);
    const RowFunction f = [&](const Tensor& x, const Tensor&) { return in_double.task_rows(x, target); };
    const Jacobian exact(f, e, torch::arange(2));
    ASSERT_TRUE(exact.exact());
    EXPECT_LT(testing::relative_error(Jacobian(f, e, torch::arange(2), JacobianProduct::difference).product(v),
                                      exact.product(v)),
              1e-7);
    const RowFunction g = [&](const Tensor& x, const Tensor&) { return in_single.task_rows(x, target); };
    const Jacobian fused(g, e.to(torch::kFloat32), torch::arange(2));
    EXPECT_FALSE(fused.exact());
    EXPECT_LT(testing::relative_error(fused.product(v.to(torch::kFloat32)), exact.product(v)), 2e-3);
  }
}

TEST(Piddm, GaussNewtonCountsProductsAsEvaluations) {
  const auto observation = observe(Task::forward, testing::tiny_data(3), *testing::tiny_pde(), kSeed);
  for (const auto& [form, directions, backward] : {std::tuple("fused", 5, 10), {"gemm", 10, 22}}) {
    auto model = testing::tiny_student();
    auto network = model.network->options_json();
    network["spectral"] = form;
    model.network = make_network("fno", network, 1);
    auto options = quick(27);
    options.task.optimizer = LatentOptimizer::gauss_newton;
    options.task.directions = directions;
    PiddmMethod method(model, options);
    const auto solved = method.solve(observation, kSeed);
    EXPECT_EQ(solved.nfe, 26) << form;
    EXPECT_EQ(method.evaluations().sum().item<int64_t>(), 3 * 26);
    EXPECT_NEAR(solved.backward, backward, 1.5) << form;
  }
}

TEST(Piddm, StartsAndCandidatesAreAFunctionOfTheSeed) {
  auto options = quick(4);
  options.starts = 3;
  options.candidates = 5;
  const auto first = misfits(options);
  EXPECT_TRUE(torch::equal(misfits(options), first));
  EXPECT_GT(largest(misfits(options, kSeed + 1) - first), 1e-4);
  options.batch = 2;  // one case at a time
  EXPECT_LT(testing::relative_error(misfits(options), first), 1e-3);
}

TEST(Piddm, MoreStartsAreNeverWorse) {
  for (const auto optimizer : {LatentOptimizer::lbfgs, LatentOptimizer::adam, LatentOptimizer::gauss_newton}) {
    auto options = quick(8);
    options.task.optimizer = optimizer;
    auto before = misfits(options);
    const auto single = before;
    for (const int64_t starts : {2, 4}) {
      options.starts = starts;
      const auto after = misfits(options);
      EXPECT_TRUE((after <= before * 1.001).all().item<bool>()) << starts;
      before = after;
    }
    EXPECT_LT(before.sum().item<double>(), single.sum().item<double>());
  }
}

TEST(Piddm, TheWeightOfTheResidualFollowsItsUnit) {
  const auto model = testing::tiny_student();
  const auto observation = observe(Task::forward, testing::tiny_data(2).to(torch::kFloat32), *model.pde, kSeed);
  const auto target = make_target(observation, model, "test");
  const auto e = model.latents(kSeed, Stream::tasks, 0, 2);
  for (const bool precondition : {true, false}) {
    auto options = quick();
    options.precondition = precondition;
    const auto automatic = PiddmMethod(model, options).task_loss(e, target);
    options.lambda = precondition ? 10 : 1;
    EXPECT_TRUE(torch::equal(PiddmMethod(model, options).task_loss(e, target), automatic));
  }
}

TEST(Piddm, StartsAtLatentsOfTheSpreadAskedFor) {
  const auto model = testing::tiny_student();
  const auto observation = observe(Task::inverse, testing::tiny_data(2).to(torch::kFloat32), *model.pde, kSeed);
  const torch::NoGradGuard no_grad;
  for (const double spread : {0.0, 0.4, 1.0}) {
    auto options = quick(0);
    options.spread = spread;
    options.hard = false;
    const auto x = PiddmMethod(model, options).solve(observation, kSeed).x;
    const auto expected = Student(model)(spread * model.latents(kSeed, Stream::tasks, 0, 2));
    EXPECT_LT(testing::relative_error(x, model.normalizer.to_physical(expected)), 1e-6) << spread;
  }
  auto options = quick();
  options.spread = -1;
  EXPECT_ERROR(PiddmMethod(model, options), ExitCode::usage, "method.spread");
  options.spread = 1;
  options.anneal = 1;
  EXPECT_ERROR(PiddmMethod(model, options), ExitCode::usage, "method.anneal");
}

TEST(Piddm, TheBestCandidateIsTheStart) {
  auto options = quick(0);
  const auto one = misfits(options);
  options.candidates = 4;
  const auto best = misfits(options);
  EXPECT_TRUE((best <= one * (1 + 1e-5)).all().item<bool>());
  EXPECT_LT(best.sum().item<double>(), 0.999 * one.sum().item<double>());
}

TEST(Piddm, CountsStartsCandidatesAndEarlyEnds) {
  const auto observation = observe(Task::forward, testing::tiny_data(3), *testing::tiny_pde(), kSeed);
  auto options = quick(6);
  options.starts = 2;
  options.candidates = 3;
  PiddmMethod method(testing::tiny_student(), options);
  EXPECT_EQ(method.solve(observation, kSeed).nfe, 3 + 2 * 6);
  EXPECT_TRUE((method.evaluations() == 15).all().item<bool>());
  options = quick(40);
  options.task.tolerance = 0.2;
  PiddmMethod early(testing::tiny_student(), options);
  const auto solved = early.solve(observation, kSeed);
  EXPECT_LT(solved.nfe, 40);
  EXPECT_DOUBLE_EQ(solved.nfe, early.evaluations().to(torch::kFloat64).mean().item<double>());
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

TEST(Piddm, RefusesTeachersAndSenselessOptions) {
  EXPECT_ERROR(PiddmMethod(testing::tiny_teacher(), {}), ExitCode::usage, "this model is a teacher");
  PiddmOptions options;
  options.batch = 0;
  EXPECT_ERROR(PiddmMethod(testing::tiny_student(), options), ExitCode::usage, "method.batch");
  options = {};
  options.starts = 0;
  EXPECT_ERROR(PiddmMethod(testing::tiny_student(), options), ExitCode::usage, "method.starts");
  options = {};
  options.reach = -1;
  EXPECT_ERROR(PiddmMethod(testing::tiny_student(), options), ExitCode::usage, "method.reach");
  const Observation wrong{torch::zeros({1, 2, 8, 8}), torch::ones({1, 2, 8, 8})};
  EXPECT_ERROR(PiddmMethod(testing::tiny_student(), {}).solve(wrong, kSeed), ExitCode::data, "expected (B,2,16,16)");
}

}  // namespace
}  // namespace piddm
