#include "piddm/distill/conflict_free.h"

#include "tests/testing.h"

namespace piddm {
namespace {

/// The gradient of the conflict-free sum of g.w and h.w, w held in two parameters.
Tensor combined(const Tensor& g, const Tensor& h) {
  const auto first = torch::tensor({0.3}, torch::dtype(torch::kFloat64).requires_grad(true)),
             second = torch::tensor({-2.0, 5.0}, torch::dtype(torch::kFloat64).requires_grad(true));
  const auto w = torch::cat({first, second});
  const auto loss = conflict_free_sum((g * w).sum(), (h * w).sum(), {first, second});
  EXPECT_NEAR(loss.item<double>(), ((g + h) * w).sum().item<double>(), 1e-12);
  const auto parts = torch::autograd::grad({loss}, {first, second});
  return torch::cat({parts[0], parts[1]});
}

Tensor vector(double a, double b, double c) { return torch::tensor({a, b, c}, torch::kFloat64); }

TEST(ConflictFree, AddsGradientsThatAgree) {
  EXPECT_TRUE(torch::allclose(combined(vector(1, 2, 0), vector(3, 0, -4)), vector(4, 2, -4)));
  EXPECT_TRUE(torch::allclose(combined(vector(1, 0, 0), vector(0, 2, 0)), vector(1, 2, 0)));
}

// The angle counts over all parameters together: the first entries alone agree.
TEST(ConflictFree, RemovesFromEachWhatTheOtherMinds) {
  const auto g = vector(1, 2, 0), h = vector(1, -3, 1);  // g.h = -5
  const auto expected = g + h * (5.0 / 11) + h + g * (5.0 / 5);
  const auto found = combined(g, h);
  EXPECT_TRUE(torch::allclose(found, expected));
  EXPECT_GE(found.dot(g).item<double>(), 0);
  EXPECT_GE(found.dot(h).item<double>(), 0);
}

TEST(ConflictFree, OppositeGradientsCancel) {
  EXPECT_LT(combined(vector(1, -2, 2), vector(-2, 4, -4)).abs().max().item<double>(), 1e-12);
  EXPECT_TRUE(torch::allclose(combined(vector(0, 0, 0), vector(1, 1, 1)), vector(1, 1, 1)));
}

TEST(ConflictFree, AParameterOneLossDoesNotUseCountsAsZero) {
  const auto p = torch::tensor({1.0, 2.0}, torch::dtype(torch::kFloat64).requires_grad(true)),
             q = torch::tensor({3.0}, torch::dtype(torch::kFloat64).requires_grad(true));
  const auto loss = conflict_free_sum(p.sum(), (2 * q).sum(), {p, q});
  const auto gradient = torch::autograd::grad({loss}, {p, q});
  EXPECT_TRUE(torch::allclose(gradient[0], torch::ones({2}, torch::kFloat64)));
  EXPECT_TRUE(torch::allclose(gradient[1], torch::full({1}, 2.0, torch::kFloat64)));
}

}  // namespace
}  // namespace piddm
