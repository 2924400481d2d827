// kill -9 at any instant, Ctrl-C: the run continues and ends in the same bits as the unbroken one.

#include <signal.h>

#include <chrono>
#include <random>
#include <thread>

#include "piddm/files/run_folder.h"
#include "piddm/files/sha256.h"
#include "tests/cli/workshop.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;
using testing::Arguments;
using testing::Child;
using testing::Workshop;

constexpr int kKills = 6;

Arguments train_command(const fs::path& out) {
  const auto& shop = Workshop::get();
  return {"train", shop.config(),     "--data", shop.at("data.npz"),        "--out", out.string(),       "--quiet",
          "--set", "train.steps=120", "--set",  "train.checkpoint_every=1", "--set", "train.log_every=1"};
}

Arguments distill_command(const fs::path& out) {
  return {"distill",
          "--teacher",
          Workshop::get().at("teacher"),
          "--out",
          out.string(),
          "--quiet",
          "--set",
          "distill.train.steps=60",
          "--set",
          "distill.train.checkpoint_every=1",
          "--set",
          "distill.train.log_every=1"};
}

Arguments resumed(Arguments command) {
  command.emplace_back("--resume");
  return command;
}

/// The file checkpoints/latest changes with every checkpoint.
std::string latest(const fs::path& run) {
  const auto file = run / "checkpoints" / "latest";
  return fs::exists(file) ? testing::read_text(file) : "";
}

std::vector<json> metrics(const fs::path& run) {
  auto rows = RunFolder::read_metrics(run);
  for (auto& row : rows) row.erase("seconds");
  return rows;
}

void expect_same_result(const fs::path& run, const fs::path& unbroken) {
  EXPECT_EQ(sha256_file(run / "model/model.safetensors"), sha256_file(unbroken / "model/model.safetensors"));
  EXPECT_EQ(metrics(run), metrics(unbroken));
}

/// The training run without any disturbance, once for all tests.
fs::path unbroken_training() {
  static const testing::TempDir folder;
  if (fs::exists(folder / "run")) return folder / "run";
  EXPECT_EQ(testing::piddm(train_command(folder / "run")).code, 0);
  return folder / "run";
}

/// Kills the run `kills` times, each time after it has saved something new and a random moment more; then lets it end.
void kill_and_continue(const Arguments& command, const fs::path& run, int kills) {
  std::mt19937 random(static_cast<unsigned>(kills));
  for (int i = 0; i < kills; ++i) {
    const auto before = latest(run);
    Child child(resumed(command));
    ASSERT_TRUE(child.wait_until([&] { return latest(run) != before; })) << child.wait().err;
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 15000));
    child.signal(SIGKILL);
    EXPECT_EQ(child.wait().code, -SIGKILL) << "kill " << i;
  }
  EXPECT_FALSE(fs::exists(run / "model"));
  const auto end = testing::piddm(resumed(command));
  EXPECT_EQ(end.code, 0) << end.err;
}

TEST(Kill, ATrainingRunSurvivesManyKills) {
  const testing::TempDir folder;
  kill_and_continue(train_command(folder / "killed"), folder / "killed", kKills);
  expect_same_result(folder / "killed", unbroken_training());
  for (const auto& entry : fs::directory_iterator(folder / "killed" / "checkpoints"))
    EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
}

TEST(Kill, ADistillationSurvivesToo) {
  const testing::TempDir folder;
  ASSERT_EQ(testing::piddm(distill_command(folder / "unbroken")).code, 0);
  kill_and_continue(distill_command(folder / "killed"), folder / "killed", 3);
  expect_same_result(folder / "killed", folder / "unbroken");
}

TEST(Kill, BeforeTheFirstCheckpointTheRunBeginsAgain) {
  const testing::TempDir folder;
  auto command = train_command(folder / "run");
  {
    Child child(command);
    ASSERT_TRUE(child.wait_until([&] { return fs::exists(folder / "run" / "config.toml"); })) << child.wait().err;
    child.signal(SIGKILL);
    child.wait();
  }
  EXPECT_EQ(testing::piddm(resumed(command)).code, 0);
  expect_same_result(folder / "run", unbroken_training());
}

TEST(Interrupt, SavesACheckpointAndExitsWith130) {
  const testing::TempDir folder;
  const auto run = folder / "run";
  Arguments command = train_command(run);
  for (auto& argument : command)
    if (argument == "train.checkpoint_every=1") argument = "train.checkpoint_every=1000000";
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    const auto rows = fs::exists(run) ? metrics(run).size() : 0;
    Child child(resumed(command));
    ASSERT_TRUE(child.wait_until([&] { return fs::exists(run / "metrics.jsonl") && metrics(run).size() > rows + 3; }))
        << child.wait().err;
    child.signal(number);
    const auto outcome = child.wait();
    EXPECT_EQ(outcome.code, 130);
    EXPECT_THAT(outcome.err, ::testing::HasSubstr("interrupted at step"));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
    EXPECT_NE(latest(run), "");
    EXPECT_FALSE(fs::exists(run / "model"));
  }
  EXPECT_EQ(testing::piddm(resumed(command)).code, 0);
  expect_same_result(run, unbroken_training());
}

TEST(Kill, TwoProcessesDoNotShareARunFolder) {
  const testing::TempDir folder;
  Child child(train_command(folder / "run"));
  ASSERT_TRUE(child.wait_until([&] { return latest(folder / "run") != ""; })) << child.wait().err;
  child.signal(SIGSTOP);
  testing::expect_failure(resumed(train_command(folder / "run")), ExitCode::resources, "another process");
}

}  // namespace
}  // namespace piddm
