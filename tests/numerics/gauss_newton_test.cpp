#include "piddm/numerics/gauss_newton.h"

#include <cmath>

#include "piddm/core/rng.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using testing::relative_error;

Tensor draw(int64_t first, int64_t count, const std::vector<int64_t>& shape) {
  return normal(4, Stream::noise, first, count, shape, torch::kFloat64);
}

Tensor apply(const Tensor& a, const Tensor& x) { return torch::bmm(a, x.unsqueeze(2)).squeeze(2); }

/// A x - b, one system a sample.
RowFunction linear_rows(const Tensor& a, const Tensor& b) {
  return [a, b](const Tensor& x, const Tensor& rows) {
    return apply(a.index_select(0, rows), x) - b.index_select(0, rows);
  };
}

/// (1 - x, 10 (y - x^2)): the Rosenbrock function as a sum of squares.
Tensor valley(const Tensor& x, const Tensor&) {
  const auto a = x.select(1, 0), b = x.select(1, 1);
  return torch::stack({1 - a, 10 * (b - a.square())}, 1);
}

Tensor valley_starts() { return torch::tensor({{-1.2, 1.0}, {2.0, -3.0}, {0.0, 5.0}, {1.1, 1.2}}, torch::kFloat64); }

/// One iteration with K directions and nearly no damping.
GaussNewtonOptions one_iteration(int64_t directions) {
  return {.evaluations = 3 + directions, .directions = directions, .damping = 1e-13};
}

TEST(GaussNewton, SolvesLinearLeastSquaresInOneIteration) {
  const auto a = draw(0, 3, {9, 6}), b = draw(10, 3, {9}), x0 = draw(20, 3, {6});
  const auto result = minimize_gauss_newton(linear_rows(a, b), x0, one_iteration(6));
  const auto expected = apply(torch::linalg_pinv(a), b);
  EXPECT_LT(relative_error(result.x, expected), 1e-9);
  EXPECT_LT(relative_error(result.value, (apply(a, expected) - b).square().sum(1)), 1e-9);
  EXPECT_TRUE((result.iterations == 1).all().item<bool>());
  EXPECT_EQ(result.tangents, 3 * 6);
}

// Fewer equations than unknowns: of all solutions the one nearest to the start.
TEST(GaussNewton, ChangesNoMoreThanTheEquationsAskFor) {
  const auto a = draw(0, 2, {4, 8}), b = draw(10, 2, {4}), x0 = draw(20, 2, {8});
  const auto result = minimize_gauss_newton(linear_rows(a, b), x0, one_iteration(8));
  EXPECT_LT(relative_error(result.x, x0 + apply(torch::linalg_pinv(a), b - apply(a, x0))), 1e-8);
  EXPECT_LT(result.value.max().item<double>(), 1e-15);
}

// K directions are K steps of conjugate gradients on J^T J s = -J^T f, here spelled out.
TEST(GaussNewton, TruncationIsConjugateGradients) {
  const auto a = draw(0, 1, {12, 10}), b = draw(10, 1, {12}), x0 = draw(20, 1, {10});
  const auto m = torch::bmm(a.transpose(1, 2), a);
  auto s = torch::zeros_like(x0), r = -apply(a.transpose(1, 2), apply(a, x0) - b), p = r;
  for (int64_t k = 1; k <= 5; ++k) {
    const auto mp = apply(m, p);
    const auto alpha = (r * r).sum() / (p * mp).sum();
    const auto next = r - alpha * mp;
    s = s + alpha * p;
    p = next + (next * next).sum() / (r * r).sum() * p;
    r = next;
    EXPECT_LT(relative_error(minimize_gauss_newton(linear_rows(a, b), x0, one_iteration(k)).x, x0 + s), 1e-8) << k;
  }
}

// On a linear problem the smaller of the two dampings is the better one: d/4.
TEST(GaussNewton, DampsAsLevenbergAndMarquardt) {
  const auto a = draw(0, 2, {9, 5}), b = draw(10, 2, {9}), x0 = draw(20, 2, {5});
  auto options = one_iteration(5);
  options.damping = 0.7;
  const auto result = minimize_gauss_newton(linear_rows(a, b), x0, options);
  const auto f = apply(a, x0) - b, g = apply(a.transpose(1, 2), f);
  const auto v = g / g.norm(2, 1, true);
  const auto mu = (0.7 / 4) * apply(a, v).square().sum(1).view({2, 1, 1});
  const auto damped = torch::bmm(a.transpose(1, 2), a) + mu * torch::eye(5, torch::kFloat64);
  EXPECT_LT(relative_error(result.x, x0 - apply(torch::linalg_inv(damped), g)), 1e-7);
}

TEST(GaussNewton, FindsTheMinimumOfACurvedProblem) {
  for (const auto products : {JacobianProduct::exact, JacobianProduct::difference}) {
    const auto result = minimize_gauss_newton(
        valley, valley_starts(), {.evaluations = 200, .directions = 2, .damping = 1e-2, .products = products});
    EXPECT_LT((result.x - 1).abs().max().item<double>(), 1e-7);
    EXPECT_LT(result.value.max().item<double>(), 1e-14);
  }
}

TEST(GaussNewton, SamplesThatHaveConvergedLeaveAndChangeNoOther) {
  const GaussNewtonOptions options{.evaluations = 200, .directions = 2, .damping = 1e-2, .tolerance = 1e-3};
  const auto flat = [](const Tensor& x, const Tensor& rows) {  // row 3 has a floor of 1, and so ends early
    return torch::cat({valley(x, rows), (rows == 3).to(x.dtype()).unsqueeze(1)}, 1);
  };
  int64_t fewest = 4;
  const auto watched = [&](const Tensor& x, const Tensor& rows) {
    fewest = std::min(fewest, x.size(0));
    return flat(x, rows);
  };
  const auto together = minimize_gauss_newton(watched, valley_starts(), options);
  EXPECT_LT(fewest, 4);
  EXPECT_LT(together.evaluations[3].item<int64_t>(), together.evaluations.max().item<int64_t>());
  EXPECT_TRUE(together.converged[3].item<bool>());
  for (int64_t i = 0; i < 4; ++i) {
    const auto only = [&](const Tensor& x, const Tensor& rows) { return flat(x, rows + i); };
    const auto alone = minimize_gauss_newton(only, valley_starts().narrow(0, i, 1), options);
    EXPECT_LT((alone.x[0] - together.x[i]).abs().max().item<double>(), 1e-12) << i;
    EXPECT_EQ(alone.iterations[0].item<int64_t>(), together.iterations[i].item<int64_t>()) << i;
  }
}

TEST(GaussNewton, KeepsItsBudget) {
  for (const auto products : {JacobianProduct::exact, JacobianProduct::difference})
    for (const int64_t budget : {1, 4, 6, 13, 50}) {
      int64_t calls = 0;
      const auto counted = [&](const Tensor& x, const Tensor& rows) {
        ++calls;
        return valley(x, rows);
      };
      const auto result = minimize_gauss_newton(counted, valley_starts().narrow(0, 0, 1),
                                                {.evaluations = budget, .directions = 2, .products = products});
      EXPECT_EQ(calls + result.tangents, result.evaluations.item<int64_t>()) << budget;
      EXPECT_LE(calls + result.tangents, budget);
      if (budget > 13 || products == JacobianProduct::difference) continue;
      EXPECT_GE(calls + result.tangents, budget - 3);
    }
}

TEST(GaussNewton, ValuesNeverRiseAndBelongToThePoint) {
  const auto x0 = valley_starts();
  auto before = valley(x0, {}).square().sum(1);
  for (const int64_t budget : {1, 5, 10, 20, 40}) {
    const auto result = minimize_gauss_newton(valley, x0, {.evaluations = budget, .directions = 2});
    EXPECT_LT(relative_error(valley(result.x, {}).square().sum(1), result.value), 1e-14);
    EXPECT_TRUE((result.value <= before).all().item<bool>()) << budget;
    before = result.value;
  }
}

TEST(GaussNewton, AStartThatIsNotFiniteStaysAndHarmsNoOther) {
  auto x0 = valley_starts();
  const GaussNewtonOptions options{.evaluations = 60, .directions = 2};
  const auto expected = minimize_gauss_newton(valley, x0, options);
  x0[1] = NAN;
  const auto result = minimize_gauss_newton(valley, x0, options);
  EXPECT_TRUE(std::isnan(result.value[1].item<double>()));
  EXPECT_FALSE(result.converged[1].item<bool>());
  for (const int64_t i : {0, 2, 3}) EXPECT_LT((result.x[i] - expected.x[i]).abs().max().item<double>(), 1e-9) << i;
}

TEST(GaussNewton, EndsAtAStationaryPoint) {
  const auto result = minimize_gauss_newton(valley, torch::ones({2, 2}, torch::kFloat64), {});
  EXPECT_TRUE(result.converged.all().item<bool>());
  EXPECT_TRUE((result.evaluations == 1).all().item<bool>());
}

TEST(GaussNewton, WorksInSinglePrecisionOnEveryDevice) {
  std::vector<torch::Device> devices = {torch::kCPU};
  if (torch::cuda::is_available()) devices.emplace_back(torch::kCUDA);
  const auto a = draw(0, 3, {40, 30}), b = draw(10, 3, {40}), expected = apply(torch::linalg_pinv(a), b);
  for (const auto device : devices)
    for (const auto products : {JacobianProduct::exact, JacobianProduct::difference}) {
      const auto f = linear_rows(a.to(device, torch::kFloat32), b.to(device, torch::kFloat32));
      const auto x0 = draw(20, 3, {30}).to(device, torch::kFloat32);
      const auto result = minimize_gauss_newton(f, x0, {.evaluations = 200, .directions = 30, .products = products});
      EXPECT_EQ(result.x.device().type(), device.type());
      EXPECT_EQ(result.value.device().type(), torch::kCPU);
      EXPECT_LT(relative_error(result.x.cpu(), expected), 1e-3);
    }
}

TEST(GaussNewton, RefusesSenselessOptions) {
  EXPECT_ERROR(minimize_gauss_newton(valley, valley_starts(), {.directions = 0}), ExitCode::usage, "directions");
  EXPECT_ERROR(minimize_gauss_newton(valley, valley_starts(), {.damping = 0}), ExitCode::usage, "damping");
}

}  // namespace
}  // namespace piddm
