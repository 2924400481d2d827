#pragma once
// Gradients of a scalar with respect to the parameters of a module.

#include "tests/testing.h"

namespace piddm::testing {

/// Largest relative deviation between autograd and central differences of `loss` in random directions of the parameter
/// (float64).
inline double parameter_gradient_error(const std::function<Tensor()>& loss, const Tensor& parameter, int probes = 5,
                                       double step = 1e-5) {
  const auto gradient = torch::autograd::grad({loss()}, {parameter})[0];
  const torch::NoGradGuard no_grad;
  const auto original = parameter.clone();
  double worst = 0;
  for (int i = 0; i < probes; ++i) {
    const auto direction = torch::randn_like(original);
    parameter.copy_(original + step * direction);
    const double plus = loss().item<double>();
    parameter.copy_(original - step * direction);
    const double minus = loss().item<double>(), exact = (gradient * direction).sum().item<double>();
    worst = std::max(worst, std::abs((plus - minus) / (2 * step) - exact) / std::max(1e-12, std::abs(exact)));
  }
  parameter.copy_(original);
  return worst;
}

}  // namespace piddm::testing
