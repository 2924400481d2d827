#include <fstream>

#include "piddm/core/interrupt.h"
#include "piddm/model/weights.h"
#include "piddm/train/flow_matching.h"
#include "piddm/train/trainer.h"
#include "tests/testing.h"
#include "tests/tiny.h"
#include "tests/train/toy.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kSteps = 14;

struct Outage {};

/// Flow matching of a tiny network with a held-out loss, cut off before step `cut`.
class Cut : public Objective {
 public:
  Cut(const Model& model, int64_t cut)
      : cut_(cut),
        flow_(*model.network, model.process, model.normalizer.to_network(testing::tiny_data(8)).to(torch::kFloat32), 3,
              9) {}
  Loss loss(int64_t step) override {
    if (step == cut_) throw Outage();
    return flow_.loss(step);
  }
  std::optional<double> validate() override {
    const torch::NoGradGuard no_grad;
    return flow_.loss(100).total.item<double>();
  }

 private:
  int64_t cut_;
  FlowMatching flow_;
};

TrainOptions options_of_runs() {
  auto options = testing::toy_options(kSteps);
  options.adam.ema = 0.7;
  options.checkpoint_every = 4;
  options.validate_every = 3;
  return options;
}

struct Result {
  TensorMap weights;
  TrainSummary summary;
  std::vector<json> rows;
  std::map<std::string, TensorMap> state;
};

Result finish(const fs::path& folder, int64_t cut) {
  const auto model = testing::tiny_teacher();
  auto run = fs::exists(folder) ? RunFolder::open(folder) : RunFolder::create(folder, json::object());
  Cut objective(model, cut);
  Result result;
  result.summary = train(*model.network, objective, options_of_runs(), run, "run");
  result.weights = weights_of(*model.network);
  result.rows = RunFolder::read_metrics(folder);
  for (auto& row : result.rows) row.erase("seconds");
  result.state = run.checkpoints(2).load(kSteps).parts;
  return result;
}

void expect_equal(const TensorMap& a, const TensorMap& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, value] : a) EXPECT_TRUE(torch::equal(value, b.at(name))) << name;
}

TEST(Resume, EndsInTheSameBitsAsTheUnbrokenRun) {
  const testing::TempDir folder;
  const auto unbroken = finish(folder / "unbroken", -1);
  ASSERT_EQ(unbroken.rows.size(), static_cast<size_t>(kSteps + kSteps / 3));
  for (const std::vector<int64_t>& cuts : {std::vector<int64_t>{2}, {4}, {7}, {13}, {6, 6, 9, 11}}) {
    const auto run = folder / fmt::format("cut-{}-{}", cuts[0], cuts.size());
    for (const int64_t cut : cuts) EXPECT_THROW(finish(run, cut), Outage);
    const auto resumed = finish(run, -1);
    expect_equal(resumed.weights, unbroken.weights);
    EXPECT_EQ(resumed.rows, unbroken.rows);
    EXPECT_EQ(resumed.summary.best_step, unbroken.summary.best_step);
    EXPECT_EQ(resumed.summary.last_loss, unbroken.summary.last_loss);
    ASSERT_EQ(resumed.state.size(), 5U);
    for (const auto& [part, tensors] : resumed.state) expect_equal(tensors, unbroken.state.at(part));
  }
}

TEST(Resume, OfAFinishedRunChangesNothing) {
  const testing::TempDir folder;
  const auto once = finish(folder / "run", -1), twice = finish(folder / "run", 0);
  expect_equal(twice.weights, once.weights);
  EXPECT_EQ(twice.rows, once.rows);
}

TEST(Resume, DeletesTheCheckpointsThatAKillAtTheEndLeft) {
  const testing::TempDir folder;
  finish(folder / "run", -1);
  const CheckpointStore store(folder / "run" / "checkpoints", 2);
  const auto kept = store.steps();
  fs::copy(folder / "run/checkpoints/step-12", folder / "run/checkpoints/step-8");
  finish(folder / "run", -1);
  EXPECT_EQ(store.steps(), kept);
}

TEST(Resume, RefusesADamagedCheckpoint) {
  const testing::TempDir folder;
  EXPECT_THROW(finish(folder / "run", 9), Outage);
  const auto file = folder / "run" / "checkpoints" / "step-8" / "exp_avg.safetensors";
  auto bytes = testing::read_text(file);
  bytes[bytes.size() / 2] ^= 1;
  testing::write_text(file, bytes);
  EXPECT_ERROR(finish(folder / "run", -1), ExitCode::data, "exp_avg.safetensors: damaged");
  EXPECT_ERROR(finish(folder / "run", -1), ExitCode::data, "step 4 is intact");
  bytes.resize(bytes.size() / 2);
  testing::write_text(file, bytes);
  EXPECT_ERROR(finish(folder / "run", -1), ExitCode::data, "exp_avg.safetensors: damaged");
}

TEST(Resume, RefusesTheCheckpointOfAnotherNetwork) {
  const testing::TempDir folder;
  {
    testing::ToyModule module;
    testing::ToyObjective objective(module);
    auto run = RunFolder::create(folder / "run", json::object());
    train(module, objective, testing::toy_options(4), run, "toy");
  }
  EXPECT_ERROR(finish(folder / "run", -1), ExitCode::data, "is missing");
}

// An objective that works for long (pairs of a teacher) notices the signal itself; the state is saved all the same.
TEST(Resume, AnInterruptInsideTheLossSavesACheckpoint) {
  const testing::TempDir folder;
  testing::ToyModule module;
  testing::ToyObjective objective(module);
  objective.disturb = [](int64_t step, Loss&) {
    if (step == 6) throw Interrupted("interrupted while {}", "sampling");
  };
  auto run = RunFolder::create(folder / "run", json::object());
  EXPECT_ERROR(train(module, objective, testing::toy_options(9), run, "toy"), ExitCode::interrupted,
               "interrupted at step 6");
  EXPECT_EQ(run.checkpoints(2).latest(), std::optional<int64_t>(6));
}

// Held-out pairs are made when they are first asked for. The moving average is the network's weights meanwhile.
TEST(Resume, AnInterruptInsideTheHeldOutLossSavesACheckpoint) {
  const testing::TempDir folder;
  auto options = testing::toy_options(9);
  options.validate_every = 6, options.checkpoint_every = 100, options.adam.ema = 0.9;
  const auto run_to_end = [&](const char* name, bool interrupted) {
    testing::ToyModule module;
    testing::ToyObjective objective(module);
    objective.held_out = [&]() -> double {
      if (interrupted) throw Interrupted("interrupted while {}", "sampling");
      return module.first.sum().item<double>();
    };
    auto run = RunFolder::exists(folder / name) ? RunFolder::open(folder / name)
                                                : RunFolder::create(folder / name, json::object());
    train(module, objective, options, run, "toy");
    return std::pair(module.first.detach().clone(), RunFolder::read_metrics(folder / name).size());
  };
  EXPECT_ERROR(run_to_end("run", true), ExitCode::interrupted, "interrupted at step 6");
  const auto resumed = run_to_end("run", false), unbroken = run_to_end("other", false);
  EXPECT_TRUE(torch::equal(resumed.first, unbroken.first));
  EXPECT_EQ(resumed.second, unbroken.second);
}

}  // namespace
}  // namespace piddm
