#include "piddm/numerics/lbfgs.h"

#include <cmath>
#include <limits>

#include "piddm/core/fields.h"
#include "piddm/numerics/wolfe_search.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using testing::golden;
using testing::read_text;
using torch::indexing::Slice;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Tensor rosenbrock(const Tensor& x) {
  const auto a = x.index({Slice(), Slice(0, -1)}), b = x.index({Slice(), Slice(1)});
  return (100 * (b - a * a).square() + (1 - a).square()).sum(1);
}

/// Row k of the starts of make_lbfgs.py: cos(j + k), k = 1..count.
Tensor cosine_starts(int64_t count, int64_t size) {
  const auto k = torch::arange(1, count + 1, torch::kFloat64), j = torch::arange(size, torch::kFloat64);
  return (k.unsqueeze(1) + j).cos();
}

LbfgsOptions precise() {
  LbfgsOptions options;
  options.iterations = 1000;
  options.tolerance_grad = 1e-9;
  options.tolerance_change = 1e-16;
  return options;
}

/// x' diag(lambda) x / 2 with eigenvalues from 1 to `condition`.
std::function<Tensor(const Tensor&)> quadratic(int64_t size, double condition) {
  const auto lambda = torch::logspace(0, std::log10(condition), size, 10, torch::kFloat64);
  return [lambda](const Tensor& x) { return 0.5 * (lambda.to(x.options()) * x.square()).sum(1); };
}

double largest(const Tensor& x) { return x.abs().max().item<double>(); }

TEST(Lbfgs, SolvesRosenbrockFromManyStarts) {
  for (const int64_t size : {2, 20}) {
    const auto result = minimize_lbfgs(with_gradient(rosenbrock), 1.5 * cosine_starts(7, size), precise());

    // In 20 dimensions some starts lead to the other local minimum, at x_0 = -1, whose gradient vanishes too.
    const auto leaf = result.x.clone().requires_grad_(true);
    EXPECT_LT(largest(torch::autograd::grad({rosenbrock(leaf).sum()}, {leaf})[0]), 1e-6) << size;
    const auto global = result.x.select(1, 0) > 0;
    EXPECT_GE(global.sum().item<int64_t>(), 4) << size;
    EXPECT_LT(largest(result.x.index({global}) - 1), 1e-8) << size;
    EXPECT_LT(largest(result.value.index({global})), 1e-15) << size;
    EXPECT_TRUE(result.converged.all().item<bool>()) << size;
  }
}

TEST(Lbfgs, AgreesWithScipy) {
  const auto reference = json::parse(read_text(golden("lbfgs.json")));
  const auto i = torch::arange(30, torch::kFloat64), j = torch::arange(12, torch::kFloat64);
  const auto a = (1 + i.unsqueeze(1) * j).sin(), b = 3 * i.cos();
  const auto logcosh = [&](const Tensor& x) {
    const auto r = torch::matmul(x, a.t()) - b;
    return (torch::logaddexp(r, -r) - std::log(2.0)).sum(1) + 0.005 * x.square().sum(1);
  };
  const auto k = torch::arange(1, 5, torch::kFloat64).unsqueeze(1);
  const auto convex = minimize_lbfgs(with_gradient(logcosh), k * (1 - 2 * torch::fmod(j, 2)), precise());
  const auto valley = minimize_lbfgs(with_gradient(rosenbrock), cosine_starts(4, 20), precise());

  for (int64_t n = 0; n < 4; ++n) {
    const auto& expected = reference["logcosh"][n];
    EXPECT_NEAR(convex.value[n].item<double>(), expected["value"].get<double>(), 1e-11) << n;
    EXPECT_LT(largest(convex.x[n] - torch::tensor(expected["x"].get<std::vector<double>>(), torch::kFloat64)), 1e-7)
        << n;
    EXPECT_LT(valley.value[n].item<double>(), reference["rosenbrock"][n]["value"].get<double>() + 1e-13) << n;
    EXPECT_LE(valley.evaluations, 2 * reference["rosenbrock"][n]["evaluations"].get<int64_t>()) << n;
  }
}

TEST(Lbfgs, NeedsFarFewerEvaluationsThanGradientDescent) {
  const auto f = quadratic(50, 1e4);
  const auto x0 = cosine_starts(3, 50);
  auto options = precise();
  options.tolerance_grad = 1e-6;
  const auto result = minimize_lbfgs(with_gradient(f), x0, options);
  EXPECT_TRUE(result.converged.all().item<bool>());
  EXPECT_LT(largest(result.value), 1e-12);

  // Gradient descent with the best constant step, 2 / (smallest + largest eigenvalue), after ten times the evaluations.
  const auto objective = with_gradient(f);
  auto x = x0;
  for (int64_t n = 0; n < 10 * result.evaluations; ++n) x = x - 2 / (1 + 1e4) * objective(x).gradient;
  EXPECT_GT(f(x).min().item<double>(), 1e-4);
  EXPECT_LT(result.evaluations, 1000);  // scipy's L-BFGS-B: 787 to 817
}

TEST(Lbfgs, ResultDoesNotDependOnTheBatch) {
  const auto x0 = 2 * cosine_starts(6, 20).reshape({6, 4, 5});
  const auto objective = with_gradient([](const Tensor& x) { return rosenbrock(x.flatten(1)); });
  LbfgsOptions options;
  options.iterations = 60;
  options.max_evaluations = 200;
  const auto batch = minimize_lbfgs(objective, x0, options);
  EXPECT_EQ(batch.x.sizes(), x0.sizes());
  for (int64_t n = 0; n < 6; ++n) {
    const auto alone = minimize_lbfgs(objective, x0.slice(0, n, n + 1), options);
    EXPECT_LT(largest(alone.x[0] - batch.x[n]), 1e-10) << n;
    EXPECT_NEAR(alone.value[0].item<double>(), batch.value[n].item<double>(), 1e-10) << n;
    EXPECT_EQ(alone.iterations[0].item<int64_t>(), batch.iterations[n].item<int64_t>()) << n;
  }
}

TEST(Lbfgs, AcceptedStepsSatisfyTheStrongWolfeConditions) {
  std::vector<LbfgsStep> steps;
  auto options = precise();
  options.tolerance_grad = 1e-5;
  const auto result =
      minimize_lbfgs(with_gradient(rosenbrock), 3 * cosine_starts(5, 10), options,
                     [&](const LbfgsProgress& p) { steps.insert(steps.end(), p.steps.begin(), p.steps.end()); });
  EXPECT_EQ(static_cast<int64_t>(steps.size()), result.iterations.sum().item<int64_t>());
  ASSERT_GT(steps.size(), 100U);
  int64_t exact = 0;
  for (const auto& s : steps) {
    EXPECT_LT(s.slope_before, 0);
    EXPECT_LE(s.value, s.value_before + options.c1 * s.step * s.slope_before);
    EXPECT_EQ(s.wolfe, std::abs(s.slope) <= options.c2 * std::abs(s.slope_before));
    exact += s.wolfe;
  }
  EXPECT_EQ(exact, static_cast<int64_t>(steps.size()));
}

TEST(Lbfgs, NeverReturnsAPointFromTheNanRegion) {
  // x - log(x) per entry, NaN for x < 0, minimum 1 at x = 1; starts on the flat side make the first steps overshoot.
  const auto barrier = [](const Tensor& x) { return (100 * x - 100 * x.log()).sum(1); };
  const auto x0 = torch::tensor({{30.0, 0.01}, {1e-3, 1e-3}, {500.0, 700.0}}, torch::kFloat64);
  bool visited = false;
  const auto objective = [&](const Tensor& x) {
    visited = visited || (x < 0).any().item<bool>();
    return with_gradient(barrier)(x);
  };
  auto options = precise();
  options.learning_rate = 50;
  const auto result = minimize_lbfgs(objective, x0, options);
  EXPECT_TRUE(visited);
  EXPECT_TRUE(all_finite(result.x));
  EXPECT_LT(largest(result.x - 1), 1e-8);
  EXPECT_LT(largest(result.value - 200), 1e-10);

  options.max_evaluations = 3;
  const auto early = minimize_lbfgs(objective, x0, options);
  EXPECT_TRUE((early.x > 0).all().item<bool>());
  EXPECT_TRUE((early.value <= barrier(x0)).all().item<bool>());
}

TEST(Lbfgs, TreatsANanGradientAsAFailedTrial) {
  const auto objective = [](const Tensor& x) -> Evaluation {
    const auto gradient = torch::where(x > -0.5, 2 * (x + 1), torch::full_like(x, kNaN));
    return {(x + 1).square().sum(1), gradient};
  };
  const auto result = minimize_lbfgs(objective, torch::ones({2, 1}, torch::kFloat64), precise());
  EXPECT_TRUE((result.x > -0.5).all().item<bool>());
  EXPECT_LT(largest(result.x + 0.5), 1e-3);
}

TEST(Lbfgs, OneBadStartDoesNotDisturbTheOthers) {
  auto x0 = cosine_starts(3, 4);
  const auto expected = minimize_lbfgs(with_gradient(rosenbrock), x0, precise());
  x0[1] = kNaN;
  const auto result = minimize_lbfgs(with_gradient(rosenbrock), x0, precise());
  EXPECT_TRUE(std::isnan(result.value[1].item<double>()));
  EXPECT_FALSE(result.converged[1].item<bool>());
  EXPECT_EQ(result.iterations[1].item<int64_t>(), 0);
  for (const int64_t n : {0, 2}) EXPECT_LT(largest(result.x[n] - expected.x[n]), 1e-10);
}

TEST(Lbfgs, KeepsTheEvaluationBudgetExactly) {
  for (const int64_t budget : {1, 2, 7, 50}) {
    int64_t calls = 0;
    const auto objective = [&](const Tensor& x) {
      ++calls;
      return with_gradient(rosenbrock)(x);
    };
    auto options = precise();
    options.max_evaluations = budget;
    const auto result = minimize_lbfgs(objective, 2 * cosine_starts(3, 20), options);
    EXPECT_EQ(calls, budget);
    EXPECT_EQ(result.evaluations, budget);
    EXPECT_EQ(static_cast<int64_t>(result.history_of_values.size()), budget);
    EXPECT_TRUE(torch::equal(result.history_of_values.back(), result.value));
    EXPECT_LT(largest(rosenbrock(result.x) - result.value), 1e-9 * largest(result.value));
    EXPECT_FALSE(result.converged.any().item<bool>());
  }
  LbfgsOptions options;
  options.iterations = 8;
  EXPECT_EQ(minimize_lbfgs(with_gradient(rosenbrock), 2 * cosine_starts(3, 20), options).evaluations, 10);
}

TEST(Lbfgs, BestValuesNeverRise) {
  auto options = precise();
  options.iterations = 40;
  const auto result = minimize_lbfgs(with_gradient(rosenbrock), 2 * cosine_starts(4, 20), options);
  const auto values = torch::stack(result.history_of_values);
  EXPECT_LE(values.diff(1, 0).max().item<double>(), 0);
  EXPECT_LE(largest(result.iterations), 40);
}

TEST(Lbfgs, WorksInSinglePrecisionOnEveryDevice) {
  std::vector<torch::Device> devices = {torch::kCPU};
  if (torch::cuda::is_available()) devices.emplace_back(torch::kCUDA);
  for (const auto device : devices) {
    const auto x0 = cosine_starts(5, 64).to(device, torch::kFloat32);
    auto options = precise();
    options.tolerance_grad = 1e-3;
    const auto result = minimize_lbfgs(with_gradient(quadratic(64, 1e3)), x0, options);
    EXPECT_EQ(result.x.scalar_type(), torch::kFloat32);
    EXPECT_EQ(result.x.device().type(), device.type());
    EXPECT_EQ(result.value.scalar_type(), torch::kFloat64);
    EXPECT_TRUE(result.converged.all().item<bool>());
    EXPECT_LT(largest(result.value), 1e-5);
  }
}

TEST(Lbfgs, StopsWhereNoDecreaseCanBeFound) {
  // The gradient points the wrong way, so that every search fails, along -g too.
  const auto objective = [](const Tensor& x) -> Evaluation { return {x.square().sum(1), -2 * x}; };
  const auto result = minimize_lbfgs(objective, torch::ones({2, 3}, torch::kFloat64), precise());
  EXPECT_FALSE(result.converged.any().item<bool>());
  EXPECT_LT(result.evaluations, 50);
  EXPECT_EQ(largest(result.x - 1), 0);
}

TEST(Lbfgs, RetriesAFailedSearchOnceAlongTheGradient) {
  // No value is finite from call 10 on: for one whole search (20 trials), or for longer than the retry lasts too.
  for (const int64_t outage : {20, 40}) {
    int64_t calls = 0;
    const auto objective = [&](const Tensor& x) {
      auto evaluation = with_gradient(rosenbrock)(x);
      if (++calls >= 10 && calls < 10 + outage) evaluation.value.fill_(kNaN);
      return evaluation;
    };
    const auto result = minimize_lbfgs(objective, cosine_starts(1, 4), precise());
    EXPECT_EQ(result.converged.item<bool>(), outage == 20);
    EXPECT_EQ(result.value.item<double>() < 1e-12, outage == 20);
    EXPECT_TRUE(all_finite(result.value));
    EXPECT_EQ(calls == 49, outage == 40);
  }
}

TEST(Lbfgs, RefusesWhatItCannotUse) {
  const auto objective = with_gradient(rosenbrock);
  const auto x0 = torch::zeros({2, 3});
  EXPECT_ERROR(minimize_lbfgs(objective, torch::zeros({3})), ExitCode::data,
               "[lbfgs] expected x0 (B, ...) with entries, got (3)");
  EXPECT_ERROR(minimize_lbfgs(objective, x0.to(torch::kInt)), ExitCode::data, "float32 or float64");
  EXPECT_ERROR(minimize_lbfgs(objective, x0, {.history = 0}), ExitCode::usage, "history must be at least 1, got 0");
  EXPECT_ERROR(minimize_lbfgs(objective, x0, {.c1 = 0.95}), ExitCode::usage, "expected 0 < c1 < c2 < 1");
  const auto summed = [](const Tensor& x) -> Evaluation { return {x.sum(), x}; };
  EXPECT_ERROR(minimize_lbfgs(summed, x0), ExitCode::data, "expected values (2), got ()");
}

TEST(WolfeSearch, FindsAPointOnHardCurves) {
  const auto shallow = [](double t) { return std::pair(-t / (t * t + 2), (t * t - 2) / std::pow(t * t + 2, 2)); };
  const auto steep = [](double t) { return std::pair(std::cosh(8 * t - 5), 8 * std::sinh(8 * t - 5)); };
  for (const double first : {1e-4, 1e-2, 1.0, 1e2, 1e4}) {
    for (const auto& phi : {std::function<std::pair<double, double>(double)>(shallow), {steep}}) {
      const auto [value, slope] = phi(0);
      WolfeSearch search({0, value, slope}, first, 0, 1e-4, 0.1);
      auto state = WolfeSearch::State::searching;
      while (state == WolfeSearch::State::searching) {
        const auto [v, s] = phi(search.step());
        state = search.update(v, s);
      }
      const auto [v, s] = phi(search.step());
      EXPECT_EQ(state, WolfeSearch::State::accepted) << first;
      EXPECT_TRUE(search.holds({search.step(), v, s})) << first << " ended at " << search.step();
    }
  }
}

}  // namespace
}  // namespace piddm
