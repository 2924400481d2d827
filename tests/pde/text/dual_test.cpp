// Values with their derivatives: every operation against central differences and against autograd.

#include "piddm/pde/text/dual.h"

#include "piddm/language/expression.h"
#include "tests/pde/text/texts.h"

namespace piddm {
namespace {

using testing::largest;
using testing::numbers;
using testing::relative_error;

const std::vector<std::string> kNames = {
    "+",    "-",   "*",   "/",   "^",   "<",    ">",    "<=",   ">=",   "min",  "max",      "exp",  "log",
    "sqrt", "abs", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sign", "step", "harmonic", "where"};

/// Arguments away from 0 and from each other; of `where` the condition is one of 0 and 1.
std::vector<Tensor> arguments_of(const std::string& name) {
  const auto count = arguments_of_operation(name).second;
  std::vector<Tensor> out;
  for (int i = 0; i < count; ++i) out.push_back(numbers({3, 4}, 0.4 * i).abs() * 0.3 + 0.6 + 0.05 * i);
  if (name == "where") out[0] = (numbers({3, 4}) > 0).to(torch::kFloat64);
  return out;
}

std::vector<Dual> duals(const std::vector<Tensor>& values, const std::vector<Tensor>& tangents) {
  std::vector<Dual> out;
  for (size_t i = 0; i < values.size(); ++i) out.push_back({values[i], tangents[i]});
  return out;
}

std::vector<Tensor> directions(const std::vector<Tensor>& values, const std::string& name) {
  std::vector<Tensor> out;
  for (size_t i = 0; i < values.size(); ++i) {
    out.push_back(numbers({3, 4}, 2.0 + static_cast<double>(i)));
    if (name == "where" && i == 0) out.back().zero_();
  }
  return out;
}

TEST(Dual, EveryOperationHasTheDerivativeOfCentralDifferences) {
  for (const auto& name : kNames) {
    const auto values = arguments_of(name), along = directions(values, name);
    const auto shifted = [&](double step) {
      std::vector<Dual> out;
      for (size_t i = 0; i < values.size(); ++i) out.push_back({values[i] + step * along[i]});
      return apply_operation(name, out).value;
    };
    constexpr double kStep = 1e-6;
    const Tensor numeric = (shifted(kStep) - shifted(-kStep)) / (2 * kStep);
    const Dual out = apply_operation(name, duals(values, along));
    const Tensor tangent = out.tangent.defined() ? out.tangent : torch::zeros_like(out.value);
    EXPECT_LT(largest(tangent - numeric), 1e-8) << name;
  }
}

TEST(Dual, AutogradAgreesThroughValues) {
  for (const auto& name : kNames) {
    auto values = arguments_of(name);
    const auto along = directions(values, name);
    const Dual out = apply_operation(name, duals(values, along));
    for (auto& value : values) value.requires_grad_(true);
    std::vector<Dual> plain;
    for (const auto& value : values) plain.push_back({value});
    const Tensor y = apply_operation(name, plain).value;
    Tensor product = torch::zeros_like(y);
    if (y.requires_grad()) {
      const auto gradients = torch::autograd::grad({y.sum()}, {values.begin(), values.end()}, {}, {}, false, true);
      for (size_t i = 0; i < values.size(); ++i)
        if (gradients[i].defined()) product = product + gradients[i] * along[i];
    }
    const Tensor tangent = out.tangent.defined() ? out.tangent : torch::zeros_like(product);
    EXPECT_LT(largest(tangent - product), 1e-13) << name;
  }
}

TEST(Dual, WholePowersOfNegativeNumbersAreExact) {
  const Tensor x = torch::tensor({-2.0, -1.0, 0.0, 3.0}, torch::kFloat64);
  const auto power = [&](double n) {
    return apply_operation("^", {{x, torch::ones_like(x)}, {torch::full({}, n, torch::kFloat64)}});
  };
  EXPECT_TRUE(torch::equal(power(3).value, x * x * x));
  EXPECT_TRUE(torch::equal(power(3).tangent, 3 * x * x));
  EXPECT_TRUE(torch::equal(power(1).tangent, torch::ones_like(x)));
  EXPECT_TRUE(torch::equal(power(0).tangent, torch::zeros_like(x)));
  EXPECT_DOUBLE_EQ(power(-2).value[0].item<double>(), 0.25);
}

TEST(Dual, HarmonicMeanOfTwoZerosIsZero) {
  const Tensor a = torch::tensor({3.0, 0.0}, torch::kFloat64), b = torch::tensor({12.0, 0.0}, torch::kFloat64);
  const Dual mean = harmonic_mean({a, torch::ones_like(a)}, {b});
  EXPECT_DOUBLE_EQ(mean.value[0].item<double>(), 4.8);
  EXPECT_DOUBLE_EQ(mean.value[1].item<double>(), 0);
  EXPECT_NEAR(mean.tangent[0].item<double>(), 2.0 * 12 * 12 / (15.0 * 15), 1e-15);
  EXPECT_TRUE(std::isfinite(mean.tangent[1].item<double>()));
}

TEST(Dual, PartsAndJoinsCarrySeveralDirectionsAndConstants) {
  const Tensor value = numbers({2, 5}), tangent = numbers({3, 2, 5}, 1);
  const Dual x = {value, tangent}, constant = {torch::full({1, 1}, 7.0, torch::kFloat64)};
  const Dual part = narrow(x, -1, 1, 3);
  EXPECT_TRUE(torch::equal(part.value, value.narrow(1, 1, 3)));
  EXPECT_TRUE(torch::equal(part.tangent, tangent.narrow(2, 1, 3)));
  EXPECT_TRUE(torch::equal(narrow(constant, -1, 4, 1).value, constant.value));
  const Dual joined = concatenate({part, constant}, -1);
  EXPECT_EQ(joined.value.sizes(), torch::IntArrayRef({2, 4}));
  EXPECT_EQ(joined.tangent.sizes(), torch::IntArrayRef({3, 2, 4}));
  EXPECT_EQ(largest(joined.value.narrow(1, 3, 1) - 7), 0);
  EXPECT_EQ(largest(joined.tangent.narrow(2, 3, 1)), 0);
}

}  // namespace
}  // namespace piddm
