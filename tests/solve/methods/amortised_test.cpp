#include "piddm/solve/methods/amortised.h"

#include "piddm/model/grid_transfer.h"
#include "piddm/solve/methods/registry.h"
#include "tests/posterior/tiny_posterior.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using testing::TempDir;
using testing::tiny_posterior;

constexpr int64_t kCases = 5;

Observation sparse(double sigma = 0) {
  auto observation = observe(Task::reconstruct, testing::tiny_data(kCases), *testing::tiny_pde(), 3, {.points = 12});
  if (sigma > 0) observation.sigma = torch::full_like(observation.mask, sigma);
  return observation;
}

Tensor solved(const Observation& observation, const json& options = json::object(), uint64_t seed = 2) {
  const auto model = tiny_posterior();
  return make_method("amortised", Task::reconstruct, model, options)->solve(observation, seed).x;
}

TEST(Amortised, IsTheMethodOfAPosteriorAndTakesOneEvaluation) {
  const auto model = tiny_posterior();
  EXPECT_EQ(default_method(model), "amortised");
  const auto method = make_method("amortised", Task::inverse, model, json::object());
  const auto samples = method->solve(sparse(), 2);
  EXPECT_EQ(samples.nfe, 1);
  EXPECT_EQ(samples.backward, 0);
  EXPECT_EQ(method->generate(0, 4, 1).nfe, 1);
}

TEST(Amortised, ReturnsExactValuesAsTheyAreAndNoisyOnesNot) {
  const auto observation = sparse();
  const auto off = [&](const Tensor& x) {
    return ((x - observation.values) * observation.mask).abs().flatten(2).amax(2).amax(0);
  };
  const auto exact = off(solved(observation)), soft = off(solved(observation, {{"hard", false}})),
             noisy = off(solved(sparse(1e-4)));
  EXPECT_LT(exact[0].item<double>(), 1e-7);  // u is of order 0.01
  EXPECT_LT(exact[1].item<double>(), 1e-5);
  for (int64_t c = 0; c < 2; ++c) {
    EXPECT_GT(soft[c].item<double>(), 1e-3);
    EXPECT_GT(noisy[c].item<double>(), 1e-3);
  }
}

TEST(Amortised, GivesTheSameBitsForAnyBatches) {
  const auto all = solved(sparse(), {{"batch", kCases}});
  for (const int64_t batch : {1, 2, 3}) EXPECT_TRUE(all.equal(solved(sparse(), {{"batch", batch}}))) << batch;
}

TEST(Amortised, AnswersEachCaseByItsOwnDataAndNumberAlone) {
  auto observation = sparse();
  const auto before = solved(observation);
  observation.mask[0].zero_();
  observation.values[0].zero_();
  const auto after = solved(observation);
  EXPECT_FALSE(before[0].equal(after[0]));
  EXPECT_TRUE(before.narrow(0, 1, kCases - 1).equal(after.narrow(0, 1, kCases - 1)));
}

TEST(Amortised, DrawsDifferForTheSameData) {
  auto observation = sparse();
  for (auto* x : {&observation.values, &observation.mask}) *x = x->narrow(0, 0, 1).repeat({kCases, 1, 1, 1});
  const auto draws = solved(observation);
  for (int64_t i = 1; i < kCases; ++i) EXPECT_FALSE(draws[0].equal(draws[i]));
  EXPECT_TRUE(draws.equal(solved(observation)));
  EXPECT_FALSE(draws.equal(solved(observation, json::object(), 3)));
}

TEST(Amortised, AveragesAsManyDrawsAsItIsTold) {
  const auto model = tiny_posterior();
  const auto observation = sparse();
  const auto method = make_method("amortised", Task::reconstruct, model, {{"average", 200}});
  const auto mean = method->solve(observation, 2);
  EXPECT_EQ(mean.nfe, 200);
  const auto other = solved(observation, {{"average", 200}}, 3);
  const auto distance = [&](const Tensor& x, const Tensor& y) {
    return (x - y).select(1, 1).square().mean().item<double>();
  };
  // Means of 200 are 200 times nearer to each other than draws.
  const double draws = distance(solved(observation), solved(observation, json::object(), 3));
  EXPECT_NEAR(distance(mean.x, other) / draws, 1.0 / 200, 0.5 / 200);
}

TEST(Amortised, GeneratesAsIfNothingWereKnown) {
  const auto model = tiny_posterior();
  const auto method = make_method("amortised", Task::generate, model, json::object());
  const auto all = method->generate(0, 6, 9).x;
  EXPECT_TRUE(all.narrow(0, 2, 3).equal(method->generate(2, 3, 9).x));
}

TEST(Amortised, TakesAUselessValueForNone) {
  auto observation = sparse();
  observation.mask = torch::zeros_like(observation.mask);
  observation.mask.select(2, 7).select(2, 7).fill_(1);
  observation.sigma = torch::full_like(observation.mask, 1e9);
  const auto useless = solved(observation);
  observation.mask.zero_();
  observation.sigma = Tensor();
  EXPECT_TRUE(torch::allclose(useless, solved(observation), 1e-4, 1e-7));
}

TEST(Amortised, ComesBackFromItsFolder) {
  const TempDir folder;
  const auto model = tiny_posterior();
  save_model(folder / "model", model);
  const auto again = load_model(folder / "model");
  EXPECT_EQ(again.kind, ModelKind::posterior);
  EXPECT_EQ(write_fields(again.draw), write_fields(model.draw));
  const auto x = [](const Model& m) {
    return make_method("amortised", Task::generate, m, json::object())->generate(0, 2, 1).x;
  };
  EXPECT_TRUE(x(model).equal(x(again)));
  EXPECT_TRUE(x(model).equal(x(clone_model(model))));
}

TEST(Amortised, RefusesOtherModelsOtherGridsAndBadObservations) {
  const auto make = [](const Model& model, const std::string& name) {
    make_method(name, Task::inverse, model, json::object());
  };
  EXPECT_THROW(make(testing::tiny_teacher(), "amortised"), UsageError);
  EXPECT_THROW(make(testing::tiny_student(), "amortised"), UsageError);
  EXPECT_THROW(make(tiny_posterior(), "piddm"), UsageError);
  EXPECT_THROW(make(tiny_posterior(), "teacher"), UsageError);
  EXPECT_THROW(on_grid(tiny_posterior(), 32), UsageError);
  EXPECT_THROW(solved(sparse(), {{"average", 0}}), UsageError);
  EXPECT_THROW(solved(sparse(), {{"hardly", true}}), UsageError);
  auto observation = sparse(1e-3);
  observation.sigma[0][0].fill_(-1);
  EXPECT_THROW(solved(observation), DataError);
  observation.sigma[0][0].fill_(NAN);
  EXPECT_THROW(solved(observation), DataError);
  observation = sparse();
  observation.values.masked_fill_(observation.mask > 0, INFINITY);
  EXPECT_THROW(solved(observation), DataError);
}

}  // namespace
}  // namespace piddm
