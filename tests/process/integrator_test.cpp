#include "piddm/process/integrator.h"

#include <cmath>

#include "piddm/process/gaussian_mixture.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using testing::gradient_error;
using testing::relative_error;

Tensor start() { return torch::randn({3, 2, 4, 4}, torch::kFloat64); }

/// v = x, so x(t) = x(1) exp(t - 1).
Tensor growth(const Tensor& x, const Tensor&) { return x; }

double growth_error(int64_t steps) {
  const auto e = start();
  return relative_error(integrate_euler(growth, e, steps), e * std::exp(-1.0));
}

TEST(Euler, IsExactForAConstantVelocity) {
  const auto e = start(), v = start();
  for (const int64_t steps : {1, 2, 7, 100})
    EXPECT_LT(relative_error(integrate_euler([&](const Tensor&, const Tensor&) { return v; }, e, steps), e - v), 1e-13);
}

TEST(Euler, OneStepIsTheCleanEstimateOfTheLinearProcess) {
  const auto e = start();
  const auto v = [](const Tensor& x, const Tensor& t) { return torch::sin(x) * t; };
  const auto one = torch::ones({1}, torch::kFloat64);
  EXPECT_TRUE(integrate_euler(v, e, 1).equal(process_registry().at("linear")()->clean(e, v(e, one), one)));
}

TEST(Euler, HasItsClosedFormOnGrowth) {
  const auto e = start();
  EXPECT_LT(relative_error(integrate_euler(growth, e, 10), e * std::pow(0.9, 10)), 1e-13);
}

TEST(Euler, IsOfFirstOrder) {
  EXPECT_NEAR(growth_error(200) / growth_error(400), 2, 0.01);
  EXPECT_LT(growth_error(400), 2e-3);
}

TEST(Euler, VisitsEqualTimesFromOneDownwards) {
  std::vector<double> visited;
  const auto v = [&](const Tensor& x, const Tensor& t) {
    EXPECT_EQ(t.sizes(), (std::vector<int64_t>{1}));
    EXPECT_EQ(t.scalar_type(), x.scalar_type());
    visited.push_back(t.item<double>());
    return torch::zeros_like(x);
  };
  integrate_euler(v, start(), 4);
  EXPECT_EQ(visited, (std::vector<double>{1, 0.75, 0.5, 0.25}));
  visited.clear();
  integrate_euler(v, start(), 2, 0.5);
  EXPECT_EQ(visited, (std::vector<double>{1, 0.75}));
}

TEST(Euler, StopsAtTheEndAskedFor) {
  const auto e = start();
  const auto v = [](const Tensor& x, const Tensor&) { return torch::ones_like(x); };
  EXPECT_LT(relative_error(integrate_euler(v, e, 3, 0.25), e - 0.75), 1e-13);
}

TEST(Euler, GradientFlowsThroughEveryStep) {
  const auto a = torch::randn({3, 2, 4, 4}, torch::kFloat64);
  const auto final_value = [](const Tensor& e, const Tensor& w) {
    const auto v = [&](const Tensor& x, const Tensor& t) { return torch::tanh(w * x) * (1 + t); };
    return integrate_euler(v, e, 8).pow(3).sum();
  };
  const auto e = start();
  EXPECT_LT(gradient_error([&](const Tensor& x) { return final_value(x, a); }, e), 1e-6);
  EXPECT_LT(gradient_error([&](const Tensor& w) { return final_value(e, w); }, a), 1e-6);
}

TEST(Euler, NeedsAStep) {
  EXPECT_ERROR(integrate_euler(growth, start(), 0), ExitCode::usage, "needs at least one step, got 0");
}

/// A Gaussian N(mu, lambda) in each of 32 entries: its flow is x(t) = alpha mu + sqrt(var(t) / var(1)) (x(1) - alpha(1)
/// mu), var = alpha^2 lambda + sigma^2.
class GaussianFlow {
 public:
  explicit GaussianFlow(const std::string& process)
      : process_(process_registry().at(process)()),
        mean_(torch::linspace(-1, 1, 32, torch::kFloat64)),
        lambda_(torch::linspace(0.05, 2, 32, torch::kFloat64)),
        law_({{1, mean_, torch::diag(lambda_)}}) {}

  double error(const IntegratorOptions& options, int64_t* evaluations = nullptr) const {
    const auto result = integrate(law_.field(process_), e_, options, kEnd);
    if (evaluations) *evaluations = result.evaluations;
    return relative_error(result.x, exact(e_));
  }

 private:
  static constexpr double kEnd = 0.05;  // where the velocities of all processes are smooth

  Tensor exact(const Tensor& e) const {
    const auto at = [&](double t) { return process_->at(torch::full({1}, t, torch::kFloat64)); };
    const auto begin = at(1), end = at(kEnd);
    const auto mean = mean_.view({1, 2, 4, 4}), lambda = lambda_.view({1, 2, 4, 4});
    const auto variance = [&](const Schedule& s) { return s.alpha.square() * lambda + s.sigma.square(); };
    return end.alpha * mean + (variance(end) / variance(begin)).sqrt() * (e - begin.alpha * mean);
  }

  ProcessPtr process_;
  Tensor mean_, lambda_, e_ = start();
  GaussianMixture law_;
};

class EveryFlow : public ::testing::TestWithParam<std::string> {
 protected:
  const GaussianFlow flow{GetParam()};
};

TEST_P(EveryFlow, EulerIsOfFirstOrderAndHeunOfSecond) {
  const auto order = [&](IntegratorKind kind) { return std::log2(flow.error({kind, 400}) / flow.error({kind, 800})); };
  EXPECT_NEAR(order(IntegratorKind::euler), 1, 0.1);
  EXPECT_NEAR(order(IntegratorKind::heun), 2, 0.1);
}

TEST_P(EveryFlow, HeunBeatsEulerAtTheSameNumberOfEvaluations) {
  EXPECT_LT(3 * flow.error({IntegratorKind::heun, 100}), flow.error({IntegratorKind::euler, 200}));
}

/// Errors follow the tolerance, and by order five ten times less error costs 10^(1/5) times the evaluations.
TEST_P(EveryFlow, AdaptiveMeetsItsTolerance) {
  int64_t coarse = 0, fine = 0;
  const double coarse_error = flow.error({IntegratorKind::adaptive, 0, 1e-5}, &coarse);
  const double fine_error = flow.error({IntegratorKind::adaptive, 0, 1e-9}, &fine);
  EXPECT_LT(coarse_error, 1e-4);
  EXPECT_LT(fine_error, 1e-8);
  const double order =
      std::log(coarse_error / fine_error) / std::log(static_cast<double>(fine) / static_cast<double>(coarse));
  EXPECT_GT(order, 4);
  EXPECT_LT(coarse, 200);
}

INSTANTIATE_TEST_SUITE_P(Registered, EveryFlow, ::testing::ValuesIn(process_registry().names()));

TEST(Integrator, CountsTheCallsOfTheVelocity) {
  for (const auto kind : {IntegratorKind::euler, IntegratorKind::heun, IntegratorKind::adaptive}) {
    int64_t calls = 0;
    const auto v = [&](const Tensor& x, const Tensor& t) {
      ++calls;
      return torch::sin(20 * t) * x;
    };
    const auto result = integrate(v, start(), {kind, 7, 1e-6});
    EXPECT_EQ(result.evaluations, calls);
    const int64_t expected = kind == IntegratorKind::euler  ? 7
                             : kind == IntegratorKind::heun ? 13
                                                            : 1 + 6 * (result.accepted + result.rejected);
    EXPECT_EQ(calls, expected);
  }
}

TEST(Integrator, AdaptiveRejectsStepsAtAKinkAndStillArrives) {
  const auto v = [](const Tensor& x, const Tensor& t) { return torch::ones_like(x) * (t > 0.5).to(x.dtype()) * 10; };
  const auto e = start();
  const auto result = integrate(v, e, {IntegratorKind::adaptive, 0, 1e-6});
  EXPECT_GT(result.rejected, 0);
  EXPECT_LT(relative_error(result.x, e - 5), 1e-4);
}

TEST(Integrator, HeunVisitsBothEndsButTheLastAndStartsAnywhere) {
  std::vector<double> visited;
  const auto v = [&](const Tensor& x, const Tensor& t) {
    visited.push_back(t.item<double>());
    return torch::zeros_like(x);
  };
  integrate(v, start(), {IntegratorKind::heun, 2}, 0.25, 0.75);
  EXPECT_EQ(visited, (std::vector<double>{0.75, 0.5, 0.5}));
}

TEST(Integrator, GradientFlowsThroughTheAdaptiveSteps) {
  const auto loss = [](const Tensor& e) {
    const auto v = [](const Tensor& x, const Tensor& t) { return torch::tanh(x) * (1 + t); };
    return integrate(v, e, {IntegratorKind::adaptive, 0, 1e-10}).x.pow(3).sum();
  };
  EXPECT_LT(gradient_error(loss, start()), 1e-6);
}

TEST(Integrator, RefusesWhatCannotWork) {
  const auto nan = [](const Tensor& x, const Tensor&) { return x * NAN; };
  EXPECT_ERROR(integrate(nan, start(), {IntegratorKind::adaptive}), ExitCode::numerics, "no step at t = 1");
  EXPECT_ERROR(integrate(growth, start(), {IntegratorKind::adaptive, 1, 0}), ExitCode::usage,
               "tolerance must be positive");
  EXPECT_ERROR(integrate(growth, start(), {}, 0.5, 0.5), ExitCode::usage, "must end below its begin");
  EXPECT_ERROR(integrate(growth, start(), {IntegratorKind::heun, 0}), ExitCode::usage, "needs at least one step");
  IntegratorKind kind{};
  EXPECT_ERROR(detail::read_value(json("hoin"), kind, "integrator"), ExitCode::usage, "did you mean 'heun'?");
}

}  // namespace
}  // namespace piddm
