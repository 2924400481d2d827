#include "piddm/tables/tables.h"

#include <algorithm>
#include <set>

#include "piddm/solve/methods/registry.h"
#include "piddm/tables/paper.h"
#include "tests/testing.h"

namespace piddm {
namespace {

std::vector<Entry> entries_of(const std::string& name, const TableOptions& options) {
  return table_registry().at(name)().entries(options);
}

TEST(Tables, EveryOneHasEntriesAtEveryScale) {
  for (const auto scale : {Scale::smoke, Scale::small, Scale::paper}) {
    const auto options = table_options(scale);
    for (const auto& name : table_registry().names()) {
      std::set<std::string> labels;
      for (const auto& entry : entries_of(name, options)) {
        const auto where = name + " " + entry.labels.text();
        EXPECT_TRUE(labels.insert(entry.labels.text()).second) << where;
        const json config = write_fields(entry.experiment);
        EXPECT_EQ(write_fields(parse_experiment(config)), config) << where;
        EXPECT_EQ(entry.labels.pde, entry.experiment.pde.name) << where;
        EXPECT_EQ(entry.labels.task, task_name(entry.task)) << where;
        EXPECT_NO_THROW(method_card(entry.method)) << where;
        auto judged = entry.experiment.pde;
        judged.parameters.update(entry.judged_as);
        if (entry.grid) judged.grid = *entry.grid;
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
    for (const auto& row : paper_table(name).rows) {
      const auto count =
          std::count_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.labels == row.labels; });
      EXPECT_EQ(count, 1) << name << " " << row.labels.text();
      matched += static_cast<size_t>(count);
    }
  }
  EXPECT_EQ(matched, 148U);
}

TEST(Tables, TheScaleOfThePaperIsThePapers) {
  for (const auto& entry : entries_of("table-generative", table_options(Scale::paper))) {
    EXPECT_EQ(entry.experiment.pde.grid, 128) << entry.labels.text();
    EXPECT_EQ(entry.experiment.train.steps, 10000);
    EXPECT_EQ(entry.experiment.train.batch, 128);
    EXPECT_EQ(entry.experiment.distill.train.steps, 16000);
    EXPECT_EQ(entry.count, entry.method == "dflow" ? 128 : 1024);
  }
}

TEST(Tables, ComputeMatchedSettingsAreThePapers) {
  json options;
  for (const auto& entry : entries_of("table-compute", table_options(Scale::paper)))
    options[entry.labels.method] = entry.options;
  EXPECT_EQ(options.at("eci").at("mixing"), 3);
  EXPECT_EQ(options.at("pidm").at("steps"), 150);  // of Heun's method, two evaluations each
  EXPECT_EQ(options.at("pidm").at("integrator"), "heun");
  EXPECT_EQ(options.at("diffusionpde").at("steps"), 80);
  EXPECT_EQ(options.at("dflow").at("task").at("iterations"), 20);
}

TEST(Tables, StartsOfOneTaskAndMethodCanBeAskedFor) {
  auto options = table_options(Scale::paper);
  EXPECT_EQ(entries_of("table-latent", options).size(), 16u);
  options.tasks = {"inverse"};
  EXPECT_EQ(entries_of("table-latent", options).size(), 2u);
  options.methods = {"piddm"};
  const auto entries = entries_of("table-latent", options);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].starts, options.starts);
  options.tasks = {"generate"};
  EXPECT_ERROR(entries_of("table-latent", options), ExitCode::usage, "'generate'");
}

TEST(Tables, VariantsHaveWeightsOfTheirOwnAndTakeWhatIsAskedFor) {
  auto options = table_options(Scale::paper);
  options.settings = {"dmd", "dmd2", "dmd2-no-physics"};
  options.methods = {"piddm-1"};
  options.experiment["distill"]["dmd2"] = {{"critic_steps", 3}, {"critic_lr", 0.125}};
  const auto usual = table_experiment(options, "darcy").distill;
  const auto entries = entries_of("table-physics-term", options);
  ASSERT_EQ(entries.size(), 3u);
  const auto distill = [&](size_t i) { return entries[i].experiment.distill; };
  EXPECT_EQ(distill(0).loss.lambda, 40 * usual.loss.lambda);
  const auto dmd = [&](size_t i) { return std::get<DmdOptions>(distill(i).own); };
  EXPECT_EQ(dmd(0).regression, 20);
  EXPECT_EQ(distill(1).loss.lambda, usual.loss.lambda);
  EXPECT_EQ(distill(2).loss.lambda, 0);
  for (const size_t i : {1, 2}) {
    EXPECT_EQ(dmd(i).critic_steps, 3);
    EXPECT_EQ(dmd(i).critic_lr, 0.125);
    EXPECT_EQ(dmd(i).warm_up, usual.train.steps / 2);
  }
  options.methods = {"pidm"};
  EXPECT_EQ(entries_of("table-physics-term", options).size(), 1u);
}

TEST(Tables, WithoutLambdaTheAblationHasNoPhysicsAtAll) {
  for (const auto scale : {Scale::smoke, Scale::small, Scale::paper}) {
    const auto options = table_options(scale);
    const auto usual = table_experiment(options, "darcy").distill.loss;
    ASSERT_GT(usual.error, 0);
    size_t panels = 0;
    for (const auto& entry : entries_of("figure-ablation", options)) {
      const auto& loss = entry.experiment.distill.loss;
      if (entry.labels.setting == "lambda_train = 0") {
        EXPECT_FALSE(loss.physics());
        ++panels;
      } else if (entry.labels.setting == "lambda_train = 10") {
        EXPECT_EQ(loss.lambda, 10);
        EXPECT_DOUBLE_EQ(loss.error, 10 * usual.error / usual.lambda);
        ++panels;
      }
    }
    EXPECT_EQ(panels, 2u);
  }
}

TEST(Tables, TheTeachersStepsOfTheAblationAreEulersAtUniformTimes) {
  size_t steps = 0;
  for (const auto& entry : entries_of("figure-ablation", table_options(Scale::smoke))) {
    if (!entry.labels.setting.starts_with("N_s")) continue;
    const auto& pairs = entry.experiment.distill.pairs;
    EXPECT_EQ(pairs.spacing, Spacing::uniform) << entry.labels.setting;
    EXPECT_EQ(pairs.integrator, IntegratorKind::euler) << entry.labels.setting;
    EXPECT_EQ(entry.labels.setting, fmt::format("N_s = {}", pairs.steps));
    ++steps;
  }
  EXPECT_EQ(steps, 6u);
}

TEST(Tables, EveryMethodRunsInOnePrecision) {
  for (const auto scale : {Scale::smoke, Scale::small, Scale::paper})
    for (const char* precision : {"fp32", "bf16"}) {
      auto options = table_options(scale);
      options.precision = precision == std::string("fp32") ? Precision::fp32 : Precision::bf16;
      for (const auto& name : {"table-generative", "table-downstream"})
        for (const auto& entry : entries_of(name, options))
          EXPECT_EQ(entry.options.value("precision", "fp32"), precision) << entry.labels.text();
      options.by_method["eci"]["precision"] = "tf32";
      options.methods = {"eci"};
      for (const auto& entry : entries_of("table-generative", options))
        EXPECT_EQ(entry.options.at("precision"), "tf32");
    }
}

TEST(Tables, BaselinesKeepTheirOwnWeightOfThePhysics) {
  auto options = table_options(Scale::paper);
  options.methods = {"piddm-1", "pidm", "dflow"};
  options.pdes = {"darcy", "burgers"};
  const auto entries = entries_of("table-generative", options);
  ASSERT_EQ(entries.size(), 6u);
  EXPECT_EQ(entries[0].experiment.distill.loss.lambda, 40);
  EXPECT_EQ(entries[1].experiment.pidm.lambda, 10);
  EXPECT_EQ(entries[2].options.at("lambda"), 10);
  for (const size_t i : {4, 5}) {  // where nothing is said, the student's
    const auto& entry = entries[i];
    EXPECT_EQ(entry.method == "dflow" ? entry.options.at("lambda").get<double>() : entry.experiment.pidm.lambda,
              entry.experiment.distill.loss.lambda);
  }
}

TEST(Tables, TheTeacherHasAsManyEvaluationsInTasksAsInGeneration) {
  auto options = table_options(Scale::paper);
  options.methods = {"teacher"};
  for (const auto& entry : entries_of("table-downstream", options)) EXPECT_EQ(entry.options.at("steps"), 100);
  options.pdes = {"darcy"};
  for (const auto& entry : entries_of("table-generative", options)) EXPECT_EQ(entry.options.at("steps"), 50);
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

}  // namespace
}  // namespace piddm
