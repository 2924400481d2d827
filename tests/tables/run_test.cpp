#include "piddm/tables/run.h"

#include <cmath>
#include <set>

#include "tests/files/flips.h"
#include "tests/recipe/tiny_tables.h"
#include "tests/testing.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;
using ::testing::UnorderedElementsAre;

/// Runs of tables in one folder.
class TableRuns : public ::testing::Test {
 protected:
  json run(const std::string& name) {
    return to_json(run_table(name, options_, folder_.path(), folder_ / name, torch::kCPU));
  }
  std::vector<PlannedStep> plan(const std::string& name) const {
    return plan_table(name, options_, folder_.path(), torch::kCPU);
  }
  testing::StepTimes steps() const { return testing::finished_steps(folder_.path()); }
  bool has(const std::string& name, const std::string& file) const {
    return fs::exists(folder_ / name / file) && fs::file_size(folder_ / name / file) > 100;
  }

  testing::TempDir folder_;
  TableOptions options_ = testing::tiny_table_options();
};

TEST_F(TableRuns, WhatIsFinishedMakesATable) {
  const auto look = [&] {
    return to_json(
        run_table("table-generative", options_, folder_.path(), folder_ / "look", torch::kCPU, Recipe::Mode::look));
  };
  options_.pdes = {"darcy"};
  options_.methods = {"teacher", "piddm-1"};
  EXPECT_ERROR(look(), ExitCode::data, "no step of table-generative with these options is finished");
  options_.methods = {"teacher"};
  const auto report = run("table-generative");
  const auto made = steps();
  options_.methods = {"teacher", "piddm-1"};
  options_.seeds = {0, 1};
  const auto seen = look();
  EXPECT_EQ(steps(), made);
  ASSERT_EQ(seen.at("rows").size(), 1u);
  EXPECT_EQ(seen.at("rows")[0].at("metrics").at("mmse"), report.at("rows")[0].at("metrics").at("mmse"));
  EXPECT_EQ(seen.at("rows")[0].at("seeds"), 1);
  EXPECT_EQ(seen.at("entries"), 2);
  EXPECT_TRUE(has("look", "table.md"));
  const auto whole = testing::read_text(folder_ / "table-generative/report.json");
  run_table("table-generative", options_, folder_.path(), folder_ / "table-generative", torch::kCPU,
            Recipe::Mode::look);
  EXPECT_EQ(testing::read_text(folder_ / "table-generative/report.json"), whole);
}

TEST_F(TableRuns, AMaskSeedChangesWhatIsRevealedAndNotTheStart) {
  options_.pdes = {"darcy"};
  options_.tasks = {"reconstruct"};
  options_.methods = {"classical"};  // has no start: its answer depends on the mask alone
  const auto metrics = [&] { return run("table-downstream").at("rows")[0].at("metrics").at("mse_u"); };
  const auto usual = metrics();
  options_.mask_seed = 0;  // that of the seed
  EXPECT_EQ(metrics(), usual);
  options_.mask_seed = 5;
  const auto other = metrics();
  EXPECT_NE(other, usual);
  options_.seeds = {3};
  EXPECT_EQ(metrics(), other);
}

TEST_F(TableRuns, EveryRowSaysItsPrecision) {
  options_.pdes = {"darcy"};
  options_.methods = {"teacher", "piddm-1"};
  for (const auto& row : run("table-generative").at("rows")) EXPECT_EQ(row.at("precision"), "fp32");
}

TEST_F(TableRuns, ASecondRunComputesNothingAndAChangedKeyOnlyWhatDependsOnIt) {
  options_.pdes = {"darcy"};
  options_.methods = {"piddm-1", "teacher"};
  const auto report = run("table-generative");
  const auto made = steps();
  EXPECT_EQ(run("table-generative").at("rows"), report.at("rows"));  // seconds too
  EXPECT_EQ(steps(), made);

  merge_config(options_.experiment, {{"distill", {{"loss", {{"lambda", 3.0}}}}}});
  const auto changed = run("table-generative");
  auto after = steps();
  EXPECT_THAT(testing::new_steps(made, after),
              UnorderedElementsAre("regression student darcy", "darcy generate piddm-1"));
  for (const auto& [key, time] : made) EXPECT_EQ(after.at(key), time) << key;
  EXPECT_NE(changed.at("rows").at(0).at("metrics"), report.at("rows").at(0).at("metrics"));
  EXPECT_EQ(changed.at("rows").at(1).at("metrics").at("pde_error"),
            report.at("rows").at(1).at("metrics").at("pde_error"));

  merge_config(options_.experiment, {{"distill", {{"dmd", {{"regression", 2.0}}}}}});  // of no student here
  EXPECT_EQ(run("table-generative").at("rows"), changed.at("rows"));
  EXPECT_EQ(steps(), after);
}

TEST_F(TableRuns, OneTableTakesModelsAndRowsOfAnother) {
  options_.methods = {"piddm-1", "teacher"};
  options_.pdes = {"darcy"};
  run("table-generative");
  const auto before = steps();
  run("table-diversity");
  EXPECT_EQ(steps(), before);
  options_.methods = {"piddm"};
  options_.tasks = {"forward"};
  run("table-downstream");
  EXPECT_THAT(testing::new_steps(before, steps()), UnorderedElementsAre("darcy forward piddm"));
}

TEST_F(TableRuns, APlanWritesNothingAndNamesTheStepsOfTheRun) {
  options_.methods = {"piddm-1", "teacher"};
  const auto planned = plan("table-diversity");
  EXPECT_TRUE(fs::is_empty(folder_.path()));
  std::set<std::string> keys;
  for (const auto& step : planned) {
    EXPECT_FALSE(step.done) << step.name;
    EXPECT_TRUE(std::isfinite(step.seconds) && step.seconds >= 0) << step.name;
    keys.insert(step.key);
  }
  run("table-diversity");
  std::set<std::string> made;
  for (const auto& [key, time] : steps()) made.insert(key);
  EXPECT_EQ(made, keys);
  options_.methods = {"piddm-1", "teacher", "piddm-ref"};
  for (const auto& step : plan("table-diversity")) EXPECT_EQ(step.done, keys.contains(step.key)) << step.name;
}

TEST_F(TableRuns, SeveralSeedsGiveMeanAndDeviation) {
  options_.methods = {"teacher", "piddm-1"};
  options_.seeds = {1};
  const double one = run("table-components").at("rows").at(0).at("metrics").at("pde_error");
  options_.seeds = {2};
  const double two = run("table-components").at("rows").at(0).at("metrics").at("pde_error");
  const auto before = steps();
  options_.seeds = {1, 2};
  const auto report = run("table-components");
  const auto row = report.at("rows").at(0);
  EXPECT_NE(one, two);
  EXPECT_DOUBLE_EQ(row.at("metrics").at("pde_error").get<double>(), (one + two) / 2);
  EXPECT_NEAR(row.at("deviation").at("pde_error").get<double>(), std::abs(one - two) / std::sqrt(2.0), 1e-9 * one);
  EXPECT_FALSE(row.contains("intervals"));
  EXPECT_EQ(steps(), before);
  EXPECT_THAT(testing::read_text(folder_ / "table-components" / "table.md"), ::testing::HasSubstr("±"));
}

TEST_F(TableRuns, ARefusedMethodIsARowWithItsReason) {
  options_.pdes = {"heat"};
  options_.tasks = {"inverse"};
  options_.methods = {"classical", "piddm"};
  const auto report = run("table-downstream");
  EXPECT_THAT(report.at("rows").at(0).at("refused").get<std::string>(), ::testing::HasSubstr("coefficients"));
  EXPECT_FALSE(report.at("rows").at(0).contains("metrics"));
  EXPECT_TRUE(report.at("rows").at(1).at("metrics").contains("mse_phi"));
  EXPECT_THAT(testing::read_text(folder_ / "table-downstream" / "table.md"), ::testing::HasSubstr("refused"));
  EXPECT_TRUE(has("table-downstream", "inverse-heat.png"));
}

TEST_F(TableRuns, WriteTheTableBesideThePapersAndDrawIt) {
  options_.pdes = {"darcy"};
  options_.methods = {"piddm-1", "teacher", "cocogen"};
  const auto report = run("table-generative");
  for (const char* file :
       {"report.json", "table.md", "table.csv", "table.tex", "pde_error.png", "pde_error.svg", "samples-darcy.png"})
    EXPECT_TRUE(has("table-generative", file)) << file;
  EXPECT_EQ(report.at("rows").at(0).at("paper").at("nfe"), 1);
  EXPECT_EQ(report.at("rows").at(1).at("paper").at("pde_error"), 1.585e-4);
  EXPECT_TRUE(report.at("rows").at(2).at("paper").is_null());  // not in the paper
  EXPECT_GT(report.at("floors").at("darcy").at("mmse").get<double>(), 0);

  options_.methods = {"piddm", "teacher", "direct"};
  run("table-downstream");
  for (const char* file : {"error.png", "error.svg", "forward-darcy.png", "inverse-darcy.png", "reconstruct-darcy.png"})
    EXPECT_TRUE(has("table-downstream", file)) << file;
  options_.pdes = {};
  options_.methods = {"eci", "piddm"};
  run("figure-forward");
  EXPECT_TRUE(has("figure-forward", "forward.png"));
}

TEST_F(TableRuns, RefuseNoSeedAtAll) {
  options_.seeds = {};
  EXPECT_ERROR(run("table-diversity"), ExitCode::usage, "seeds");
}

TEST_F(TableRuns, RefuseWrongOptionsBeforeAnythingRuns) {
  const auto refused = [&](const char* setting, const char* why) {
    json config = write_fields(options_);
    apply_setting(config, setting);
    const auto planned = [&] {
      read_fields(config, options_);
      return plan("table-diversity");
    };
    const auto before = options_;
    EXPECT_ERROR(planned(), ExitCode::usage, why);
    options_ = before;
  };
  refused("by_method.teacher.stepz=50", "'stepz'");
  refused("by_method.difusionpde.steps=50", "did you mean 'diffusionpde'");
  refused("by_pde.dracy.pde.grid=16", "did you mean 'darcy'");
  refused("experiment.distill.loss.lambda=-1", "distill.loss.lambda");
  refused("experiment.pde.name=poisson", "pdes=[\"poisson\"]");
  refused("samples=0", "samples: must be at least 2");
}

TEST_F(TableRuns, ADamagedStepIsNamed) {
  options_.methods = {"teacher"};
  run("table-diversity");
  for (const auto& entry : fs::recursive_directory_iterator(folder_.path()))
    if (entry.path().filename() == "metrics.json") testing::write_text(entry.path(), "{");
  EXPECT_ERROR(run("table-diversity"), ExitCode::data, "remove the folder");
}

TEST_F(TableRuns, NoBitOfAStepChangesUnnoticed) {
  options_.methods = {"teacher"};
  run("table-diversity");
  const auto content = [&] {
    json report = run("table-diversity");
    for (const char* clock : {"seconds", "machine"}) report.erase(clock);
    return report.dump();
  };
  int seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder_ / "steps")) {
    if (entry.path().filename() != "metrics.json") continue;
    ++seen;
    testing::expect_no_silent_damage(entry.path(), content, 30);
    const auto whole = testing::read_text(entry.path());
    testing::write_text(entry.path(), R"({"intervals": {"mmse": 3}})");
    EXPECT_ERROR(content(), ExitCode::data, "remove the folder " + entry.path().parent_path().string());
    testing::write_text(entry.path(), whole);
  }
  EXPECT_EQ(seen, 2);  // of the row and of the floor
}

TEST_F(TableRuns, RefuseAChoiceThatWouldBeIgnored) {
  options_.methods = {"teacher"};
  EXPECT_ERROR(plan("figure-ablation"), ExitCode::usage, "figure-ablation: 'methods' chooses nothing in this table");
  EXPECT_ERROR(plan("table-teacher"), ExitCode::usage, "it takes settings");
}

}  // namespace
}  // namespace piddm
