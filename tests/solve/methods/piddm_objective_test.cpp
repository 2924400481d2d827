// The objective of Algorithm 3: misfit, residual, boundary conditions, and their derivatives.

#include "tests/solve/methods/quick_piddm.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

using testing::kSeed;
using testing::quick;

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

TEST(PiddmObjective, TheGradientOfTheTaskIsExact) {
  for (const bool hard : {true, false})
    for (const bool precondition : {true, false}) {
      EXPECT_LT(task_gradient_error(testing::all_heads(), hard, precondition, Task::reconstruct), 1e-6)
          << hard << precondition;
      EXPECT_LT(task_gradient_error({}, hard, precondition, Task::forward), 1e-6) << hard << precondition;
    }
  EXPECT_LT(task_gradient_error(testing::all_heads(), true, true, Task::inverse), 1e-6);
}

// Both terms by hand: mean misfit over the observed entries, mean square residual of the mixed sample.
TEST(PiddmObjective, TheTaskWeighsMisfitAndResidual) {
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
TEST(PiddmObjective, TheTaskWeighsBoundaryConditions) {
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
TEST(PiddmObjective, ThePreconditionedResidualIsAnErrorOfTheSolution) {
  const auto model = testing::tiny_student({});
  const auto a = torch::full({1, 1, 16, 16}, 6.0, torch::kFloat64);
  const auto u = model.pde->solve(a), wrong = u + 0.1 * torch::randn_like(u);
  const auto error = ((wrong - u) / model.normalizer.std(0)).square().mean().item<double>();
  const auto e = model.pde->precondition(model.pde->residual(torch::cat({wrong, a}, 1)));
  EXPECT_NEAR((e / model.normalizer.std(0)).square().mean().item<double>(), error, 1e-9 * error);
}

TEST(PiddmObjective, TheWeightOfTheResidualFollowsItsUnit) {
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

TEST(PiddmObjective, JacobianProductsOfTheTaskAreExact) {
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

}  // namespace
}  // namespace piddm
