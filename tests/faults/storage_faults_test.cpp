// Each kind of file the program writes, with every fault at every system call.

#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include "piddm/core/progress.h"
#include "piddm/data/dataset.h"
#include "piddm/data/formats/export.h"
#include "piddm/data/generate.h"
#include "piddm/data/shards.h"
#include "piddm/files/atomic_file.h"
#include "piddm/files/run_folder.h"
#include "piddm/files/safetensors.h"
#include "piddm/recipe/recipe.h"
#include "tests/data/fake_pde.h"
#include "tests/faults/operation.h"
#include "tests/files/faults.h"
#include "tests/testing.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;
using testing::disturb;
using testing::FakePde;
using testing::Operation;
using testing::TempDir;

/// No threads: a process that is forked from this one has none of them.
class Faults : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::work_in_memory();
    torch::set_num_threads(1);
    set_progress_mode(ProgressMode::silent);
    spdlog::set_level(spdlog::level::warn);
  }
};

Checkpoint checkpoint_of(int64_t step, const std::string& word) {
  return {.step = step,
          .parts = {{"model", {{"w", torch::full({5}, static_cast<double>(step))}}}, {"ema", {{"w", torch::ones(3)}}}},
          .state = {{"word", word}}};
}

/// What a run does before it looks for its checkpoints, then the latest of them, whole.
void expect_intact(const fs::path& folder, const Checkpoint& old, const Checkpoint& made) {
  remove_stale_temporaries(folder);
  const CheckpointStore store(folder, 2);
  const auto latest = store.latest();
  require<DataError>(latest == old.step || latest == made.step, "another checkpoint");
  const auto found = store.load(*latest);
  const auto& expected = found.step == old.step && found.state == old.state ? old : made;
  require<DataError>(found.state == expected.state, "another state");
  require<DataError>(found.parts.at("model").at("w").equal(expected.parts.at("model").at("w")), "other numbers");
}

Operation save_checkpoint(const std::string& name, const Checkpoint& old, const Checkpoint& made, bool can_exchange) {
  return {.name = name,
          .prepare =
              [=](const fs::path& folder) {
                for (int64_t step = 0; step < old.step; ++step)
                  CheckpointStore(folder, 2).save(checkpoint_of(step, ""));
                CheckpointStore(folder, 2).save(old);
              },
          .run =
              [=](const fs::path& folder) {
                remove_stale_temporaries(folder);
                CheckpointStore(folder, 2).save(made);
              },
          .check = [=](const fs::path& folder) { expect_intact(folder, old, made); },
          .can_exchange = can_exchange};
}

TEST_F(Faults, TheLatestCheckpointLoads) {
  auto save = save_checkpoint("checkpoint", checkpoint_of(2, "old"), checkpoint_of(3, "new"), true);
  save.most = 1000;
  disturb(save);
}

TEST_F(Faults, ACheckpointIsReplacedByAnotherOfItsStep) {
  const auto old = checkpoint_of(2, "old"), made = checkpoint_of(2, "new");
  disturb(save_checkpoint("checkpoint, replaced", old, made, true));
  disturb(save_checkpoint("checkpoint, replaced without exchange", old, made, false));
}

const json kOld = {{"a", 1}}, kNew = {{"a", 2}, {"b", "text"}};

TEST_F(Faults, ARunFolderIsCreatedAndChanged) {
  disturb({.name = "run folder, created",
           .prepare = [](const fs::path&) {},
           .run =
               [](const fs::path& folder) {
                 const auto run = folder / "run";
                 if (RunFolder::exists(run))
                   RunFolder::open(run);
                 else
                   RunFolder::create(run, kOld, {{"data", "x"}});
               },
           .check =
               [](const fs::path& folder) {
                 if (!RunFolder::exists(folder / "run")) return;
                 require<DataError>(RunFolder::read_config(folder / "run") == kOld, "another config");
                 require<DataError>(RunFolder::read_origin(folder / "run") == json({{"data", "x"}}), "another origin");
               }});
  disturb({.name = "run folder, settings replaced",
           .prepare = [](const fs::path& folder) { RunFolder::create(folder / "run", kOld); },
           .run = [](const fs::path& folder) { RunFolder::open(folder / "run").store(kNew); }});
}

TEST_F(Faults, LinesOfMetricsAreWholeOrNotThere) {
  const auto rows = [](const fs::path& folder) { return RunFolder::read_metrics(folder / "run"); };
  const auto is_metrics = [](const std::string& file) { return file.ends_with("metrics.jsonl"); };
  const Operation::Step prepare = [](const fs::path& folder) {
    const auto run = RunFolder::create(folder / "run", kOld);
    for (int step = 1; step <= 4; ++step) run.append_metrics({{"step", step}, {"loss", 0.5}});
  };
  const Operation::Step append = [](const fs::path& folder) {
    const auto run = RunFolder::open(folder / "run");
    run.truncate_metrics(3);
    run.append_metrics({{"step", 4}, {"loss", 0.25}});
  };
  disturb({.name = "metrics, cut and continued",
           .prepare = prepare,
           .run = append,
           .check =
               [=](const fs::path& folder) {
                 const auto found = rows(folder);
                 require<DataError>(found.size() >= 3 && found.size() <= 4, "{} rows", found.size());
                 for (size_t i = 0; i < found.size(); ++i)
                   require<DataError>(found[i].at("step") == i + 1, "another row");
                 append(folder);
                 require<DataError>(rows(folder).back() == json({{"step", 4}, {"loss", 0.25}}), "another last row");
               },
           .free = is_metrics});
}

TEST_F(Faults, ShardsAreContinuedToTheSameBytes) {
  disturb({.name = "data in two shards",
           .prepare = [](const fs::path&) {},
           .run =
               [](const fs::path& folder) {
                 make_data_files(folder / "set.npz", FakePde(),
                                 {.range = {.seed = 3, .n = 5, .batch = 2}, .shards = 2, .resume = true});
               },
           .check =
               [](const fs::path& folder) {
                 if (fs::exists(folder / "set.json")) load_dataset(folder / "set.json");
               }});
}

TEST_F(Faults, AStepOfARecipeIsDoneOrNot) {
  const Operation::Step run = [](const fs::path& folder) {
    Recipe recipe(folder);
    const auto step = recipe.step("step", {{"a", 1}}, {}, [](const fs::path& unfinished) {
      write_safetensors(unfinished / "kept.safetensors", {{"x", torch::ones(10)}});
      write_file_atomically(unfinished / "metrics.json", "{}\n");
    });
    require<DataError>(read_safetensors(step.folder / "kept.safetensors").tensors.at("x").equal(torch::ones(10)),
                       "other numbers");
  };
  disturb({.name = "step of a recipe",
           .prepare = [](const fs::path&) {},
           .run = run,
           .check = {},
           .free =
               [](const std::string& file) {
                 return file.ends_with("step.json") || file.find("unfinished-") != std::string::npos;
               }});
}

TEST_F(Faults, AnExportReplacesAFileAsAWhole) {
#ifdef PIDDM_HDF5_PROGRAM
  ::setenv("PIDDM_HDF5_CHILD", PIDDM_HDF5_PROGRAM, 1);
#endif
  const auto data = make_dataset(FakePde(), 1, 0, 4), old = make_dataset(FakePde(), 2, 0, 3);
  const auto disturb_export = [&](const std::string& name, ExportFormat format) {
    disturb({.name = "export to " + name,
             .prepare = [&](const fs::path& folder) { export_dataset(folder / name, old, format); },
             .run = [&](const fs::path& folder) { export_dataset(folder / name, data, format); }});
  };
  disturb_export("x.npz", ExportFormat::npz);
  disturb_export("x.safetensors", ExportFormat::safetensors);
#ifdef PIDDM_HDF5_PROGRAM
  disturb_export("x.h5", ExportFormat::hdf5);
#endif
}

TEST_F(Faults, AFolderThatVanishesIsAResourceError) {
  const TempDir dir;
  auto run = RunFolder::create(dir / "run", kOld);
  run.append_metrics({{"step", 1}});
  fs::remove_all(dir / "run");
  EXPECT_ERROR(run.append_metrics({{"step", 2}}), ExitCode::resources, "No such file or directory");
  EXPECT_ERROR(run.store(kNew), ExitCode::resources, "No such file or directory");
  AtomicFile file(dir / "a");
  fs::remove(dir / ".a.0.tmp");
  EXPECT_ERROR(file.commit(), ExitCode::resources, "No such file or directory");
  AtomicFolder folder(dir / "f");
  fs::remove(dir / ".f.0.tmp");
  EXPECT_ERROR(folder.commit(), ExitCode::resources, "No such file or directory");
}

TEST_F(Faults, AFolderThatBecomesReadOnlyIsAResourceError) {
  const TempDir dir;
  ::chmod(dir.path().c_str(), 0777);
  const testing::OrdinaryUser user;
  auto run = RunFolder::create(dir / "run", kOld);
  run.append_metrics({{"step", 1}});
  run.checkpoints(2).save(checkpoint_of(1, "old"));
  for (const auto& folder : {dir / "run/checkpoints", dir / "run"}) fs::permissions(folder, fs::perms(0555));
  EXPECT_ERROR(run.store(kNew), ExitCode::resources, "Permission denied");
  EXPECT_ERROR(run.checkpoints(2).save(checkpoint_of(2, "new")), ExitCode::resources, "Permission denied");
  EXPECT_EQ(RunFolder::read_config(dir / "run"), kOld);
  EXPECT_EQ(run.checkpoints(2).latest(), 1);
  for (const auto& folder : {dir / "run", dir / "run/checkpoints"}) fs::permissions(folder, fs::perms(0755));
}

}  // namespace
}  // namespace piddm
