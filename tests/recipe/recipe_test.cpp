#include "piddm/recipe/recipe.h"

#include <atomic>
#include <thread>

#include "piddm/core/json_text.h"
#include "tests/testing.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;

/// A recipe of two steps that counts how often each works: data -> model.
class Counting {
 public:
  explicit Counting(const fs::path& root) : recipe_(root) {}

  StepResult data(int seed) {
    return recipe_.step("data", {{"seed", seed}}, {}, [&](const fs::path& folder) {
      ++data_runs;
      testing::write_text(folder / "data.txt", std::to_string(seed));
    });
  }
  StepResult model(const StepResult& data, double rate) {
    return recipe_.step("model", {{"rate", rate}}, {data}, [&](const fs::path& folder) {
      ++model_runs;
      testing::write_text(folder / "model.txt",
                          testing::read_text(data.folder / "data.txt") + fmt::format(" {}", rate));
    });
  }
  int data_runs = 0, model_runs = 0;

 private:
  Recipe recipe_;
};

int steps_in(const fs::path& root, const std::string& prefix) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(root / "steps"))
    count += entry.path().filename().string().rfind(prefix, 0) == 0;
  return count;
}

TEST(Recipe, AStepRunsOnceAlsoInALaterProcess) {
  const testing::TempDir root;
  Counting first(root.path()), later(root.path());
  const auto model = first.model(first.data(1), 0.5);
  EXPECT_EQ(first.model(first.data(1), 0.5).folder, model.folder);
  EXPECT_EQ(later.model(later.data(1), 0.5).folder, model.folder);
  EXPECT_EQ(first.data_runs, 1);
  EXPECT_EQ(first.model_runs, 1);
  EXPECT_EQ(later.data_runs + later.model_runs, 0);
  EXPECT_EQ(testing::read_text(model.folder / "model.txt"), "1 0.5");
}

TEST(Recipe, AStepThatAnotherProcessIsAtIsWaitedFor) {
  const testing::TempDir root;
  std::atomic<int> runs = 0;
  const auto work = [&](const fs::path& folder) {
    ++runs;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    testing::write_text(folder / "data.txt", "1");
  };
  std::vector<std::thread> processes;
  for (int i = 0; i < 4; ++i)
    processes.emplace_back([&] {
      Recipe recipe(root.path());  // its lock is as foreign to the others as one of another process
      for (const int seed : {1, 2, 3}) {
        const auto step = recipe.step("data", {{"seed", seed}}, {}, work);
        EXPECT_EQ(testing::read_text(step.folder / "data.txt"), "1");
      }
    });
  for (auto& process : processes) process.join();
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(steps_in(root.path(), "unfinished"), 0);
}

TEST(Recipe, AStepThatLostItsRecordIsMadeAgain) {
  const testing::TempDir root;
  Counting recipe(root.path());
  const auto data = recipe.data(1);
  fs::remove(data.folder / "step.json");
  EXPECT_EQ(recipe.data(1).folder, data.folder);
  EXPECT_EQ(recipe.data_runs, 2);
  EXPECT_TRUE(fs::exists(data.folder / "step.json"));
}

TEST(Recipe, AStepThatFailedElsewhereIsTakenOver) {
  const testing::TempDir root;
  Counting recipe(root.path());
  EXPECT_THROW(
      Recipe(root.path()).step("data", {{"seed", 1}}, {}, [](const fs::path&) { throw NumericsError("not finite"); }),
      NumericsError);
  EXPECT_EQ(steps_in(root.path(), "unfinished"), 1);
  recipe.data(1);
  EXPECT_EQ(recipe.data_runs, 1);
  EXPECT_EQ(steps_in(root.path(), "unfinished"), 0);
}

TEST(Recipe, AChangedSettingRerunsTheStepAndWhatDependsOnIt) {
  const testing::TempDir root;
  Counting recipe(root.path());
  const auto one = recipe.model(recipe.data(1), 0.5), faster = recipe.model(recipe.data(1), 0.7);
  EXPECT_EQ(recipe.data_runs, 1);
  EXPECT_EQ(recipe.model_runs, 2);
  const auto other = recipe.model(recipe.data(2), 0.5);
  EXPECT_EQ(recipe.data_runs, 2);
  EXPECT_EQ(recipe.model_runs, 3);
  EXPECT_NE(one.folder, faster.folder);
  EXPECT_NE(one.folder, other.folder);
  EXPECT_EQ(testing::read_text(other.folder / "model.txt"), "2 0.5");
  recipe.model(recipe.data(1), 0.5);  // the first results are still there
  EXPECT_EQ(recipe.model_runs, 3);
}

TEST(Recipe, StepsOfOneSettingButAnotherNameAreDifferent) {
  const testing::TempDir root;
  Recipe recipe(root.path());
  const auto nothing = [](const fs::path&) {};
  EXPECT_NE(recipe.step("a", {{"n", 1}}, {}, nothing).key, recipe.step("b", {{"n", 1}}, {}, nothing).key);
}

TEST(Recipe, RecordsWhatTheResultDependsOn) {
  const testing::TempDir root;
  Counting recipe(root.path());
  const auto data = recipe.data(4), model = recipe.model(data, 0.5);
  const auto record = parse_json(testing::read_text(model.folder / "step.json"), "step.json");
  EXPECT_EQ(record.at("step"), "model");
  EXPECT_EQ(record.at("settings"), json({{"rate", 0.5}}));
  EXPECT_EQ(record.at("inputs"), json::array({data.key}));
  EXPECT_TRUE(record.contains("seconds"));
  EXPECT_TRUE(record.at("machine").contains("threads"));
}

TEST(Recipe, AFailureLeavesNoResultAndTheNextRunFindsTheFolder) {
  const testing::TempDir root;
  Recipe recipe(root.path());
  const auto failing = [](const fs::path& folder) {
    testing::write_text(folder / "half.txt", "half");
    throw NumericsError("diverged at step {}", 3);
  };
  EXPECT_ERROR(recipe.step("train", {{"n", 1}}, {}, failing), ExitCode::numerics, "diverged at step 3");
  EXPECT_EQ(steps_in(root.path(), "train-"), 0);
  EXPECT_EQ(steps_in(root.path(), "unfinished-train-"), 1);

  const auto result = recipe.step("train", {{"n", 1}}, {}, [](const fs::path& folder) {
    testing::write_text(folder / "whole.txt", testing::read_text(folder / "half.txt") + " and half");
  });
  EXPECT_EQ(testing::read_text(result.folder / "whole.txt"), "half and half");
  EXPECT_EQ(steps_in(root.path(), "train-"), 1);
  EXPECT_EQ(steps_in(root.path(), "unfinished-"), 0);
}

TEST(Recipe, AKillBetweenRecordAndRenameCostsNothingButTheStep) {
  const testing::TempDir root;
  Counting recipe(root.path());
  const auto data = recipe.data(1);
  fs::rename(data.folder, root / "steps" / ("unfinished-" + data.key));
  EXPECT_EQ(recipe.data(1).folder, data.folder);
  EXPECT_EQ(recipe.data_runs, 2);
  EXPECT_EQ(steps_in(root.path(), "unfinished-"), 0);
}

TEST(Recipe, CannotWorkBelowAFile) {
  const testing::TempDir root;
  testing::write_text(root / "file", "");
  EXPECT_ERROR(Recipe(root / "file" / "recipe"), ExitCode::resources, "file/recipe");
}

}  // namespace
}  // namespace piddm
