#include "piddm/recipe/tables.h"

#include <algorithm>
#include <cmath>

#include "piddm/recipe/paper.h"
#include "piddm/recipe/table_report.h"
#include "piddm/solve/method.h"
#include "tests/recipe/tiny_tables.h"
#include "tests/testing.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

std::vector<Entry> entries_of(const std::string& name, const TableOptions& options) {
  return table_registry().at(name)().entries(options);
}

const std::vector<std::string> kLabels = {"pde", "task", "method", "setting"};

bool same_labels(const json& ours, const json& papers) {
  return std::all_of(kLabels.begin(), kLabels.end(),
                     [&](const std::string& key) { return ours.value(key, json()) == papers.value(key, json()); });
}

TEST(Tables, EveryOneHasEntriesAtEveryScale) {
  for (const auto scale : {Scale::smoke, Scale::small, Scale::paper}) {
    const auto options = table_options(scale);
    for (const auto& name : table_registry().names()) {
      std::set<std::string> labels;
      for (const auto& entry : entries_of(name, options)) {
        const auto where = name + " " + entry.labels.dump();
        EXPECT_TRUE(labels.insert(entry.labels.dump()).second) << where;
        const json config = write_fields(entry.experiment);
        EXPECT_EQ(write_fields(parse_experiment(config)), config) << where;
        EXPECT_EQ(entry.labels.at("pde"), entry.experiment.pde.name) << where;
        EXPECT_EQ(entry.labels.at("task"), task_name(entry.task)) << where;
        if (!entry.method.empty()) {
          EXPECT_NO_THROW(method_card(entry.method)) << where;
        }
        auto judged = entry.experiment.pde;
        judged.parameters.update(entry.judged_as);
        if (entry.grid > 0) judged.grid = entry.grid;
        EXPECT_NO_THROW(make_pde(judged)) << where;
        EXPECT_GT(entry.count, 0) << where;
        EXPECT_LE(entry.count, options.judge.held_out) << where;
        const auto& ages = entry.experiment.train.snapshots;
        EXPECT_TRUE(entry.teacher_age == 0 || std::count(ages.begin(), ages.end(), entry.teacher_age) == 1) << where;
      }
      EXPECT_GE(labels.size(), 4U) << name;
    }
  }
}

TEST(Tables, HaveEveryRowThePaperPrints) {
  size_t matched = 0;
  for (const auto& name : paper_table_names()) {
    const auto entries = entries_of(name, table_options(Scale::paper));
    const json rows = paper_table(name).at("rows");
    for (const auto& row : rows) {
      const auto count = std::count_if(entries.begin(), entries.end(),
                                       [&](const Entry& entry) { return same_labels(entry.labels, row); });
      EXPECT_EQ(count, 1) << name << " " << row;
      matched += static_cast<size_t>(count);
    }
  }
  EXPECT_EQ(matched, 148U);
}

TEST(Tables, TheScaleOfThePaperIsThePapers) {
  for (const auto& entry : entries_of("table-generative", table_options(Scale::paper))) {
    EXPECT_EQ(entry.experiment.pde.grid, 128) << entry.labels;
    EXPECT_EQ(entry.experiment.train.steps, 10000);
    EXPECT_EQ(entry.experiment.train.batch, 128);
    EXPECT_EQ(entry.experiment.distill.train.steps, 16000);
    EXPECT_EQ(entry.count, entry.method == "dflow" ? 128 : 1024);
  }
}

TEST(Tables, ComputeMatchedSettingsAreThePapers) {
  json options;
  for (const auto& entry : entries_of("table-compute", table_options(Scale::paper)))
    options[entry.labels.at("method").get<std::string>()] = entry.options;
  EXPECT_EQ(options.at("eci").at("mixing"), 3);
  EXPECT_EQ(options.at("pidm").at("euler_steps"), 150);  // of Heun's method, two evaluations each
  EXPECT_EQ(options.at("pidm").at("integrator"), "heun");
  EXPECT_EQ(options.at("diffusionpde").at("steps"), 80);
  EXPECT_EQ(options.at("dflow").at("task").at("iterations"), 20);
}

TEST(Tables, TheTeacherHasAsManyEvaluationsInTasksAsInGeneration) {
  auto options = table_options(Scale::paper);
  options.methods = {"teacher"};
  for (const auto& entry : entries_of("table-downstream", options)) EXPECT_EQ(entry.options.at("euler_steps"), 100);
  options.pdes = {"darcy"};
  for (const auto& entry : entries_of("table-generative", options)) EXPECT_EQ(entry.options.at("euler_steps"), 50);
}

TEST(Tables, AChoiceThatWouldBeIgnoredIsRefused) {
  const testing::TempDir folder;
  auto options = table_options(Scale::smoke);
  options.methods = {"teacher"};
  EXPECT_ERROR(plan_table("table-latent", options, folder / "out", torch::kCPU), ExitCode::usage,
               "table-latent: 'methods' chooses nothing in this table");
  EXPECT_ERROR(plan_table("table-teacher", options, folder / "out", torch::kCPU), ExitCode::usage, "it takes settings");
}

json tiny_report(const std::string& pde, const std::vector<std::string>& methods, double pde_error) {
  json report = {{"experiment", "table-generative"}, {"summary", "s"},       {"reading", "r"}, {"caveat", ""},
                 {"columns", {"pde_error"}},         {"rows", json::array()}};
  report["floors"] = {{pde, {{"mmse", 0.5}}}};
  report["options"] = write_fields(table_options(Scale::smoke));
  report["machine"] = {{"cpu", pde}};
  report["seconds"] = 1;
  for (const auto& method : methods)
    report["rows"].push_back({{"labels", {{"pde", pde}, {"task", "generate"}, {"method", method}}},
                              {"metrics", {{"pde_error", pde_error}}},
                              {"paper", nullptr}});
  return report;
}

TEST(Tables, ReportsMergeAndLaterRowsWin) {
  const auto merged = merge_reports({tiny_report("darcy", {"teacher", "eci"}, 1),
                                     tiny_report("poisson", {"teacher"}, 2), tiny_report("darcy", {"eci"}, 3)});
  ASSERT_EQ(merged.at("rows").size(), 3u);
  EXPECT_EQ(merged.at("rows")[0].at("metrics").at("pde_error"), 1);
  EXPECT_EQ(merged.at("rows")[1].at("metrics").at("pde_error"), 3);
  EXPECT_EQ(merged.at("rows")[1].at("metrics").at("pde_error_ratio"), 3);  // to the teacher of another report
  EXPECT_EQ(merged.at("rows")[2].at("labels").at("pde"), "poisson");
  EXPECT_EQ(merged.at("floors").size(), 2u);
  EXPECT_EQ(merged.at("merged").size(), 3u);
  EXPECT_EQ(merged.at("merged")[1].at("machine").at("cpu"), "poisson");
  EXPECT_EQ(table_of(merged).num_rows(), 3u);
  auto other = tiny_report("darcy", {"teacher"}, 1);
  other["experiment"] = "table-compute";
  EXPECT_ERROR(merge_reports({tiny_report("darcy", {"teacher"}, 1), other}), ExitCode::usage,
               "a report of table-generative and one of table-compute");
  EXPECT_ERROR(merge_reports({}), ExitCode::usage, "at least one report");
}

TEST(Tables, MergedRowsAreGroupedByTheirLabels) {
  const auto merged = merge_reports({tiny_report("darcy", {"piddm-1"}, 1), tiny_report("poisson", {"piddm-1"}, 1),
                                     tiny_report("poisson", {"teacher"}, 1), tiny_report("darcy", {"teacher"}, 1)});
  std::vector<std::string> order;
  for (const auto& row : merged.at("rows"))
    order.push_back(row.at("labels").at("pde").get<std::string>() + " " +
                    row.at("labels").at("method").get<std::string>());
  EXPECT_THAT(order, ElementsAre("darcy piddm-1", "darcy teacher", "poisson piddm-1", "poisson teacher"));
}

TEST(Tables, DataOfOnesOwnAreRefusedInsteadOfIgnored) {
  auto options = table_options(Scale::smoke);
  options.experiment["data"]["path"] = "mine.npz";
  EXPECT_ERROR(table_experiment(options, "darcy"), ExitCode::usage, "data.path: tables generate their data");
}

TEST(Tables, WrongNamesAreNamed) {
  const auto with = [](const std::string& table, const auto& change) {
    auto options = table_options(Scale::smoke);
    change(options);
    return entries_of(table, options);
  };
  using Options = TableOptions;
  EXPECT_ERROR(entries_of("table-generativ", {}), ExitCode::usage, "'table-generative'");
  EXPECT_ERROR(with("table-generative", [](Options& o) { o.pdes = {"darci"}; }), ExitCode::usage, "'darcy'");
  EXPECT_ERROR(with("table-generative", [](Options& o) { o.methods = {"piddm-2"}; }), ExitCode::usage, "'piddm-1'");
  EXPECT_ERROR(with("table-downstream", [](Options& o) { o.tasks = {"foward"}; }), ExitCode::usage, "'forward'");
  EXPECT_ERROR(with("table-variants", [](Options& o) { o.settings = {"reflow3"}; }), ExitCode::usage, "'reflow");
  EXPECT_ERROR(with("table-teacher", [](Options& o) { o.settings = {"31"}; }), ExitCode::usage, "'30'");
  EXPECT_ERROR(with("table-variants", [](Options& o) { o.experiment["train"]["stesp"] = 3; }), ExitCode::usage,
               "'steps'");
}

/// Runs of tables in one folder.
class TableRuns : public ::testing::Test {
 protected:
  json run(const std::string& name) { return run_table(name, options_, folder_.path(), folder_ / name, torch::kCPU); }
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
    return run_table("table-generative", options_, folder_.path(), folder_ / "look", torch::kCPU, Recipe::Mode::look);
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

}  // namespace
}  // namespace piddm
