// `piddm reproduce` at the smallest scale: tables from nothing, shared steps, plans, the page, and what users get
// wrong.

#include "piddm/core/fields.h"
#include "tests/cli/child.h"
#include "tests/cli/workshop.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;
using testing::Arguments;
using testing::expect_failure;
using testing::only_json;
using testing::piddm;
using testing::read_text;
using testing::succeed;

Arguments reproduce(const std::string& name, const fs::path& out, const Arguments& more = {}) {
  Arguments command = {"reproduce", name, "--quiet", "--out", out.string(), "--set", "judge.resamples=5"};
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

size_t steps_in(const fs::path& out) {
  size_t n = 0;
  for (const auto& entry : fs::directory_iterator(out / "steps")) n += fs::exists(entry.path() / "step.json");
  return n;
}

TEST(Reproduce, MakesTablesThatShareTheirStepsAndOnePageOfThem) {
  const testing::TempDir folder;
  const fs::path out = folder / "out";
  const Arguments few = {"--set", "methods=[\"piddm-1\",\"teacher\"]"};
  succeed(reproduce("table-diversity", out, few));
  const auto steps = steps_in(out);
  for (const char* file : {"report.json", "table.md", "table.csv", "table.tex"})
    EXPECT_GT(fs::file_size(out / "table-diversity-smoke" / file), 100u) << file;

  Arguments generative = few;
  generative.insert(generative.end(), {"--set", "pdes=[\"darcy\"]"});
  succeed(reproduce("table-generative", out, generative));
  EXPECT_EQ(steps_in(out), steps);  // the same samples under other columns
  const auto report = json::parse(read_text(out / "table-generative-smoke" / "report.json"));
  ASSERT_EQ(report.at("rows").size(), 2u);
  for (const auto& row : report.at("rows")) {
    EXPECT_GT(row.at("metrics").at("pde_error").get<double>(), 0);
    EXPECT_EQ(row.at("intervals").at("mmse").size(), 2u);
    EXPECT_GT(row.at("paper").at("mmse").get<double>(), 0);
  }
  EXPECT_DOUBLE_EQ(report.at("rows")[1].at("metrics").at("pde_error_ratio").get<double>(), 1);
  EXPECT_EQ(report.at("scale"), "smoke");
  const auto file = (out / "table-generative-smoke" / "report.json").string();
  expect_failure({"reproduce", "table-generative", "--scale", "small", "--merge", file, "--out", out.string()},
                 ExitCode::usage, "of scale smoke; add --scale smoke");
  EXPECT_FALSE(fs::exists(out / "table-generative-small"));
  expect_failure({"reproduce", "table-generative", "--merge", file, "--out", out.string(), "--set", "samples=3"},
                 ExitCode::usage, "--merge computes nothing");
  succeed({"reproduce", "table-generative", "--merge", file, "--out", (folder / "merged").string()});
  const auto page = read_text(out / "report-smoke.html");
  for (const char* part : {"table-diversity", "table-generative", "frechet_teacher", "data:image/"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
}

TEST(Reproduce, APlanWritesNothingAndListsTheSteps) {
  const testing::TempDir folder;
  const auto plan = only_json(piddm(reproduce("table-components", folder / "out", {"--dry-run", "--json"})));
  EXPECT_FALSE(fs::exists(folder / "out"));
  std::vector<std::string> names;
  for (const auto& step : plan.at("steps")) {
    EXPECT_FALSE(step.at("done").get<bool>());
    names.push_back(step.at("name"));
  }
  for (const char* name :
       {"training data darcy", "teacher darcy", "regression student darcy", "darcy generate distill"})
    EXPECT_THAT(names, ::testing::Contains(name));
  EXPECT_GT(plan.at("bytes").get<int64_t>(), 0);
}

TEST(Reproduce, NamesEverything) {
  const auto list = only_json(piddm({"reproduce", "--list", "--json"}));
  for (const char* name :
       {"table-generative",   "table-compute",     "table-downstream",    "table-variants",    "table-components",
        "table-diversity",    "table-teacher",     "table-architecture",  "table-weighting",   "table-latent",
        "table-physics-term", "table-sensitivity", "figure-ablation",     "figure-forward",    "figure-pareto",
        "figure-jensen",      "figure-mog",        "figure-training-gap", "table-corruptions", "theory"})
    EXPECT_TRUE(list.contains(name)) << name;
}

TEST(Reproduce, SaysWhatIsWrong) {
  const testing::TempDir folder;
  const fs::path out = folder / "out";
  expect_failure({"reproduce"}, ExitCode::usage, "name an experiment");
  expect_failure(reproduce("table-generativ", out), ExitCode::usage, "did you mean 'table-generative'?");
  expect_failure(reproduce("table-compute", out, {"--scale", "large"}), ExitCode::usage, "unknown scale 'large'");
  expect_failure(reproduce("table-compute", out, {"--set", "pdes=[\"heat\"]"}), ExitCode::usage, "'heat'");
  expect_failure(reproduce("table-compute", out, {"--set", "sampels=3"}), ExitCode::usage, "did you mean 'samples'?");
  expect_failure(reproduce("table-compute", out, {"--set", "experiment.train.stepps=3"}), ExitCode::usage,
                 "did you mean 'steps'?");
  expect_failure(reproduce("table-compute", out, {"--poseidon", (folder / "nothing").string()}), ExitCode::data,
                 "nothing");
}

}  // namespace
}  // namespace piddm
