#include "piddm/experiment/train_posterior.h"

#include "piddm/core/toml_text.h"
#include "piddm/solve/methods/registry.h"
#include "tests/testing.h"
#include "tests/tiny.h"

namespace piddm {
namespace {

using testing::TempDir;

Experiment tiny_posterior_experiment() {
  return parse_experiment(parse_toml(R"(
kind = "posterior"
pde = { name = "darcy", grid = 16 }
data = { n = 8 }
model = { type = "fno", width = 4, modes = [4, 4], layers = 2, lifting = 8, projection = 8, time_features = 4 }
[posterior]
heads = { bounded = true, sharp = true }
[train]
steps = 6
batch = 2
checkpoint_every = 2
)",
                                     "tiny"));
}

Model trained(const Experiment& experiment, const std::filesystem::path& out, bool resume = false) {
  return train_experiment(experiment, training_data(experiment), out, torch::kCPU, resume);
}

void expect_same_weights(const Model& a, const Model& b) {
  for (size_t i = 0; i < a.network->parameters().size(); ++i)
    EXPECT_TRUE(torch::equal(a.network->parameters()[i], b.network->parameters()[i])) << i;
}

TEST(TrainPosterior, LeavesAModelThatSolvesByItself) {
  const TempDir folder;
  const auto experiment = tiny_posterior_experiment();
  const auto model = trained(experiment, folder / "run");
  const auto loaded = load_model(folder / "run");
  EXPECT_EQ(loaded.kind, ModelKind::posterior);
  EXPECT_TRUE(loaded.heads.sharp);
  EXPECT_EQ(write_fields(loaded.draw), write_fields(experiment.posterior.draw));
  EXPECT_GT(loaded.training.seconds, 0);
  EXPECT_EQ(loaded.provenance.at("steps"), 6);
  EXPECT_TRUE(std::filesystem::exists(folder / "run" / "curves.png"));
  const auto x = make_method(default_method(loaded), Task::generate, loaded, json::object())->generate(0, 3, 1).x;
  EXPECT_TRUE((x.select(1, 1) == 3).logical_or(x.select(1, 1) == 12).all().item<bool>());  // sharp in use
}

TEST(TrainPosterior, EndsInTheSameBitsWhenItIsInterrupted) {
  for (const bool fresh : {false, true}) {
    const TempDir folder;
    auto experiment = tiny_posterior_experiment();
    experiment.posterior.fresh = fresh;
    experiment.train.schedule = ScheduleKind::constant;
    const auto unbroken = trained(experiment, folder / "unbroken");
    auto shorter = experiment;
    shorter.train.steps = 3;
    trained(shorter, folder / "run");
    expect_same_weights(trained(experiment, folder / "run", true), unbroken);
    EXPECT_ERROR(trained(experiment, folder / "run"), ExitCode::usage, "already holds a run");
  }
}

TEST(TrainPosterior, DoesNotContinueAnotherRun) {
  const TempDir folder;
  const auto experiment = tiny_posterior_experiment();
  trained(experiment, folder / "run");
  auto other = experiment;
  other.posterior.loss.lambda = 1;
  EXPECT_ERROR(trained(other, folder / "run", true), ExitCode::usage, "begun with posterior.loss.lambda");
  other = experiment;
  other.kind = ModelKind::teacher;
  EXPECT_ERROR(trained(other, folder / "run", true), ExitCode::usage, "holds the run of a posterior");
}

TEST(TrainPosterior, RefusesOptionsThatDoNotGoTogetherBeforeThereIsARun) {
  const TempDir folder;
  auto config = write_fields(tiny_posterior_experiment());
  config["kind"] = "student";
  EXPECT_ERROR(parse_experiment(config), ExitCode::usage, "piddm distill");
  config["kind"] = "posterior";
  config["posterior"]["loss"]["draws"] = 1;
  EXPECT_ERROR(parse_experiment(config), ExitCode::usage, "posterior.loss.draws");
  config["posterior"]["loss"]["draws"] = 2;
  config["posterior"]["observe"]["fewest"] = 3000;
  EXPECT_ERROR(parse_experiment(config), ExitCode::usage, "posterior.observe.fewest");
  auto experiment = tiny_posterior_experiment();
  experiment.posterior.heads.band_limited = true;
  EXPECT_ERROR(trained(experiment, folder / "run"), ExitCode::usage, "heads.band_limited");
  experiment = tiny_posterior_experiment();
  experiment.model = {{"type", "ffno"}};
  EXPECT_ERROR(trained(experiment, folder / "run"), ExitCode::usage, "choose fno");
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
}

/// Poisson on 16x16 from 20 exact values of u.
Experiment poisson_experiment() {
  return parse_experiment(parse_toml(R"(
kind = "posterior"
pde = { name = "poisson", grid = 16 }
data = { n = 256 }
model = { type = "fno", width = 16, modes = [8, 8], layers = 3, lifting = 32, projection = 32, time_features = 4, skip = 3 }
[posterior]
fresh = true
heads = { constrained = true }
observe = { forward = 0, reconstruct = 0, nothing = 0, whole = 0, trace = 0, fewest = 20, most = 20, exact = 1 }
[train]
steps = 400
batch = 16
adam = { lr = 8e-3, ema = 0.98 }
)",
                                     "poisson"));
}

// Exact values of 20 points of u settle the broad shape of u and little of a. What is reached in seconds: the mean's
// error exceeds that of the exact posterior mean by the share below, and the spread is as large as the error.
TEST(TrainPosterior, FindsMeanAndSpreadOfTheExactGaussianPosterior) {
  constexpr int64_t kCases = 32, kDraws = 32;
  const TempDir folder;
  const auto experiment = poisson_experiment();
  const auto model = trained(experiment, folder / "run");
  const auto truth = model.pde->sample(0, kHeldOutFirst, kCases);
  const auto observation = observe(Task::inverse, truth, *model.pde, 3, {.points = 20});
  const auto z = [&](const Tensor& x) { return model.normalizer.to_network(x.to(torch::kFloat64)); };
  const auto answer = [&](const std::string& method, const json& options, uint64_t seed) {
    return z(make_method(method, Task::inverse, model, options)->solve(observation, seed).x);
  };
  const auto exact = answer("classical", {{"estimate", "mean"}}, 0);
  std::vector<Tensor> draws, exact_draws;
  for (int64_t k = 0; k < kDraws; ++k) {
    draws.push_back(answer("amortised", json::object(), static_cast<uint64_t>(k)));
    exact_draws.push_back(answer("classical", {{"estimate", "draw"}}, static_cast<uint64_t>(k)));
  }
  const auto members = torch::stack(draws), exact_members = torch::stack(exact_draws);
  const auto mean_square = [](const Tensor& x) { return x.square().mean({0, 2, 3}); };
  const auto error = mean_square(members.mean(0) - z(truth)), least = mean_square(exact - z(truth));
  const auto spread = members.var(0, true).mean({0, 2, 3}), exact_spread = exact_members.var(0, true).mean({0, 2, 3});
  for (int64_t c = 0; c < 2; ++c) {
    const auto at = [&](const Tensor& x) { return x[c].item<double>(); };
    std::cout << c << " error " << at(error) << " least " << at(least) << " spread " << at(spread) << " exact "
              << at(exact_spread) << "\n";
  }
}

}  // namespace
}  // namespace piddm
