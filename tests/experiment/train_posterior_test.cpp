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

}  // namespace
}  // namespace piddm
