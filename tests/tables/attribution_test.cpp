#include "piddm/tables/attribution.h"

#include <algorithm>
#include <map>
#include <set>

#include "piddm/tables/merge.h"
#include "piddm/tables/run.h"
#include "tests/recipe/tiny_tables.h"
#include "tests/testing.h"

namespace piddm {
namespace {

using Keys = std::set<std::string>;
using ::testing::ElementsAre;

std::vector<std::string> names_of(const std::vector<AttributedRow>& rows) {
  std::vector<std::string> out;
  for (const auto& row : rows) out.push_back(row.name);
  return out;
}

const AttributedRow& named(const std::vector<AttributedRow>& rows, const std::string& name) {
  for (const auto& row : rows)
    if (row.name == name) return row;
  throw std::out_of_range(name);
}

/// Keys in which two experiments differ.
Keys differences(const Experiment& a, const Experiment& b) {
  const auto x = write_fields(a).flatten(), y = write_fields(b).flatten();
  Keys out;
  for (const auto& [key, value] : x.items())
    if (!y.contains(key) || y.at(key) != value) out.insert(key);
  for (const auto& [key, value] : y.items())
    if (!x.contains(key)) out.insert(key);
  return out;
}

Keys within(const Keys& keys, const std::string& prefix) {
  Keys out;
  for (const auto& key : keys)
    if (key.starts_with(prefix)) out.insert(key);
  return out;
}

const std::map<std::string, Keys> kMay = {
    {"heads",
     {"/distill/heads/band_limited", "/distill/heads/smooth", "/distill/heads/bounded", "/distill/heads/constrained",
      "/distill/train/precision"}},
    {"physics", {"/distill/loss/lambda", "/distill/loss/boundary"}},
    {"heads + physics", {"/distill/loss/lambda", "/distill/loss/boundary"}},
    {"+ distance", {"/distill/loss/huber", "/distill/loss/solution_weight"}},
    {"+ error", {"/distill/loss/error"}},
    {"+ spread", {"/distill/loss/spread"}},
    {"+ fresh", {"/distill/loss/fresh"}},
    {"+ sharp", {"/distill/heads/sharp"}},
    {"+ adversary", {"/distill/loss/adversary/weight", "/distill/loss/adversary/from"}},
    {"+ mean", {"/distill/loss/mean"}},
    {"+ physics on u", {"/distill/loss/freeze_coefficients"}},
    {"+ corrector", {"/distill/heads/corrector"}}};

/// Each row differs from the one it builds on in the keys of its component and in at least one of them.
void expect_steps(const std::vector<AttributedRow>& rows) {
  std::string before;
  for (const auto& row : rows) {
    const auto& onto = row.name == "heads" || row.name == "physics" ? "bare" : before;
    if (row.name != "bare") {
      const auto changed =
          differences(named(rows, row.name == "heads + physics" ? "heads" : onto).experiment, row.experiment);
      EXPECT_FALSE(changed.empty()) << row.name;
      for (const auto& key : changed) {
        const bool skips = key.ends_with("/skip") || key.starts_with("/distill/model") || key.ends_with("band_limited");
        EXPECT_TRUE(row.name == "+ local skips" ? skips : kMay.at(row.name).contains(key)) << row.name << " " << key;
      }
    }
    before = row.name;
  }
}

TEST(Attribution, EachRowAddsTheComponentItNamesAndNothingElse) {
  for (const auto scale : {Scale::smoke, Scale::small, Scale::paper})
    for (const char* pde : {"darcy", "poisson", "burgers"}) {
      const auto options = table_options(scale);
      const auto rows = attributed_students(options, pde);
      expect_steps(rows);
      const auto whole = table_experiment(options, pde);
      EXPECT_EQ(std::count_if(rows.begin(), rows.end(),
                              [&](const auto& row) { return differences(row.experiment, whole).empty(); }),
                1)
          << pde;
      const auto& bare = rows.front().experiment.distill;
      EXPECT_FALSE(bare.loss.physics());
      EXPECT_EQ(write_fields(bare.heads), write_fields(HeadOptions{}));
      EXPECT_EQ(bare.train.adam.lr, whole.distill.train.adam.lr);
      for (const auto& row : rows) EXPECT_FALSE(row.meaning.empty()) << row.name;
    }
}

/// Options that ask for every component there is.
TableOptions everything() {
  auto options = table_options(Scale::paper);
  merge_config(options.experiment, parse_toml(R"(
    model = { skip = 3 }
    [distill]
    heads = { band_limited = false, sharp = true, corrector = 2 }
    loss = { fresh = 0.5, mean = 2.0, freeze_coefficients = true, adversary = { weight = 0.3 } }
  )",
                                              "all"));
  return options;
}

TEST(Attribution, TheLastRowIsWhatTheOptionsAskFor) {
  const auto options = everything();
  const auto rows = attributed_students(options, "darcy");
  EXPECT_THAT(names_of(rows),
              ElementsAre("bare", "heads", "physics", "heads + physics", "+ distance", "+ error", "+ spread", "+ fresh",
                          "+ local skips", "+ physics on u", "+ sharp", "+ adversary", "+ mean", "+ corrector"));
  expect_steps(rows);
  const auto whole = table_experiment(options, "darcy");
  EXPECT_EQ(differences(rows.back().experiment, whole), Keys{});
  EXPECT_EQ(rows.back().experiment.distill.loss.adversary.weight, 0.3);
  const auto& fresh = named(rows, "+ fresh").experiment;  // the student as it was
  EXPECT_TRUE(fresh.distill.heads.band_limited && fresh.distill.heads.smooth);
  EXPECT_FALSE(fresh.model.contains("skip"));
  EXPECT_EQ(fresh.distill.heads.corrector, 0);
}

TEST(Attribution, ComponentsThatTheExperimentDoesNotHaveStandBehindIt) {
  auto options = table_options(Scale::paper);
  merge_config(options.experiment,
               parse_toml(R"(
    model = { skip = 1 }
    [distill]
    heads = { band_limited = true, sharp = false, corrector = 0 }
    loss = { error = 0.0, fresh = 0.0, mean = 0.0, adversary = { weight = 0.0 } }
  )",
                          "own"));
  const auto rows = attributed_students(options, "darcy");
  EXPECT_EQ(differences(named(rows, "+ physics on u").experiment, table_experiment(options, "darcy")), Keys{});
  const auto names = names_of(rows);
  EXPECT_EQ(std::count(names.begin(), names.end(), "+ error"), 0);
  const std::vector<std::string> behind(std::find(names.begin(), names.end(), "+ physics on u"), names.end());
  EXPECT_THAT(behind,
              ElementsAre("+ physics on u", "+ fresh", "+ local skips", "+ sharp", "+ adversary", "+ mean",
                          "+ corrector"));
  const auto& last = rows.back().experiment.distill;
  EXPECT_EQ(last.model.at("skip"), 3);
  EXPECT_EQ(last.heads.corrector, 5);
  EXPECT_TRUE(last.heads.sharp);
  EXPECT_GT(last.loss.adversary.weight, 0);
}

TEST(Attribution, ThePapersRowsHaveNothingOfOurs) {
  const auto papers = paper_experiment(everything(), "darcy");
  EXPECT_EQ(differences(papers, parse_experiment(load_config("darcy-paper"))), Keys{});
  EXPECT_EQ(papers.distill.train.adam.lr, 3e-2);
  auto smaller = table_options(Scale::small);  // has learning rates of its own
  const auto sized = paper_experiment(smaller, "burgers");
  EXPECT_EQ(sized.pde.grid, 64);
  EXPECT_EQ(sized.train.adam.lr, 3e-2);
  EXPECT_EQ(sized.distill.train.steps, smaller.experiment.at("/distill/train/steps"_json_pointer));
  EXPECT_EQ(write_fields(sized.distill.loss),
            write_fields(parse_experiment(load_config("burgers-paper")).distill.loss));
}

TEST(Attribution, SolversGoFromThePapersToTheExperiments) {
  const auto options = table_options(Scale::paper);
  const auto rows = attributed_solvers(options, "darcy");
  EXPECT_THAT(names_of(rows),
              ElementsAre("Algorithm 3", "+ L-BFGS", "+ preconditioner", "+ spread", "+ annealing", "+ reach"));
  const std::vector<Keys> keys = {{"/solve/task/optimizer"},
                                  {"/solve/precondition", "/solve/lambda"},
                                  {"/solve/spread"},
                                  {"/solve/anneal"},
                                  {"/solve/reach"}};
  for (size_t i = 1; i < rows.size(); ++i)
    EXPECT_EQ(differences(rows[i - 1].experiment, rows[i].experiment), keys[i - 1]) << rows[i].name;
  EXPECT_EQ(differences(rows.back().experiment, table_experiment(options, "darcy")), Keys{});
  const auto papers = paper_experiment(options, "darcy");
  EXPECT_EQ(write_fields(rows.front().experiment.solve.task), write_fields(papers.solve.task));
  const auto verbatim = differences(rows.front().experiment, papers);
  EXPECT_EQ(within(verbatim, "/solve"), within(verbatim, "/solve/refine"));
  const auto& solve = rows.front().experiment.solve;
  EXPECT_EQ(solve.task.optimizer, LatentOptimizer::adam);
  EXPECT_TRUE(solve.spread == 1 && solve.anneal == 0 && solve.reach == 0 && !solve.precondition && solve.lambda == 10);
}

TEST(Attribution, RowsAreChosenByNameAndComeWithTheirDecodes) {
  auto options = table_options(Scale::smoke);
  const auto settings = [&](const std::vector<std::string>& asked) {
    options.settings = asked;
    std::vector<std::string> out;
    for (const auto& entry : table_attribution().entries(options))
      out.push_back(entry.labels.pde + " " + entry.labels.setting + (entry.decode ? " (solved)" : ""));
    return out;
  };
  options.pdes = {"darcy"};
  EXPECT_THAT(settings({"+ error", "teacher, low-pass quarter"}),
              ElementsAre("darcy teacher, low-pass quarter", "darcy + error", "darcy + error, decoded (solved)",
                          "darcy + error, cut and decoded (solved)"));
  EXPECT_ERROR(settings({"+ eror"}), ExitCode::usage, "'+ error'");
  options.pdes = {"poisson"};  // has no two values to cut to, and no such term
  EXPECT_THAT(settings({"heads"}), ElementsAre("poisson heads", "poisson heads, decoded (solved)"));
  EXPECT_ERROR(settings({"+ error"}), ExitCode::usage, "none of these rows");
  options.pdes = {"heat"};
  EXPECT_ERROR(settings({}), ExitCode::usage, "'heat'");
}

/// Runs in groups, joined.
class AttributionRuns : public ::testing::Test {
 protected:
  Report group(const std::vector<std::string>& settings, std::vector<uint64_t> seeds = {0}) {
    options_.settings = settings;
    options_.seeds = std::move(seeds);
    return run_table("table-attribution", options_, folder_.path(), folder_ / "out", torch::kCPU);
  }
  void SetUp() override { options_.pdes = {"darcy"}; }

  testing::TempDir folder_;
  TableOptions options_ = testing::tiny_table_options();
};

TEST_F(AttributionRuns, GroupsOfRowsAreJoined) {
  const auto teachers = group({"teacher", "teacher in bf16", "teacher, low-pass eighth"});
  const auto made = testing::finished_steps(folder_.path());
  const auto students = group({"bare", "heads"});
  const auto added = testing::new_steps(made, testing::finished_steps(folder_.path()));
  EXPECT_EQ(added.count("plain regression student darcy"), 2u);
  EXPECT_EQ(added.count("teacher darcy"), 0u);
  EXPECT_FALSE(students.rows[0].metric("pde_error_ratio").has_value());
  const auto whole = merge_reports({teachers, students});
  ASSERT_EQ(whole.rows.size(), 11u);
  std::map<std::string, const Row*> rows;
  for (const auto& row : whole.rows) rows[row.labels.setting] = &row;
  const double teacher = *rows.at("teacher")->metric("pde_error");
  for (const char* name : {"teacher in bf16", "teacher, low-pass eighth", "bare", "heads"}) {
    const auto& row = *rows.at(name);
    EXPECT_NEAR(*row.metric("pde_error_ratio"), *row.metric("pde_error") / teacher, 1e-6) << name;
    EXPECT_TRUE(row.metric("nfe") && row.metric("training_seconds") && row.metric("between")) << name;
  }
  EXPECT_EQ(*rows.at("teacher in bf16")->metric("pde_error"), teacher);  // a CPU has no bf16
  EXPECT_LT(*rows.at("teacher, low-pass eighth")->metric("pde_error"), teacher / 2);
  EXPECT_EQ(*rows.at("teacher, low-pass eighth")->metric("between"), *rows.at("teacher")->metric("between"));
  for (const char* name : {"teacher, decoded", "bare, decoded", "heads, decoded"})
    EXPECT_LT(*rows.at(name)->metric("solution_error"), 1e-12) << name;
  EXPECT_GT(*rows.at("heads, decoded")->metric("between"), 0);
  EXPECT_EQ(*rows.at("heads, cut and decoded")->metric("between"), 0);
}

TEST_F(AttributionRuns, SeedsInSeveralReportsAreOneRow) {
  const auto together = group({"teacher"}, {1, 2});
  const auto joined = merge_reports({group({"teacher"}, {1}), group({"teacher"}, {2})});
  ASSERT_EQ(joined.rows.size(), 3u);
  for (size_t i = 0; i < 3; ++i)
    for (const char* metric : {"pde_error", "mmse", "pde_error_ratio"}) {
      EXPECT_DOUBLE_EQ(*joined.rows[i].metric(metric), *together.rows[i].metric(metric)) << metric;
      const auto deviation = together.rows[i].deviation.find(metric);
      EXPECT_EQ(joined.rows[i].deviation.find(metric), deviation) << metric;
    }
}

TEST_F(AttributionRuns, APlanNamesEveryStep) {
  options_.settings = {"teacher", "paper's PIDDM", "heads + physics"};
  std::multiset<std::string> names;
  for (const auto& step : plan_table("table-attribution", options_, folder_.path(), torch::kCPU))
    names.insert(step.name);
  EXPECT_EQ(names.count("teacher darcy"), 2u);  // ours and the paper's
  EXPECT_EQ(names.count("regression student darcy"), 2u);
  EXPECT_EQ(names.count("darcy generate piddm-1 heads + physics, decoded"), 1u);
}

TEST_F(AttributionRuns, TasksOfThePapersAlgorithmAndOurs) {
  options_.settings = {"Algorithm 3", "+ reach"};
  options_.tasks = {"forward", "reconstruct"};
  const auto report = run_table("table-attribution-tasks", options_, folder_.path(), folder_ / "tasks", torch::kCPU);
  ASSERT_EQ(report.rows.size(), 4u);
  for (const auto& row : report.rows) {
    EXPECT_TRUE(row.result.done()) << row.labels.text();
    EXPECT_EQ(row.metric("nfe"), 2);
  }
  EXPECT_NE(report.rows[2].metric("mse_u"), report.rows[3].metric("mse_u"));
  EXPECT_EQ(testing::new_steps({}, testing::finished_steps(folder_.path())).count("regression student darcy"), 1u);
}

}  // namespace
}  // namespace piddm
