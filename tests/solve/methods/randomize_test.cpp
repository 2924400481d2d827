// Randomise then optimise where the answer is known: d(e) = m + L e, linear data, a Gaussian posterior.

#include "piddm/solve/methods/piddm.h"
#include "tests/solve/methods/toys.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

constexpr int64_t kEntries = 512, kKnown = 24, kMembers = 1600;
constexpr double kNoise = 0.3;

/// The teacher's v with e - v(e,1) = m + L e.
Model linear_student(const Tensor& mean, const Tensor& factor) {
  auto model = testing::toy_teacher([=](const Tensor& e, const Tensor&) {
    const auto rows = e.flatten(1);
    return (rows - mean.to(e.scalar_type()) - rows.matmul(factor.t().to(e.scalar_type()))).view_as(e);
  });
  model.kind = ModelKind::student;
  return model;
}

struct LinearProblem {
  Tensor mean = 0.5 * torch::sin(torch::arange(kEntries, torch::kFloat64)), factor;
  Tensor map;  // of what is known: 24 entries and two averages
  Tensor y;
  Observation observation;
  Tensor posterior_mean, covariance;

  LinearProblem() {
    const auto law = testing::GaussianLaw::make();
    factor = law.basis * law.variance.sqrt();
    map = torch::zeros({kKnown + 2, kEntries}, torch::kFloat64);
    for (int64_t k = 0; k < kKnown; ++k) map[k][20 * k] = 1;
    map[kKnown].narrow(0, 0, 100).fill_(0.01);
    map[kKnown + 1].narrow(0, 300, 50).fill_(0.02);
    y = map.mv(mean) + normal(4, Stream::noise, 0, 1, {kKnown + 2}, torch::kFloat64)[0];
    observe();
    const auto a = map.mm(factor), s = kNoise * kNoise * torch::eye(kKnown + 2, torch::kFloat64);
    const auto gain = a.t().mm(torch::linalg_inv(a.mm(a.t()) + s));
    posterior_mean = mean + factor.mv(gain.mv(y - map.mv(mean)));
    covariance = factor.mm(torch::eye(kEntries, torch::kFloat64) - gain.mm(a)).mm(factor.t());
  }

  void observe() {
    auto values = torch::zeros({kEntries}), mask = torch::zeros({kEntries});
    for (int64_t k = 0; k < kKnown; ++k) values[20 * k] = y[k], mask[20 * k] = 1;
    const auto all = [](const Tensor& x) { return x.view({1, 2, 16, 16}).repeat({kMembers, 1, 1, 1}); };
    observation = {all(values), all(mask), all(mask * kNoise)};
    const Functionals one{
        .sample = torch::zeros({2}, torch::kLong),
        .channel = torch::tensor({0, 1}),
        .value = y.narrow(0, kKnown, 2),
        .sigma = torch::full({2}, kNoise, torch::kFloat64),
        .gain = torch::ones({2}, torch::kFloat64),
        .row = torch::cat({torch::zeros({100}, torch::kLong), torch::ones({50}, torch::kLong)}),
        .entry = torch::cat({torch::arange(100), torch::arange(300, 350)}),
        .weight = torch::cat({torch::full({100}, 0.01, torch::kFloat64), torch::full({50}, 0.02, torch::kFloat64)})};
    observation.functionals = one.select(torch::zeros({kMembers}, torch::kLong));
  }
};

TEST(Randomize, TheMembersHaveThePosteriorsMeanAndCovariance) {
  const LinearProblem problem;
  const auto model = linear_student(problem.mean, problem.factor);
  PiddmOptions options;
  options.randomize = true;
  options.lambda = 0;
  const auto x = PiddmMethod(model, options).solve(problem.observation, 7).x.flatten(1).to(torch::kFloat64);
  const auto exact = problem.covariance.diagonal();
  const auto z = (x.mean(0) - problem.posterior_mean) / (exact / kMembers).sqrt();
  EXPECT_NEAR(z.square().mean().item<double>(), 1, 0.25);  // Monte Carlo error, and nothing else
  const auto prior = problem.factor.square().sum(1);
  EXPECT_LT((exact.sum() / prior.sum()).item<double>(), 0.9);  // the data say something
  EXPECT_NEAR((x.var(0) / exact).mean().item<double>(), 1, 0.03);
  // whitened by what is known: the covariance of the 26 data
  const auto seen = problem.map.mm(problem.covariance).mm(problem.map.t());
  const auto found = torch::cov(problem.map.mm(x.t()));
  EXPECT_LT(testing::relative_error(found, seen), 0.2);
  EXPECT_GT(testing::relative_error(problem.map.mm(problem.factor).mm(problem.factor.t()).mm(problem.map.t()), seen),
            2);
}

// With the physics of a linear PDE: F(e) are the method's own rows, affine in e, and the law exp(-|F(e)|^2 - |e|^2/2).
TEST(Randomize, TheLawHasThePhysicsInIt) {
  const LinearProblem problem;
  const auto model = linear_student(problem.mean, problem.factor);
  PiddmOptions options;
  options.randomize = true;
  options.lambda = 0.3;
  options.task.iterations = 300;
  options.anneal = 0;
  PiddmMethod method(model, options);
  const auto target =
      make_target(problem.observation, model, "test").narrow(0, 1).select(torch::zeros({513}, torch::kLong));
  const auto unit = torch::cat({torch::zeros({1, kEntries}), torch::eye(kEntries)}).view({513, 2, 16, 16});
  const torch::NoGradGuard no_grad;
  const auto values = method.task_rows(unit, target).to(torch::kFloat64);
  const auto at_zero = values[0], jacobian = (values.slice(0, 1) - at_zero).t();
  const auto inverse = torch::linalg_inv(torch::eye(kEntries, torch::kFloat64) + 2 * jacobian.t().mm(jacobian));
  const auto mean = problem.mean - problem.factor.mv(inverse.mv(2 * jacobian.t().mv(at_zero)));
  const auto variance = problem.factor.mm(inverse).mm(problem.factor.t()).diagonal();
  const auto without = problem.covariance.diagonal();
  EXPECT_LT((variance.sum() / without.sum()).item<double>(), 0.9);  // the physics say something
  const auto x = method.solve(problem.observation, 7).x.flatten(1).to(torch::kFloat64);
  const auto z = (x.mean(0) - mean) / (variance / kMembers).sqrt();
  EXPECT_NEAR(z.square().mean().item<double>(), 1, 0.3);
  EXPECT_NEAR((x.var(0) / variance).mean().item<double>(), 1, 0.04);
}

TEST(Randomize, MembersAreTheSameForAnyBatchSplit) {
  const LinearProblem problem;
  const auto model = linear_student(problem.mean, problem.factor);
  PiddmOptions options;
  options.randomize = true;
  options.lambda = 0;
  options.task.iterations = 5;
  auto some = problem.observation;
  const auto few = [](const Tensor& t) { return t.narrow(0, 0, 5); };
  some = {few(some.values), few(some.mask), few(some.sigma), some.functionals.select(torch::arange(5))};
  options.batch = 5;
  const auto together = PiddmMethod(model, options).solve(some, 7).x;
  options.batch = 2;
  EXPECT_LT(testing::relative_error(PiddmMethod(model, options).solve(some, 7).x, together), 1e-5);
  EXPECT_GT(testing::relative_error(together[1], together[0]), 0.1);
  EXPECT_GT(testing::relative_error(PiddmMethod(model, options).solve(some, 8).x, together), 0.1);
}

TEST(Randomize, RefusesSeveralStarts) {
  const LinearProblem problem;
  PiddmOptions options;
  options.randomize = true;
  options.starts = 2;
  EXPECT_ERROR(PiddmMethod(linear_student(problem.mean, problem.factor), options), ExitCode::usage, "one start");
}

// One sigma for all values: the smaller it is, the nearer the answer comes to the data.
TEST(Sigma, OneForAllValuesChangesTheAnswer) {
  const auto model = testing::tiny_student();
  auto observation = observe(Task::reconstruct, testing::tiny_data(2).to(torch::kFloat32), *model.pde, 17);
  PiddmOptions options;
  options.task.iterations = 30;
  options.lambda = 1;
  std::vector<double> misfits;
  for (const double sigma : {1e-3, 0.3, 3.0}) {
    observation.sigma = torch::ones_like(observation.values);
    for (int64_t c = 0; c < 2; ++c) observation.sigma.select(1, c).mul_(sigma * model.normalizer.scale(c));
    const auto z = model.normalizer.to_network(PiddmMethod(model, options).solve(observation, 3).x);
    const auto error = observation.mask * (z - model.normalizer.to_network(observation.values)).square();
    misfits.push_back((error.sum() / observation.mask.sum()).item<double>());
  }
  EXPECT_LT(misfits[0], 0.99 * misfits[1]);
  EXPECT_LT(misfits[1], 0.99 * misfits[2]);
}

}  // namespace
}  // namespace piddm
