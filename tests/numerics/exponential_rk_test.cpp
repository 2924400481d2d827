#include "piddm/numerics/exponential_rk.h"

#include <cmath>

#include "tests/testing.h"

namespace piddm {
namespace {

using piddm::testing::gradient_error;
using piddm::testing::relative_error;

/// phi_k(z) = int_0^1 exp((1-s) z) s^(k-1)/(k-1)! ds by Gauss-Legendre on many panels, in long double.
double phi_by_quadrature(int k, double z) {
  constexpr long double kNode = 0.77459666924148337703585L;
  constexpr int kPanels = 20000;
  long double sum = 0;
  for (int i = 0; i < kPanels; ++i)
    for (const auto& [node, weight] : {std::pair{-kNode, 5.0L / 18}, {0.0L, 8.0L / 18}, {kNode, 5.0L / 18}}) {
      const long double s = (i + 0.5L + node / 2) / kPanels;
      const long double factor = k == 1 ? 1 : k == 2 ? s : s * s / 2;
      sum += weight / kPanels * std::exp((1 - s) * z) * factor;
    }
  return static_cast<double>(sum);
}

TEST(PhiFunctions, MatchTheirIntegrals) {
  for (const double z : {0.0, -1e-9, -1e-3, -0.5, -0.999, -1.0, -1.001, -3.0, -40.0, -1000.0}) {
    const Tensor phi = phi_functions(torch::full({1}, z, torch::kFloat64));
    for (const int k : {1, 2, 3}) {
      const double expected = phi_by_quadrature(k, z);
      EXPECT_NEAR(phi[k - 1].item<double>() / expected, 1, 1e-13) << "phi_" << k << "(" << z << ")";
    }
  }
}

TEST(ExponentialRk4, IsExactForLinearProblems) {
  const Tensor rates = -torch::tensor({0.0, 0.3, 7.0, 4000.0}, torch::kFloat64);
  const ExponentialRk4 method(rates, 0.25);
  const Tensor v = torch::randn({3, 4}, torch::kComplexDouble), forcing = torch::randn({4}, torch::kComplexDouble);
  const Tensor free = method.step(v, [](const Tensor& x) { return torch::zeros_like(x); });
  EXPECT_LT(relative_error(torch::view_as_real(free), torch::view_as_real(v * torch::exp(rates * 0.25))), 1e-14);
  const ExponentialRk4 narrow = method.to(torch::kCPU, torch::kComplexFloat);
  const Tensor single = narrow.step(v.to(torch::kComplexFloat), [](const Tensor& x) { return torch::zeros_like(x); });
  EXPECT_LT(relative_error(torch::view_as_real(single), torch::view_as_real(free)), 1e-6);
  const Tensor forced = method.step(v, [&](const Tensor& x) { return forcing.expand_as(x); });
  const Tensor expected = v * torch::exp(rates * 0.25) + forcing * phi_functions(rates * 0.25)[0] * 0.25;
  EXPECT_LT(relative_error(torch::view_as_real(forced), torch::view_as_real(expected)), 1e-13);
}

/// Error at t = 1 of v' = -v/2 + v^2/4 with complex v, whose solution is v0 e^(-t/2) / (1 - v0 (1 - e^(-t/2))/2).
double logistic_error(int64_t steps) {
  const Tensor start =
      torch::complex(torch::tensor({0.8, -1.1}, torch::kFloat64), torch::tensor({0.4, 0.7}, torch::kFloat64));
  const ExponentialRk4 method(torch::full({2}, -0.5, torch::kFloat64), 1.0 / static_cast<double>(steps));
  Tensor v = start;
  for (int64_t i = 0; i < steps; ++i) v = method.step(v, [](const Tensor& x) { return x * x / 4; });
  const double decay = std::exp(-0.5);
  const Tensor exact = start * decay / (1 - start * ((1 - decay) / 2));
  return relative_error(torch::view_as_real(v), torch::view_as_real(exact));
}

TEST(ExponentialRk4, HasOrderFour) {
  for (const int64_t steps : {4, 8, 16})
    EXPECT_NEAR(std::log2(logistic_error(steps) / logistic_error(2 * steps)), 4, 0.25) << steps;
}

TEST(ExponentialRk4, IsDifferentiable) {
  const ExponentialRk4 method(-torch::arange(5, torch::kFloat64), 0.1);
  const Tensor x = torch::randn({5, 2}, torch::kFloat64);
  const auto loss = [&](const Tensor& pairs) {
    const Tensor v = method.step(torch::view_as_complex(pairs.contiguous()), [](const Tensor& w) { return w * w; });
    return torch::view_as_real(v).pow(2).sum();
  };
  EXPECT_LT(gradient_error(loss, x), 1e-7);
}

}  // namespace
}  // namespace piddm
