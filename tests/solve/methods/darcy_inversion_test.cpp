#include "piddm/solve/methods/darcy_inversion.h"

#include "piddm/solve/methods/classical.h"
#include "tests/solve/methods/small_model.h"
#include "tests/testing.h"

namespace piddm {
namespace {

constexpr double kWidth = 0.5;

struct Toy {
  Darcy pde{PdeOptions{"darcy", 8}};
  DarcyInversion inversion{pde, 4e-3};
  Tensor truth = pde.sample(7, 0, 2);
  NoisyValues data{truth, (uniform(1, Stream::splits, 0, 2, {2, 8, 8}, torch::kFloat64) < 0.5).to(torch::kFloat64) *
                              torch::tensor({1e6, 1.0}, torch::kFloat64).view({1, 2, 1, 1})};
  Tensor xi = normal(2, Stream::splits, 0, 2, {1, 8, 8}, torch::kFloat64);
  Tensor direction = normal(3, Stream::splits, 0, 2, {1, 8, 8}, torch::kFloat64);

  DarcyInversion::State at(double step) const { return inversion.evaluate(xi + step * direction, data, kWidth); }
};

TEST(DarcyInversion, TheAdjointGradientIsExact) {
  const Toy toy;
  const double step = 1e-4;
  const auto slope = (toy.at(step).value - toy.at(-step).value).flatten() / (2 * step);
  const auto exact = (toy.at(0).gradient * toy.direction).sum({1, 2, 3});
  EXPECT_LT(testing::relative_error(exact, slope), 1e-5);
}

// d (I + J^T W J) d = |d|^2 + |W^(1/2) J d|^2, J d by central differences.
TEST(DarcyInversion, TheHessianIsThatOfGaussNewton) {
  const Toy toy;
  const double step = 1e-4;
  const auto fields = [&](double s) { return torch::cat({toy.at(s).u, toy.at(s).a}, 1); };
  const auto moved = (fields(step) - fields(-step)) / (2 * step);
  const auto expected = (toy.direction.square().sum({1, 2, 3})) + (toy.data.precision * moved.square()).sum({1, 2, 3});
  const auto product = toy.inversion.hessian(toy.at(0), toy.data.precision, toy.direction);
  EXPECT_LT(testing::relative_error((product * toy.direction).sum({1, 2, 3}), expected), 1e-5);
}

double wrong_cells(const Tensor& x, const Tensor& truth) {
  return ((x.select(1, 1) > 7.5) != (truth.select(1, 1) > 7.5)).to(torch::kFloat64).mean().item<double>();
}

TEST(DarcyInversion, FindsTheCoefficientFromTheSolution) {
  const auto model = testing::small_model(make_pde({.name = "darcy", .grid = 16}));
  const auto truth = model.pde->sample(7, 0, 4);
  const auto inverse = ClassicalMethod(model, {}).solve(observe(Task::inverse, truth, *model.pde, 1), 0).x;
  EXPECT_LT(wrong_cells(inverse, truth), 0.05);
  EXPECT_LT(testing::relative_error(inverse.select(1, 0), truth.select(1, 0)), 0.03);
  EXPECT_LT(model.pde->pde_error(inverse).max().item<double>(), 1e-15);
  const auto values = inverse.select(1, 1);
  EXPECT_TRUE(((values == 3) | (values == 12)).all().item<bool>());
}

TEST(DarcyInversion, ReconstructsFromAFewValuesAndKeepsThem) {
  const auto model = testing::small_model(make_pde({.name = "darcy", .grid = 16}));
  const auto truth = model.pde->sample(7, 0, 4);
  const auto observation = observe(Task::reconstruct, truth, *model.pde, 1, 0.3);
  const auto x = ClassicalMethod(model, {}).solve(observation, 0).x;
  EXPECT_EQ((observation.mask * (x - truth)).select(1, 1).abs().max().item<double>(), 0);
  EXPECT_LT(wrong_cells(x, truth), 0.1);
  EXPECT_LT(testing::relative_error(x.select(1, 0), truth.select(1, 0)), 0.05);
}

}  // namespace
}  // namespace piddm
