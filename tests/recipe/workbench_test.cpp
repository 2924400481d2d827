#include "piddm/recipe/workbench.h"

#include <algorithm>

#include "piddm/tables/entries.h"
#include "tests/recipe/tiny_tables.h"
#include "tests/testing.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;
using ::testing::UnorderedElementsAre;

class WorkbenchTest : public ::testing::Test {
 protected:
  Workbench bench(Recipe::Mode mode = Recipe::Mode::run) const { return bench_in("steps here", mode); }
  Workbench bench_in(const std::string& name, Recipe::Mode mode = Recipe::Mode::run) const {
    return {folder_ / name, options_.judge, torch::kCPU, mode};
  }
  Experiment darcy(const json& overlay = json::object()) const { return table_experiment(options_, "darcy", overlay); }
  Entry teacher() const { return generation(options_, darcy(), "teacher"); }
  Entry student() const { return generation(options_, darcy(), "piddm-1"); }
  testing::StepTimes steps() const { return testing::finished_steps(folder_ / "steps here"); }

  /// What the entry's step has in its file.
  static json result_of(Workbench& bench, const Entry& entry) {
    const auto result = bench.result(entry);
    return result ? to_json(*result) : json();
  }
  static json result_of(Workbench&& bench, const Entry& entry) { return result_of(bench, entry); }

  static testing::StepTimes checkpoints(const fs::path& run) {
    testing::StepTimes times;
    for (const auto& folder : fs::directory_iterator(run / "checkpoints"))
      if (folder.is_directory()) times[folder.path().filename().string()] = fs::last_write_time(folder);
    return times;
  }

  testing::TempDir folder_;
  TableOptions options_ = testing::tiny_table_options();
};

TEST_F(WorkbenchTest, MakesWhatAnEntryNeedsAndNothingTwice) {
  auto first = bench();
  const auto result = result_of(first, student());
  EXPECT_GT(result.at("pde_error").get<double>(), 0);
  EXPECT_GT(result.at("training_seconds").get<double>(), 0);
  EXPECT_TRUE(result.at("intervals").contains("pde_error"));
  const auto made = steps();
  EXPECT_THAT(testing::new_steps({}, made),
              UnorderedElementsAre("training data darcy", "held-out data darcy", "teacher darcy",
                                   "regression student darcy", "darcy generate piddm-1"));
  auto later = bench();
  EXPECT_EQ(result_of(first, student()), result);
  EXPECT_EQ(result_of(later, student()), result);  // seconds too
  EXPECT_EQ(steps(), made);
}

TEST_F(WorkbenchTest, AChangedWeightRerunsTheStudentAndItsSamplesOnly) {
  auto made_with = bench();
  const auto before_result = result_of(made_with, student());
  result_of(made_with, teacher());
  const auto before = steps();
  const json overlay = {{"distill", {{"loss", {{"lambda", 3.0}}}}}};
  auto other = bench();
  const auto result = result_of(other, generation(options_, darcy(overlay), "piddm-1"));
  EXPECT_EQ(result_of(other, generation(options_, darcy(overlay), "teacher")), result_of(made_with, teacher()));
  EXPECT_NE(result.at("pde_error"), before_result.at("pde_error"));
  auto after = steps();
  EXPECT_THAT(testing::new_steps(before, after),
              UnorderedElementsAre("regression student darcy", "darcy generate piddm-1"));
  for (const auto& [key, time] : before) EXPECT_EQ(after.at(key), time) << key;
}

// The judge is part of the result, not of the models.
TEST_F(WorkbenchTest, AnotherJudgeLooksAtTheSameModels) {
  result_of(bench(), teacher());
  const auto before = steps();
  options_.judge.resamples = 3;
  result_of(bench(), teacher());
  EXPECT_THAT(testing::new_steps(before, steps()), UnorderedElementsAre("darcy generate teacher"));
}

TEST_F(WorkbenchTest, TheJudgesDeviceIsChecked) {
  const auto usual = result_of(bench(), teacher());
  options_.judge.device = "cpu";
  EXPECT_EQ(result_of(bench(), teacher()).at("pde_error"), usual.at("pde_error"));
  options_.judge.device = "gpu";
  EXPECT_ERROR(bench(), ExitCode::usage, "--device gpu: expected");
}

TEST_F(WorkbenchTest, ATeacherStoppedHalfWayContinues) {
  auto entry = teacher();
  entry.experiment.train.snapshots = {3};
  entry.experiment.train.checkpoint_every = entry.experiment.train.log_every = 1;
  auto planned = bench(Recipe::Mode::plan), unbroken = bench_in("unbroken"), run = bench();
  result_of(planned, entry);
  const auto plan = planned.recipe().plan();
  const auto key = std::find_if(plan.begin(), plan.end(), [](const auto& s) { return s.name == "teacher darcy"; })->key;
  const auto stopped = folder_ / "steps here" / "steps" / ("unfinished-" + key);
  fs::create_directories(stopped);
  testing::write_text(stopped / "snapshots", "in the way of the third step");
  EXPECT_THROW(result_of(run, entry), fs::filesystem_error);
  EXPECT_EQ(checkpoints(stopped).size(), 2U);
  const auto rows = RunFolder::read_metrics(stopped);
  EXPECT_EQ(rows.size(), 3U);

  fs::remove(stopped / "snapshots");
  result_of(unbroken, entry);
  result_of(run, entry);
  EXPECT_FALSE(fs::exists(stopped));
  const auto all = RunFolder::read_metrics(folder_ / "steps here" / "steps" / key);
  EXPECT_EQ(all.size(), 5U);
  for (const size_t i : {0, 1}) EXPECT_EQ(all[i], rows[i]);  // with their seconds: not made again
  const auto weights = [&](const std::string& root) {
    return testing::read_text(folder_ / root / "steps" / key / "model" / "model.safetensors");
  };
  EXPECT_TRUE(weights("steps here") == weights("unbroken"));
}

TEST_F(WorkbenchTest, PlansWhatARunThenMakes) {
  const std::vector<Entry> entries = {teacher(), student(), task_entry(options_, darcy(), "forward", "eci")};
  const auto plan = [&] {
    auto planned = bench(Recipe::Mode::plan);
    for (const auto& entry : entries) result_of(planned, entry);
    planned.floor(darcy(), 4);
    return planned.recipe().plan();
  };
  const auto before = plan();
  EXPECT_FALSE(fs::exists(folder_ / "steps here"));
  auto run = bench();
  result_of(run, entries[0]);
  const auto first = steps();
  for (const auto& step : plan()) EXPECT_EQ(step.done, first.contains(step.key)) << step.name;
  for (const auto& entry : entries) result_of(run, entry);
  run.floor(darcy(), 4);
  std::set<std::string> keys;
  for (const auto& step : before) {
    EXPECT_FALSE(step.done) << step.name;
    EXPECT_TRUE(keys.insert(step.key).second) << step.name;
  }
  for (const auto& [made, time] : steps()) EXPECT_EQ(keys.erase(made), 1U) << made;
  EXPECT_TRUE(keys.empty()) << *keys.begin();
  for (const auto& step : plan()) EXPECT_TRUE(step.done) << step.name;
}

TEST_F(WorkbenchTest, EntriesThatDifferAreDifferentSteps) {
  auto planned = bench(Recipe::Mode::plan);
  const auto ask = [&](const Entry& entry) {
    const auto before = planned.recipe().plan().size();
    result_of(planned, entry);
    return planned.recipe().plan().size() - before;
  };
  ask(student());
  auto task = task_entry(options_, darcy(), "forward", "piddm");
  EXPECT_EQ(ask(student()), 0U);
  EXPECT_EQ(ask(task), 1U);
  for (const auto& change : std::vector<std::function<void(Entry&)>>{
           [](Entry& e) { e.count += 1; }, [](Entry& e) { e.starts = 2; }, [](Entry& e) { e.decode = true; },
           [](Entry& e) { e.options["hard"] = false; }}) {
    auto other = task;
    change(other);
    EXPECT_EQ(ask(other), 1U) << other.starts << other.decode << other.options << other.count;
  }
  auto finer = student();
  finer.grid = 32;
  EXPECT_GE(ask(finer), 1U);
}

TEST_F(WorkbenchTest, AYoungerTeacherIsASnapshotOfTheSameRun) {
  auto run = bench();
  const auto grown = result_of(run, teacher());
  const auto before = steps();
  auto young = teacher(), pupil = student();
  young.teacher_age = pupil.teacher_age = 2;
  EXPECT_NE(result_of(run, young).at("pde_error"), grown.at("pde_error"));
  EXPECT_NE(result_of(run, pupil).at("pde_error"), result_of(run, student()).at("pde_error"));
  EXPECT_THAT(testing::new_steps(before, steps()),
              UnorderedElementsAre("darcy generate teacher", "regression student darcy", "regression student darcy",
                                   "darcy generate piddm-1", "darcy generate piddm-1"));
}

TEST_F(WorkbenchTest, TellsWhyAMethodIsRefusedOrFailed) {
  auto run = bench();
  const auto refused = result_of(run, task_entry(options_, table_experiment(options_, "heat"), "inverse", "classical"));
  EXPECT_THAT(refused.at("refused").get<std::string>(), ::testing::HasSubstr("unknown coefficients"));
  EXPECT_TRUE(steps().empty());  // before anything was trained for it
  const json overlay = {{"train", {{"adam", {{"lr", 1e30}}}}}};
  const auto entry = generation(options_, darcy(overlay), "teacher");
  EXPECT_THAT(result_of(run, entry).at("failed").get<std::string>(), ::testing::HasSubstr("not finite"));
  EXPECT_TRUE(run.fields(entry).empty());
}

TEST_F(WorkbenchTest, KeepsTheFirstFieldsForPictures) {
  options_.samples = Workbench::kKept + 1;
  auto run = bench();
  EXPECT_TRUE(bench(Recipe::Mode::plan).fields(teacher()).empty());
  const auto generated = run.fields(teacher());
  EXPECT_EQ(generated.at("x").sizes(), (std::vector<int64_t>{Workbench::kKept, 2, 16, 16}));
  const auto solved = run.fields(task_entry(options_, darcy(), "inverse", "piddm"));
  const auto truth = run.held_out(darcy());
  EXPECT_EQ(truth.size(0), options_.judge.held_out);
  EXPECT_TRUE(torch::equal(solved.at("truth"), truth.slice(0, 0, 2).to(torch::kFloat32)));
  EXPECT_EQ(solved.at("mask").select(1, 0).min().item<double>(), 1);
  EXPECT_EQ(solved.at("mask").select(1, 1).max().item<double>(), 0);
}

TEST_F(WorkbenchTest, ADecodedSampleSolvesItsEquation) {
  auto run = bench();
  const auto decoded = result_of(run, generation(options_, darcy(), "piddm-decoded"));
  EXPECT_LT(decoded.at("pde_error").get<double>(), 1e-12 * result_of(run, student()).at("pde_error").get<double>());
  EXPECT_GT(decoded.at("decode_moved").get<double>(), 0);
}

TEST_F(WorkbenchTest, SeveralStartsGiveAVariance) {
  auto run = bench();
  auto entry = task_entry(options_, darcy(), "forward", "piddm");
  const auto once = result_of(run, entry);
  EXPECT_FALSE(once.contains("mse_variance"));
  entry.starts = 2;
  const auto twice = result_of(run, entry);
  EXPECT_GT(twice.at("mse_variance").get<double>(), 0);
  EXPECT_EQ(twice.at("mse_u"), once.at("mse_u"));  // of the first start
}

TEST_F(WorkbenchTest, JudgesByTheFeaturesOfAnAppointedTeacher) {
  auto plain = bench();
  EXPECT_FALSE(result_of(plain, teacher()).contains("frechet_teacher"));
  auto appointed = bench();
  appointed.judge_by(darcy());
  EXPECT_GE(result_of(appointed, teacher()).at("frechet_teacher").get<double>(), 0);
  EXPECT_TRUE(appointed.floor(darcy(), 4).has("frechet_teacher"));
}

}  // namespace
}  // namespace piddm
