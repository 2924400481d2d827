#include "piddm/files/run_folder.h"

#include <sys/wait.h>

#include "tests/files/faults.h"
#include "tests/files/flips.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;
using testing::read_text;
using testing::TempDir;
using testing::write_text;

const json kConfig = {{"model", {{"lr", 0.1}, {"name", "fno"}, {"width", 16}}}, {"seed", 3}};

TEST(RunFolder, CreateThenOpenGivesTheConfigBack) {
  const TempDir dir;
  EXPECT_EQ(RunFolder::create(dir / "a/run", kConfig).config(), kConfig);
  const auto run = RunFolder::open(dir / "a/run");
  EXPECT_EQ(run.config(), kConfig);
  EXPECT_EQ(run.path(), dir / "a/run");
  EXPECT_TRUE(fs::exists(dir / "a/run/config.toml"));
}

TEST(RunFolder, RefusesASecondRunAndAMissingOne) {
  const TempDir dir;
  RunFolder::create(dir / "run", kConfig);
  EXPECT_ERROR(RunFolder::create(dir / "run", kConfig), ExitCode::usage, "--resume");
  EXPECT_ERROR(RunFolder::open(dir / "none"), ExitCode::data, "no run here");
  write_text(dir / "file", "x");
  EXPECT_ERROR(RunFolder::create(dir / "file", kConfig), ExitCode::resources, "file");
}

TEST(RunFolder, OneProcessAtATime) {
  const TempDir dir;
  {
    auto run = RunFolder::create(dir / "run", kConfig);
    EXPECT_ERROR(RunFolder::open(dir / "run"), ExitCode::resources, "another process is working");
    const auto moved = std::move(run);
    EXPECT_ERROR(RunFolder::open(dir / "run"), ExitCode::resources, "another process is working");
  }
  RunFolder::open(dir / "run");
}

TEST(RunFolder, TheLockOfADeadProcessIsGone) {
  const TempDir dir;
  RunFolder::create(dir / "run", kConfig);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto run = RunFolder::open(dir / "run");
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  write_text(dir / fmt::format("run/.config.toml.{}-0.tmp", child), "half");
  const auto run = RunFolder::open(dir / "run");
  EXPECT_FALSE(fs::exists(dir / fmt::format("run/.config.toml.{}-0.tmp", child)));
}

TEST(RunFolder, MetricsAreAppendedAndTruncated) {
  const TempDir dir;
  const auto run = RunFolder::create(dir / "run", kConfig);
  EXPECT_TRUE(RunFolder::read_metrics(dir / "run").empty());
  run.truncate_metrics(0);
  run.append_metrics({{"event", "start"}});
  for (int step = 1; step <= 5; ++step) run.append_metrics({{"step", step}, {"loss", 1.0 / step}});
  EXPECT_EQ(RunFolder::read_metrics(dir / "run").size(), 6u);
  const auto before = read_text(dir / "run/metrics.jsonl");
  write_text(dir / "run/metrics.jsonl", before + R"({"step":6,"lo)");
  EXPECT_EQ(RunFolder::read_metrics(dir / "run/metrics.jsonl").size(), 6u);
  run.truncate_metrics(3);
  run.append_metrics({{"step", 4}, {"loss", 0.25}});
  const auto rows = RunFolder::read_metrics(dir / "run");
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[0].at("event"), "start");
  EXPECT_EQ(rows[3].at("step"), 3);
  EXPECT_EQ(rows[4].at("loss"), 0.25);
}

TEST(RunFolder, DamagedMetricsNameTheLine) {
  const TempDir dir;
  write_text(dir / "metrics.jsonl", "{\"step\":1}\n{\"step\":\n{\"step\":3}\n");
  EXPECT_ERROR(RunFolder::read_metrics(dir.path()), ExitCode::data, "metrics.jsonl:2: not valid JSON");
  write_text(dir / "metrics.jsonl", "{\"step\":1}\n7\n");
  EXPECT_ERROR(RunFolder::read_metrics(dir.path()), ExitCode::data, "metrics.jsonl:2: not an object");
  EXPECT_ERROR(RunFolder::read_metrics(dir / "none"), ExitCode::data, "no such file");
}

TEST(RunFolder, AFailedAppendLeavesNoPartOfTheLine) {
  const TempDir dir;
  const auto run = RunFolder::create(dir / "run", kConfig);
  run.append_metrics({{"step", 1}});
  {
    const testing::FileSizeLimit limit(100);
    EXPECT_ERROR(run.append_metrics({{"step", 2}, {"note", std::string(200, 'x')}}), ExitCode::resources,
                 "File too large");
  }
  EXPECT_EQ(read_text(dir / "run/metrics.jsonl"), "{\"step\":1}\n");
}

TEST(RunFolder, CheckpointsLiveInside) {
  const TempDir dir;
  const auto run = RunFolder::create(dir / "run", kConfig);
  run.checkpoints(2).save({3, {{"model", {{"w", torch::ones(2)}}}}, json::object()});
  EXPECT_TRUE(fs::exists(dir / "run/checkpoints/step-3/model.safetensors"));
  EXPECT_EQ(run.checkpoints(2).latest(), 3);
}

TEST(RunFolder, NoBitOfItsSettingsOrOriginChangesUnnoticed) {
  const TempDir dir;
  const json config = {{"seed", 3}, {"train", {{"lr", 0.001}, {"name", "a"}}}};
  RunFolder::create(dir / "run", config, {{"kind", "teacher"}, {"data", "0123"}});
  testing::expect_no_silent_damage(
      dir / "run/config.toml", [&] { return RunFolder::read_config(dir / "run").dump(); }, 1000);
  testing::expect_no_silent_damage(
      dir / "run/origin.json", [&] { return RunFolder::read_origin(dir / "run").dump(); }, 1000);
}

TEST(RunFolder, SettingsEditedByHandAreTakenOnlyWithoutTheirDigest) {
  const TempDir dir;
  RunFolder::create(dir / "run", {{"seed", 3}});
  auto text = testing::read_text(dir / "run/config.toml");
  text.replace(text.find("seed = 3"), 8, "seed = 4");
  write_text(dir / "run/config.toml", text);
  EXPECT_ERROR(RunFolder::open(dir / "run"), ExitCode::data, "remove its first line");
  write_text(dir / "run/config.toml", text.substr(text.find('\n') + 1));
  EXPECT_EQ(RunFolder::open(dir / "run").config().at("seed"), 4);
}

}  // namespace
}  // namespace piddm
