#include "piddm/files/checkpoint.h"

#include "tests/files/faults.h"
#include "tests/files/formats.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;
using testing::read_text;
using testing::TempDir;
using testing::write_text;

Checkpoint make_checkpoint(int64_t step, int64_t size = 5) {
  Checkpoint checkpoint;
  checkpoint.step = step;
  checkpoint.parts["model"] = {{"w", torch::full({size}, static_cast<double>(step))}, {"b", torch::arange(3)}};
  checkpoint.parts["ema"] = {{"w", torch::full({size}, 0.5)}};
  checkpoint.parts["nothing"] = {};
  checkpoint.state = {{"lr", 0.1 + 0.2}, {"best", 1e-300}, {"history", {1, 2, 3}}, {"seed", 18446744073709551615u}};
  return checkpoint;
}

void expect_same(const Checkpoint& got, const Checkpoint& expected) {
  EXPECT_EQ(got.step, expected.step);
  EXPECT_EQ(got.state, expected.state);
  ASSERT_EQ(got.parts.size(), expected.parts.size());
  for (const auto& [part, tensors] : expected.parts) {
    ASSERT_EQ(got.parts.at(part).size(), tensors.size());
    for (const auto& [name, x] : tensors) testing::expect_identical(got.parts.at(part).at(name), x);
  }
}

TEST(Checkpoint, RoundTrip) {
  const TempDir dir;
  CheckpointStore store(dir / "new/checkpoints", 2);
  EXPECT_EQ(store.latest(), std::nullopt);
  EXPECT_TRUE(store.steps().empty());
  store.save(make_checkpoint(0));
  EXPECT_EQ(store.latest(), 0);
  expect_same(store.load(0), make_checkpoint(0));
}

TEST(Checkpoint, ManifestIsWhatSha256sumChecks) {
  const TempDir dir;
  CheckpointStore(dir.path(), 1).save(make_checkpoint(7));
  const auto command = fmt::format("cd {} && sha256sum -c --strict --quiet manifest.sha256", (dir / "step-7").string());
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST(Checkpoint, KeepsTheLastOnesAndSavingTwiceReplaces) {
  const TempDir dir;
  CheckpointStore store(dir.path(), 2);
  for (const int64_t step : {0, 10, 9, 100, 20}) store.save(make_checkpoint(step));
  EXPECT_EQ(store.latest(), 20);
  EXPECT_EQ(store.steps(), (std::vector<int64_t>{10, 20, 100}));  // 100 is ahead of 20, so not older
  auto again = make_checkpoint(20);
  again.parts.erase("ema");
  store.save(again);
  expect_same(store.load(20), again);
  CheckpointStore all(dir / "all", 0);
  for (const int64_t step : {1, 2, 3, 4}) all.save(make_checkpoint(step));
  EXPECT_EQ(all.steps().size(), 4u);
}

TEST(Checkpoint, ForeignNamesAreNotSteps) {
  const TempDir dir;
  CheckpointStore store(dir.path(), 3);
  store.save(make_checkpoint(3));
  for (const std::string name : {"step-", "step-x", "step-03", "step--1", ".step-9.123-0.tmp", "other"})
    fs::create_directories(dir / name);
  write_text(dir / "step-8", "a file");
  EXPECT_EQ(store.steps(), std::vector<int64_t>{3});
}

TEST(Checkpoint, LatestSurvivesDamage) {
  const TempDir dir;
  CheckpointStore store(dir.path(), 3);
  store.save(make_checkpoint(3));
  store.save(make_checkpoint(4));
  for (const std::string text : {"", "step-77\n", "garbage", "step-4", "step-4\n"}) {
    write_text(dir / "latest", text);
    EXPECT_EQ(store.latest(), 4) << text;
  }
  write_text(dir / "latest", "step-3\n");
  EXPECT_EQ(store.latest(), 3);
  fs::remove(dir / "latest");
  EXPECT_EQ(store.latest(), 4);
}

TEST(Checkpoint, RefusesBadRequests) {
  const TempDir dir;
  CheckpointStore store(dir.path(), 3);
  EXPECT_ERROR(store.load(5), ExitCode::data, "step-5: no such checkpoint");
  EXPECT_ERROR(store.save(make_checkpoint(-1)), ExitCode::usage, "negative");
  EXPECT_ERROR(CheckpointStore(dir.path(), -1), ExitCode::usage, "keep_last");
  auto checkpoint = make_checkpoint(1);
  checkpoint.state["nested"]["loss"] = std::nan("");
  EXPECT_ERROR(store.save(checkpoint), ExitCode::data, "state /nested/loss is not finite");
  checkpoint = make_checkpoint(1);
  checkpoint.parts["../model"] = {};
  EXPECT_ERROR(store.save(checkpoint), ExitCode::usage, "'../model'");
  EXPECT_TRUE(store.steps().empty());
}

/// A new file rather than the old one cut and refilled, which some file systems write to the disk at once.
void replace_text(const fs::path& path, const std::string& text) {
  fs::remove(path);
  write_text(path, text);
}

TEST(Checkpoint, EveryBitFlipIsRefusedNamingTheFile) {
  const TempDir dir;
  CheckpointStore store(dir.path(), 3);
  store.save(make_checkpoint(1));
  for (const std::string name : {"model.safetensors", "ema.safetensors", "state.json", "manifest.sha256"}) {
    const auto path = dir / ("step-1/" + name);
    const auto whole = read_text(path);
    for (uint64_t k = 0; k < 100; ++k) {
      replace_text(path, testing::flip_bit(whole, k));
      EXPECT_ERROR(store.load(1), ExitCode::data, "step-1/");
    }
    replace_text(path, whole);
  }
  expect_same(store.load(1), make_checkpoint(1));
}

TEST(Checkpoint, EveryTruncationIsRefused) {
  const TempDir dir;
  CheckpointStore store(dir.path(), 3);
  store.save(make_checkpoint(1));
  for (const std::string name : {"model.safetensors", "state.json", "manifest.sha256"}) {
    const auto path = dir / ("step-1/" + name);
    const auto whole = read_text(path);
    for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
      replace_text(path, whole.substr(0, bytes));
      EXPECT_ERROR(store.load(1), ExitCode::data, "step-1/");
    }
    replace_text(path, whole);
  }
}

TEST(Checkpoint, MissingExtraAndMovedFilesAreRefused) {
  const TempDir dir;
  CheckpointStore store(dir.path(), 5);
  for (const int64_t step : {1, 2, 3}) store.save(make_checkpoint(step));
  fs::remove(dir / "step-3/ema.safetensors");
  EXPECT_ERROR(store.load(3), ExitCode::data, "step-3/ema.safetensors: missing; step 2 is intact");
  write_text(dir / "step-2/stray", "x");
  EXPECT_ERROR(store.load(2), ExitCode::data, "step-2/stray: not in the manifest; step 1 is intact");
  EXPECT_ERROR(store.load(3), ExitCode::data, "step 1 is intact: remove ");
  fs::rename(dir / "step-1", dir / "step-4");
  EXPECT_ERROR(store.load(4), ExitCode::data, "not the state of step 4");
  fs::remove(dir / "step-2/manifest.sha256");
  EXPECT_ERROR(store.load(2), ExitCode::data, "manifest.sha256: no such file");
}

void expect_failed_save(const fs::path& folder, const std::string& reason) {
  CheckpointStore store(folder, 1);
  EXPECT_ERROR(store.save(make_checkpoint(2, 200000)), ExitCode::resources, reason);
  EXPECT_EQ(store.latest(), 1);
  EXPECT_EQ(store.steps(), std::vector<int64_t>{1});
  expect_same(store.load(1), make_checkpoint(1));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 2);  // step-1 and latest
}

TEST(Checkpoint, AFailedWriteLeavesThePreviousOne) {
  const TempDir dir;
  CheckpointStore(dir.path(), 1).save(make_checkpoint(1));
  const testing::FileSizeLimit limit(64 << 10);
  expect_failed_save(dir.path(), "File too large");
}

TEST(Checkpoint, AFullDiskLeavesThePreviousOne) {
  const TempDir dir;
  const testing::SmallDisk disk(dir / "disk", 512);
  if (!disk.mounted()) GTEST_SKIP() << "needs the right to mount";
  CheckpointStore(dir / "disk/checkpoints", 1).save(make_checkpoint(1));
  expect_failed_save(dir / "disk/checkpoints", "No space left on device");
}

TEST(Checkpoint, AnUnwritableFolderIsAResourceError) {
  const TempDir dir;
  fs::permissions(dir.path(), fs::perms(0555));
  {
    const testing::OrdinaryUser user;
    EXPECT_ERROR(CheckpointStore(dir.path(), 1).save(make_checkpoint(1)), ExitCode::resources, "Permission denied");
    EXPECT_ERROR(CheckpointStore(dir / "sub", 1).save(make_checkpoint(1)), ExitCode::resources, "Permission denied");
  }
  fs::permissions(dir.path(), fs::perms(0755));
}

}  // namespace
}  // namespace piddm
