#include "piddm/distill/regression.h"

#include "piddm/numerics/fast_poisson.h"
#include "tests/distill/gaussian.h"

namespace piddm {
namespace {

constexpr uint64_t kRegressionSeed = 31;
constexpr int64_t kChunk = 6;

/// A teacher's pairs, a student with other weights, and both terms of the loss computed by hand.
class RegressionTest : public ::testing::Test {
 protected:
  static PairOptions pair_options() { return {.steps = 3, .chunk = kChunk, .every = 4, .pool = 2, .held_out = 5}; }

  Regression objective(const StudentLossOptions& options, int64_t batch = kChunk) {
    return Regression(student_, model_, source_, options, batch, kRegressionSeed);
  }

  struct Terms {
    double sample, physics;
  };
  Terms terms_of(const Pairs& pairs) const {
    const torch::NoGradGuard no_grad;
    const auto x = student_(pairs.latents);
    const auto r = model_.pde->residual(model_.normalizer.to_physical(x)).fields[0].interior.to(torch::kFloat64) *
                   model_.pde->equations()[0].scale;
    return {(x - pairs.targets).to(torch::kFloat64).square().mean().item<double>(), r.square().mean().item<double>()};
  }
  Terms terms_of_chunks(int64_t first, int64_t last) {
    std::vector<Tensor> latents, targets;
    for (int64_t i = first; i <= last; ++i) {
      const auto chunk = source_.chunk(i);
      latents.push_back(chunk.latents), targets.push_back(chunk.targets);
    }
    return terms_of({torch::cat(latents), torch::cat(targets)});
  }

  static double total(const Loss& loss) { return loss.total.item<double>(); }

  testing::TempDir cache_;
  Model model_ = testing::tiny_student(testing::all_heads(), 2);
  Student student_{model_};
  PairSource source_{testing::tiny_teacher(1), kRegressionSeed, pair_options(), cache_.path()};
};

TEST_F(RegressionTest, AddsTheResidualWithARisingWeight) {
  auto loss = objective({.lambda = 3, .physics_ramp = 2});
  const auto expected = terms_of_chunks(0, 0);  // a batch is the whole first chunk
  ASSERT_GT(expected.physics, 0.01 * expected.sample);
  const std::vector<double> lambda = {0, 1.5, 3, 3};
  for (int64_t step = 0; step < 4; ++step) {
    const auto value = loss.loss(step);
    EXPECT_NEAR(total(value), expected.sample + lambda[step] * expected.physics, 1e-5 * total(value)) << step;
    EXPECT_EQ(value.terms[0].first, "sample");
    EXPECT_NEAR(value.terms[0].second.item<double>(), expected.sample, 1e-5 * expected.sample);
    EXPECT_EQ(value.terms[1].first, "pde_error");
    EXPECT_NEAR(value.terms[1].second.item<double>(), expected.physics, 1e-5 * expected.physics);
  }
}

// Two batches of one chunk each go through a pool of two chunks exactly once.
TEST_F(RegressionTest, TrainsOnTheNewestChunks) {
  auto loss = objective({.lambda = 0, .physics_ramp = 1});
  for (const int64_t window : {1, 2, 5}) {
    const double mean = (total(loss.loss(4 * window)) + total(loss.loss(4 * window + 1))) / 2;
    EXPECT_NEAR(mean, terms_of_chunks(window - 1, window).sample, 1e-5 * mean) << window;
    EXPECT_GT(std::abs(mean - terms_of_chunks(window, window).sample), 1e-4 * mean);
  }
}

TEST_F(RegressionTest, IsAFunctionOfTheStep) {
  auto first = objective({}, 4), second = objective({}, 4);
  std::vector<double> values;
  for (int64_t step = 0; step < 10; ++step) values.push_back(total(first.loss(step)));
  for (const int64_t step : {9, 2, 5}) EXPECT_EQ(total(second.loss(step)), values[step]);
  EXPECT_NE(values[0], values[1]);
}

TEST_F(RegressionTest, ValidatesWithTheFullWeightOnHeldOutPairs) {
  const auto expected = terms_of(source_.held_out());
  auto whole = objective({.lambda = 3, .physics_ramp = 1000});
  EXPECT_NEAR(whole.validate().value(), expected.sample + 3 * expected.physics, 1e-5 * expected.sample);
  auto sample = objective({.lambda = 3, .physics_ramp = 1000, .stop_on = StopOn::sample});
  EXPECT_NEAR(sample.validate().value(), expected.sample, 1e-5 * expected.sample);
}

TEST_F(RegressionTest, LambdaZeroIgnoresPhysics) {
  const auto gradient = [&](double lambda) {
    auto loss = objective({.lambda = lambda, .physics_ramp = 1});
    const auto value = loss.loss(2);
    EXPECT_GT(value.terms[1].second.item<double>(), 0);
    const auto parameters = model_.network->parameters();
    return std::pair{total(value) - value.terms[0].second.item<double>(),
                     torch::autograd::grad({value.total}, {parameters.front()})[0]};
  };
  const auto pairs = source_.chunk(0);
  const auto plain = torch::autograd::grad({(student_(pairs.latents) - pairs.targets).square().mean()},
                                           {model_.network->parameters().front()})[0];
  const auto [excess, without] = gradient(0);
  EXPECT_EQ(excess, 0);
  EXPECT_LT(testing::relative_error(without, plain), 1e-4);
  EXPECT_GT(testing::relative_error(gradient(10).second, plain), 1e-2);
}

TEST_F(RegressionTest, HuberCountsLargeErrorsLinearly) {
  const auto pairs = source_.chunk(0);
  const auto error = (student_(pairs.latents) - pairs.targets).detach().to(torch::kFloat64).abs();
  const auto term = [&](double c) { return total(objective({.lambda = 0, .huber = c}).loss(0)); };
  const double c = 0.3;
  const auto expected = (2 * c * ((error.square() + c * c).sqrt() - c)).mean().item<double>();
  EXPECT_NEAR(term(c), expected, 1e-5 * expected);
  const double linear = error.mean().item<double>(), square = error.square().mean().item<double>();
  EXPECT_NEAR(term(1e-4) / 2e-4, linear, 1e-2 * linear);
  EXPECT_NEAR(term(100), square, 1e-2 * square);
}

TEST_F(RegressionTest, SolutionWeightDividesTheSampleTermAmongTheChannels) {
  const auto pairs = source_.chunk(0);
  const auto error = (student_(pairs.latents) - pairs.targets).detach().to(torch::kFloat64).square();
  const double u = error.select(1, 0).mean().item<double>(), a = error.select(1, 1).mean().item<double>();
  const auto term = [&](double w) { return total(objective({.lambda = 0, .solution_weight = w}).loss(0)); };
  EXPECT_NEAR(term(1), (u + a) / 2, 1e-5 * (u + a));
  EXPECT_NEAR(term(4), (4 * u + a) / 5, 1e-5 * (u + a));
}

TEST_F(RegressionTest, PhysicsLooksAtFreshLatentsBesideThoseOfThePairs) {
  const auto paired = terms_of_chunks(0, 0);
  const auto fresh = Draws(model_, kRegressionSeed, kChunk / 2, 1).normal(1, 0);
  const auto elsewhere = terms_of({fresh, torch::zeros_like(fresh)}).physics;
  const auto value = objective({.lambda = 3, .fresh = 0.5, .physics_ramp = 1}).loss(1);
  const double expected = (2 * paired.physics + elsewhere) / 3;
  EXPECT_GT(std::abs(elsewhere - paired.physics), 1e-3 * paired.physics);
  EXPECT_NEAR(value.terms[0].second.item<double>(), paired.sample, 1e-5 * paired.sample);
  EXPECT_NEAR(value.terms[1].second.item<double>(), expected, 1e-5 * expected);
  EXPECT_NEAR(total(value), paired.sample + 3 * expected, 1e-5 * total(value));
}

TEST_F(RegressionTest, SpreadComparesTheDeviationsOfEachEntryOverTheBatch) {
  const auto pairs = source_.chunk(0);
  const auto deviation = [](const Tensor& x) { return x.detach().to(torch::kFloat64).std(0); };
  const auto expected = (deviation(student_(pairs.latents)) - deviation(pairs.targets)).square().mean().item<double>();
  const auto loss_of = [&](double spread) { return objective({.lambda = 0, .spread = spread}).loss(0); };
  const double excess = total(loss_of(5)) - total(loss_of(0));
  EXPECT_GT(expected, 0);
  EXPECT_NEAR(excess, 5 * expected, 1e-3 * excess);
}

TEST_F(RegressionTest, MeanCountsTheDifferenceInMeanOfEachEntry) {
  const auto pairs = source_.chunk(0);
  const auto mean = [](const Tensor& x) { return x.detach().to(torch::kFloat64).mean(0); };
  const auto expected = (mean(student_(pairs.latents)) - mean(pairs.targets)).square().mean().item<double>();
  const auto loss_of = [&](double weight) { return objective({.lambda = 0, .mean = weight}).loss(0); };
  const double excess = total(loss_of(5)) - total(loss_of(0));
  EXPECT_GT(expected, 0);
  EXPECT_NEAR(excess, 5 * expected, 1e-3 * excess);
}

TEST_F(RegressionTest, SpreadHasAGradientWhereAnEntryNeverVaries) {
  const torch::NoGradGuard no_grad;
  for (auto& parameter : model_.network->parameters()) parameter.zero_();  // every sample is the same
  const torch::AutoGradMode grad(true);
  const auto loss = objective({.lambda = 0, .spread = 5}).loss(0);
  for (const auto& gradient :
       torch::autograd::grad({loss.total}, model_.network->parameters(), {}, false, false, true)) {
    if (!gradient.defined()) continue;
    EXPECT_TRUE(gradient.isfinite().all().item<bool>());
  }
}

/// A student of Stokes flow: a scalar coefficient, and conditions at the edge.
class StokesRegression : public RegressionTest {
 protected:
  StokesRegression() {
    model_.pde = make_pde({.name = "stokes", .grid = testing::kTinyGrid});
    model_.normalizer = Normalizer::fit(model_.pde->sample(5, 0, 16), model_.pde->channels());
  }

  /// The physics part of the loss and its gradient in the latents' image: what each channel feels.
  std::pair<double, Tensor> physics(const StudentLossOptions& options) {
    const Student student(model_, {});
    Regression loss(student, model_, source_, options, kChunk, kRegressionSeed);
    const auto value = loss.loss(0);
    return {total(value) - value.terms[0].second.item<double>(),
            torch::autograd::grad({value.total}, {model_.network->named_parameters()["project2_bias"]})[0]};
  }
};

TEST_F(StokesRegression, BoundaryConditionsCountInUnitsOfTheSolution) {
  const Student student(model_, {});
  const torch::AutoGradMode grad(true);
  const auto x = model_.normalizer.to_physical(student(source_.chunk(0).latents)).detach();
  const double expected =
      model_.pde->residual(x).boundary.square().mean().item<double>() / std::pow(model_.normalizer.std(0), 2);
  const auto [value, gradient] = physics({.lambda = 0, .boundary = 3, .physics_ramp = 0});
  EXPECT_NEAR(value, 3 * expected, 1e-4 * value);
}

// project2_bias shifts the two output channels: with frozen coefficients the physics terms leave the second alone.
TEST_F(StokesRegression, FrozenCoefficientsFeelNoPhysics) {
  const auto gradient = [&](double weight, bool freeze) {
    return physics({.lambda = 10 * weight, .boundary = weight, .freeze_coefficients = freeze, .physics_ramp = 0})
        .second;
  };
  const auto plain = gradient(0, false), free = gradient(1, false), frozen = gradient(1, true);
  EXPECT_GT(std::abs((free - plain)[1].item<double>()), 1e-4);
  EXPECT_LT(std::abs((frozen - plain)[1].item<double>()), 1e-6);
  EXPECT_NEAR((frozen - free)[0].item<double>(), 0, 1e-5 * std::abs(free[0].item<double>()));
}

TEST_F(RegressionTest, DynamicWeightHoldsTheTermAtItsTarget) {
  const double target = 1e-4, memory = 0.99;
  auto loss = objective({.lambda = 3, .physics_ramp = 0, .residual_target = target}, 2);
  ASSERT_TRUE(loss.keeps_state());
  double sum = 0, weight = 0;
  for (int64_t step = 0; step < 4; ++step) {
    const auto value = loss.loss(step);
    const double residual = value.terms[1].second.item<double>(), sample = value.terms[0].second.item<double>();
    const double mean = step == 0 ? residual : sum / weight;
    EXPECT_NEAR((total(value) - sample) / (3 * target * residual / mean), 1, 1e-2)
        << step;  // a small part of the total
    const auto gradient = torch::autograd::grad({value.total}, {model_.network->parameters().front()})[0];
    EXPECT_TRUE(all_finite(gradient));
    loss.advance(step);
    sum = memory * sum + (1 - memory) * residual, weight = memory * weight + (1 - memory);
  }
}

TEST_F(RegressionTest, ProjectedGradientsKeepTheValueOfTheLoss) {
  const StudentLossOptions plain{.lambda = 30, .physics_ramp = 0};
  auto projected = plain;
  projected.gradients = GradientRule::project;
  const auto parameters = model_.network->parameters();
  const auto gradient = [&](const StudentLossOptions& options) {
    auto loss = objective(options);
    const auto value = loss.loss(0);
    std::vector<Tensor> flat;
    for (const auto& g : torch::autograd::grad({value.total}, parameters)) flat.push_back(g.flatten());
    return std::pair{total(value), torch::cat(flat)};
  };
  auto only_sample = plain;
  only_sample.lambda = 0;
  const auto [sum_value, sum] = gradient(plain);
  const auto [value, combined] = gradient(projected);
  const auto g = gradient(only_sample).second, h = sum - g;
  EXPECT_NEAR(value, sum_value, 1e-5 * sum_value);
  const double dot = g.dot(h).item<double>();
  const auto expected =
      dot >= 0 ? sum : sum - h * (dot / h.dot(h).item<double>()) - g * (dot / g.dot(g).item<double>());
  EXPECT_LT(testing::relative_error(combined, expected), 1e-3);
  EXPECT_GT(combined.dot(g).item<double>(), -1e-4 * g.dot(g).item<double>());
}

// Pointwise Gaussian pairs are an affine map of the latent, and the affine student must find it.
TEST(GaussianRegression, FindsTheOptimalLinearStudent) {
  const testing::TempDir folder;
  const auto teacher = testing::gaussian_teacher("linear");
  const auto model = testing::affine_student(teacher);
  const Student student(model);
  PairSource pairs(teacher, kRegressionSeed, {.steps = 60, .chunk = 16, .every = 400, .pool = 1, .held_out = 4},
                   folder / "pairs");
  Regression objective(student, model, pairs, {.lambda = 0}, 16, kRegressionSeed);
  testing::train_quickly(*model.network, objective, 300, 0.03, folder / "run");
  const auto [offset, slope] = testing::end_of_euler(teacher, 60);
  const auto found = testing::affine_parameters(model);
  EXPECT_LT(testing::relative_error(found.first, offset), 1e-3);
  EXPECT_LT(testing::relative_error(found.second, slope), 1e-3);
  EXPECT_LT(testing::relative_error(slope.flatten(), torch::tensor(testing::kStd)), 0.05);  // Euler's own error
}

// Darcy's fast solver is that of the mean coefficient 6. project2_bias shifts the output channels: the second one, the
// coefficient, feels nothing.
TEST_F(RegressionTest, TheErrorTermIsTheSolversAndMovesTheSolutionOnly) {
  const Student student(model_, {});
  const auto gradient = [&](double weight, double* excess = nullptr) {
    Regression loss(student, model_, source_, {.lambda = 0, .error = weight, .physics_ramp = 0}, kChunk,
                    kRegressionSeed);
    const auto value = loss.loss(0);
    if (excess) *excess = total(value) - value.terms[0].second.item<double>();
    return torch::autograd::grad({value.total}, {model_.network->named_parameters()["project2_bias"]})[0];
  };
  double excess = 0;
  const auto with = gradient(2, &excess), without = gradient(0);
  const torch::NoGradGuard no_grad;
  const auto x = model_.normalizer.to_physical(student(source_.chunk(0).latents)).to(torch::kFloat64);
  const auto error = FastPoisson(testing::kTinyGrid).solve(model_.pde->residual(x).fields[0].interior, 6);
  EXPECT_NEAR(excess, 2 * error.square().mean().item<double>() / std::pow(model_.normalizer.std(0), 2), 1e-4 * excess);
  EXPECT_GT(std::abs((with - without)[0].item<double>()), 1e-3 * std::abs(without[0].item<double>()));
  EXPECT_LT(std::abs((with - without)[1].item<double>()), 1e-6 * with.abs().max().item<double>());
}

TEST_F(StokesRegression, TheErrorTermNeedsAFastSolver) {
  EXPECT_ERROR(physics({.error = 1}), ExitCode::usage, "distill.loss.error: stokes has no fast solver");
}

TEST_F(RegressionTest, IsSteadyOnceNoNumberComesFromTheHost) {
  struct Seen : Regression {
    using Regression::Regression;
    using Regression::steady;
  };
  const auto seen = [&](const StudentLossOptions& options) {
    return Seen(student_, model_, source_, options, kChunk, kRegressionSeed);
  };
  auto plain = seen({.physics_ramp = 3});
  EXPECT_FALSE(plain.steady(2));
  EXPECT_TRUE(plain.steady(3));
  plain.oppose(std::make_unique<Adversary>(source_.held_out().targets, AdversaryOptions{.weight = 1, .width = 4}, 6, 9,
                                           kRegressionSeed));
  EXPECT_FALSE(plain.steady(5));
  EXPECT_TRUE(plain.steady(6));
  EXPECT_FALSE(plain.capturable(6));  // not on a CPU
  EXPECT_FALSE(seen({.physics_ramp = 0, .residual_target = 1e-4}).steady(9));
  EXPECT_FALSE(seen({.physics_ramp = 0, .gradients = GradientRule::project}).steady(9));
}

TEST_F(RegressionTest, RefusesSenselessWeights) {
  EXPECT_ERROR(objective({.solution_weight = 0}), ExitCode::usage, "distill.loss.solution_weight");
  EXPECT_ERROR(objective({.lambda = -1}), ExitCode::usage, "distill.loss.lambda");
  EXPECT_ERROR(objective({.boundary = -1}), ExitCode::usage, "distill.loss.boundary");
  EXPECT_ERROR(objective({.error = -1}), ExitCode::usage, "distill.loss.error");
  EXPECT_ERROR(objective({.fresh = -1}), ExitCode::usage, "distill.loss.fresh");
  EXPECT_ERROR(objective({.spread = -1}), ExitCode::usage, "distill.loss.spread");
  EXPECT_ERROR(objective({.mean = -1}), ExitCode::usage, "distill.loss.mean");
  EXPECT_ERROR(objective({.physics_ramp = -1}), ExitCode::usage,
               "distill.loss.physics_ramp: must not be negative, got -1");
  EXPECT_ERROR(objective({.residual_target = -1}), ExitCode::usage, "distill.loss.residual_target");
}

}  // namespace
}  // namespace piddm
