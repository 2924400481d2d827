#include <numeric>

#include "piddm/posterior/posterior_objective.h"
#include "tests/posterior/tiny_posterior.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using testing::tiny_posterior;

constexpr int64_t kBatch = 3;

Tensor samples(const Model& model, int64_t n = 8) {
  return model.normalizer.to_network(testing::tiny_data(n)).to(torch::kFloat32);
}

Loss loss_of(const Model& model, const PosteriorOptions& options, int64_t step) {
  const PosteriorStudent student(model);
  return PosteriorObjective(student, model, pool_of(samples(model), kBatch, 4), options, 4).loss(step);
}

double term(const Loss& loss, const std::string& name) {
  for (const auto& [key, value] : loss.terms)
    if (key == name) return value.item<double>();
  ADD_FAILURE() << "no term " << name;
  return NAN;
}

TEST(PosteriorObjective, IsTheWeightedScoreAndThePhysicsOfItsRamp) {
  PosteriorOptions options;
  options.loss = {.draws = 3, .solution_weight = 3, .lambda = 0.5, .physics_ramp = 10};
  for (const auto& [step, share] : {std::pair<int64_t, double>{0, 0}, {5, 0.5}, {25, 1}}) {
    const auto loss = loss_of(tiny_posterior(), options, step);
    const double score = (1.5 * term(loss, "crps_u") + 0.5 * term(loss, "crps_a")) / 2;
    EXPECT_NEAR(loss.total.item<double>(), score + share * 0.5 * term(loss, "pde_error"), 1e-5) << step;
  }
}

TEST(PosteriorObjective, IsAFunctionOfWeightsAndStepOnly) {
  const auto model = tiny_posterior();
  const double first = loss_of(model, {}, 7).total.item<double>();
  EXPECT_EQ(loss_of(model, {}, 7).total.item<double>(), first);
  EXPECT_NE(loss_of(model, {}, 8).total.item<double>(), first);
}

TEST(PosteriorObjective, ScoresFinalDrawsInWhichExactValuesHaveNoError) {
  PosteriorOptions options;
  auto& law = options.observe;
  law.forward = law.reconstruct = law.nothing = 0;
  law.whole = law.exact = 1;
  law.trace = 0;
  const auto loss = loss_of(tiny_posterior(), options, 0);
  EXPECT_EQ(term(loss, "crps_u"), 0);
  EXPECT_GT(term(loss, "crps_a"), 0);
}

TEST(PosteriorObjective, WithFrozenCoefficientsPhysicsMovesTheSolutionOnly) {
  const auto gradient_of_last_layer = [](bool frozen) {
    const auto model = tiny_posterior();
    PosteriorOptions options;
    options.observe.forward = options.observe.inverse = options.observe.reconstruct = 0;
    options.loss = {.lambda = 1e6, .freeze_coefficients = frozen, .physics_ramp = 0};
    loss_of(model, options, 0).total.backward();
    for (const auto& p : model.network->named_parameters())
      if (p.key() == "project2_weight") return p.value().grad().abs().sum(1) / 1e6;
    throw std::logic_error("no last layer");
  };
  EXPECT_GT(gradient_of_last_layer(false)[1].item<double>(), 1e-3);
  EXPECT_LT(gradient_of_last_layer(true)[1].item<double>(), 1e-5);
  EXPECT_GT(gradient_of_last_layer(true)[0].item<double>(), 1e-3);
}

TEST(SampleSource, DrawsNewSamplesOfTheLawAtEveryStep) {
  const auto model = tiny_posterior();
  const auto source = fresh_samples(model, kBatch, 5);
  EXPECT_TRUE(source(2).equal(fresh_samples(model, kBatch, 5)(2)));
  EXPECT_FALSE(source(2).equal(source(3)));
  EXPECT_FALSE(source(0).equal(samples(model, kBatch)));  // the same seed's first
  const auto residual = model.pde->pde_error(model.normalizer.to_physical(source(0)).to(torch::kFloat64));
  EXPECT_LT(residual.max().item<double>(), 1e-6);
}

TEST(PosteriorStudent, KeepsTheWallsThatItsHeadsImpose) {
  HeadOptions heads;
  heads.smooth = heads.bounded = true;
  const auto model = tiny_posterior(heads);
  const PosteriorStudent student(model);
  const torch::NoGradGuard no_grad;
  const auto x = model.normalizer.to_physical(student(student.noise(1, Stream::latents, 0, 2), student.images({}, 2)));
  EXPECT_GE(x.select(1, 1).min().item<double>(), 3);
  EXPECT_LE(x.select(1, 1).max().item<double>(), 12);
  const auto edge = x.select(1, 0).select(1, 0).abs().max().item<double>();
  EXPECT_LT(edge, 0.5 * x.select(1, 0).abs().max().item<double>());
}

TEST(PosteriorStudent, RefusesWhatDoesNotGoTogether) {
  HeadOptions limited;
  limited.band_limited = true;
  EXPECT_THROW(PosteriorStudent{tiny_posterior(limited)}, UsageError);
  auto model = tiny_posterior();
  model.draw.smooth = 3;
  EXPECT_THROW(PosteriorStudent{model}, UsageError);
  model.draw = {.smooth = 0, .white = 0};
  EXPECT_THROW(PosteriorStudent{model}, UsageError);
  EXPECT_THROW(network_from({{"type", "unet"}}, 2, 1, 4), UsageError);
}

}  // namespace
}  // namespace piddm
