#include "piddm/solve/methods/direct.h"

#include "piddm/pde/poisson.h"
#include "tests/solve/methods/small_model.h"
#include "tests/testing.h"

namespace piddm {
namespace {

constexpr int64_t kGrid = 8, kEntries = 2 * kGrid * kGrid;

Model poisson_model() { return testing::small_model(std::make_shared<Poisson>(PdeOptions{"poisson", kGrid})); }

/// J and h(0) of the equations of a linear PDE, in network units.
struct Dense {
  Tensor j, offset;
  explicit Dense(const Model& model) {
    const EquationRows rows(model.pde, model.normalizer);
    const auto zero = torch::zeros({1, 2, kGrid, kGrid}, torch::kFloat64);
    offset = rows(zero).flatten();
    j = testing::dense_matrix([&](const Tensor& z) { return rows(z) - rows(zero); }, {2, kGrid, kGrid});
  }
};

Tensor network_solution(const Model& model, const Observation& observation, const DirectOptions& options) {
  return model.normalizer.to_network(DirectMethod(model, options).solve(observation, 0).x);
}

// Of all fields that meet equation and observations, the one nearest to the mean field: z = y + (J over the unknown)^+
// (-h(y)).
TEST(Direct, FindsTheSmallestFieldThatMeetsEverything) {
  const auto model = poisson_model();
  const Dense dense(model);
  const auto observation = observe(Task::reconstruct, model.pde->sample(7, 0, 1), *model.pde, 3, 0.3);
  const auto mask = observation.mask.flatten(),
             known = mask * model.normalizer.to_network(observation.values).flatten();
  const auto over_unknown = dense.j * (1 - mask);
  const auto expected = known - torch::linalg_pinv(over_unknown, 1e-9).mv(dense.j.mv(known) + dense.offset);
  for (const bool precondition : {true, false}) {
    DirectOptions options;
    options.iterations = 3000;
    options.precondition = precondition;
    const auto z = network_solution(model, observation, options).flatten();
    EXPECT_LT(testing::relative_error(z, expected), precondition ? 1e-4 : 5e-4) << precondition;
    EXPECT_LT(testing::relative_error(mask * z, known), 1e-12) << precondition;
  }
}

// Noisy values: the minimum of a quadratic, from its normal equations.
TEST(Direct, WeighsNoisyValuesAsTheNormalEquationsDo) {
  const auto model = poisson_model();
  const Dense dense(model);
  auto observation = observe(Task::reconstruct, model.pde->sample(7, 0, 1), *model.pde, 3, 0.5);
  observation.sigma = 0.2 * uniform(1, Stream::splits, 0, 1, {2, kGrid, kGrid}, torch::kFloat64);
  observation.sigma.select(1, 0).mul_(model.normalizer.scale(0));
  const auto target = make_target(observation, model, "test", torch::kFloat64);
  DirectOptions options;
  options.iterations = 3000;
  options.precondition = false;
  options.lambda = 0.3;
  options.ridge = 0.01;
  const EquationRows rows(model.pde, model.normalizer);
  const double unit = LinearizedRows(rows, torch::zeros_like(target.values), torch::ones_like(target.values))
                          .mean_square_row()
                          .item<double>();
  const int64_t inside = (kGrid - 2) * (kGrid - 2), edge = dense.j.size(0) - inside;
  const auto row_weight = torch::cat({torch::full({inside}, options.lambda / (unit * inside), torch::kFloat64),
                                      torch::full({edge}, options.lambda / edge, torch::kFloat64)});
  const auto value_weight = target.weight.flatten() / target.mask.sum();
  const auto weighted_rows = dense.j.t() * row_weight;
  const auto hessian = torch::diag(value_weight + options.ridge / kEntries) + weighted_rows.mm(dense.j);
  const auto right = value_weight * target.values.flatten() - weighted_rows.mv(dense.offset);
  const auto expected = torch::linalg_solve(hessian, right.unsqueeze(1)).squeeze(1);
  EXPECT_LT(testing::relative_error(network_solution(model, observation, options).flatten(), expected), 1e-5);
}

TEST(Direct, SolvesForwardAndInverseProblemsExactly) {
  for (const std::string name : {"poisson", "helmholtz", "darcy"}) {
    const auto model = testing::small_model(make_pde({.name = name, .grid = 16}));
    const auto truth = model.pde->sample(7, 0, 2);
    const auto forward = DirectMethod(model, {}).solve(observe(Task::forward, truth, *model.pde, 1), 0).x;
    EXPECT_LT(testing::relative_error(model.pde->solution(forward), model.pde->solution(truth)), 1e-5) << name;
    EXPECT_TRUE(torch::allclose(model.pde->coefficients(forward), model.pde->coefficients(truth), 1e-12)) << name;
    const auto inverse = DirectMethod(model, {}).solve(observe(Task::inverse, truth, *model.pde, 1), 0).x;
    auto wrong = truth.clone();
    model.pde->solution(wrong).mul_(0.5);
    EXPECT_LT(model.pde->pde_error(inverse).max().item<double>(),
              1e-8 * model.pde->pde_error(wrong).min().item<double>())
        << name;
  }
}

TEST(Direct, CountsNoNetworkAndDoesNotDependOnTheBatch) {
  const auto model = testing::tiny_teacher();
  const auto observation = observe(Task::reconstruct, testing::tiny_data(3), *model.pde, 3);
  DirectOptions options;
  options.iterations = 20;
  const auto together = DirectMethod(model, options).solve(observation, 0);
  EXPECT_EQ(together.nfe, 0);
  EXPECT_EQ(together.backward, 0);
  options.batch = 2;
  EXPECT_LT(testing::relative_error(DirectMethod(model, options).solve(observation, 0).x, together.x), 1e-9);
  EXPECT_LT(model.pde->pde_error(DirectMethod(model, options).solve(observation, 0).x).mean().item<double>(),
            model.pde
                ->pde_error(model.normalizer.to_physical(
                    make_target(observation, model, "", torch::kFloat64).mixed(torch::zeros_like(together.x))))
                .mean()
                .item<double>());
}

TEST(Direct, RefusesToGenerateAndSenselessOptions) {
  const auto model = testing::tiny_student();
  EXPECT_ERROR(DirectMethod(model, {}).generate(0, 1, 0), ExitCode::usage, "knows no law to draw from");
  EXPECT_NE(DirectMethod::refusal(Task::generate, *model.pde), "");
  EXPECT_EQ(DirectMethod::refusal(Task::inverse, *model.pde), "");
  DirectOptions options;
  options.iterations = 0;
  EXPECT_ERROR(DirectMethod(model, options), ExitCode::usage, "iterations");
}

TEST(Direct, RefusesCoefficientsForWhichThereIsNoEquation) {
  const auto model = testing::tiny_teacher();
  auto x = testing::tiny_data(2);
  x[1].select(0, 1).fill_(-3);
  EXPECT_ERROR(DirectMethod(model, {}).solve(observe(Task::forward, x, *model.pde, 0), 0), ExitCode::data,
               "[direct] inadmissible coefficients: sample 1, a = -3");
}

}  // namespace
}  // namespace piddm
