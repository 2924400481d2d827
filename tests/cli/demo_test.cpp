// `piddm demo`, made tiny: its report, its second run, and its survival of a kill.

#include <signal.h>

#include <algorithm>
#include <sstream>

#include "piddm/core/fields.h"
#include "piddm/data/dataset.h"
#include "tests/cli/child.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;
using testing::Arguments;
using testing::Child;

Arguments demo_command(const fs::path& out, const std::string& grid = "16") {
  Arguments command = {"demo", "--quiet", "--out", out.string(), "--grid", grid};
  for (const char* setting : {"held_out=8",
                              "samples=8",
                              "cases=2",
                              "experiment.data.n=16",
                              "experiment.model.width=4",
                              "experiment.model.modes=[4,4]",
                              "experiment.model.layers=2",
                              "experiment.model.lifting=8",
                              "experiment.model.projection=8",
                              "experiment.train.steps=30",
                              "experiment.train.batch=4",
                              "experiment.train.checkpoint_every=1",
                              "experiment.distill.pairs.steps=4",
                              "experiment.distill.pairs.chunk=8",
                              "experiment.distill.pairs.every=5",
                              "experiment.distill.pairs.held_out=4",
                              "experiment.distill.train.steps=10",
                              "experiment.distill.train.batch=4",
                              "experiment.distill.train.checkpoint_every=1",
                              "experiment.distill.train.validate_every=4",
                              "experiment.solve.task.iterations=3"})
    command.insert(command.end(), {"--set", setting});
  return command;
}

std::map<std::string, fs::file_time_type> finished_steps(const fs::path& out) {
  std::map<std::string, fs::file_time_type> steps;
  for (const auto& entry : fs::directory_iterator(out / "steps"))
    if (fs::exists(entry.path() / "step.json"))
      steps[entry.path().filename().string()] = fs::last_write_time(entry.path() / "step.json");
  return steps;
}

json report_of(const fs::path& out) { return json::parse(testing::read_text(out / "report.json")); }

/// The report without what depends on the clock.
json timeless(json report) {
  report.erase("sha256");
  report.at("ensemble").erase("seconds_per_sample");
  for (const char* part : {"methods", "tasks"})
    for (auto& row : report.at(part))
      for (const char* clock : {"seconds_per_sample", "training_seconds"}) row.erase(clock);
  return report;
}

void expect_keys(const json& row, const std::vector<std::string>& keys) {
  for (const auto& key : keys) EXPECT_TRUE(row.contains(key) && row.at(key).is_number()) << key;
}

bool step_begun(const fs::path& out, const std::string& name) {
  if (!fs::exists(out / "steps")) return false;
  for (const auto& entry : fs::directory_iterator(out / "steps"))
    if (entry.path().filename().string().rfind("unfinished-" + name, 0) == 0 &&
        fs::exists(entry.path() / "checkpoints" / "latest"))
      return true;
  return false;
}

/// The demo without any disturbance, once for all tests.
fs::path finished_demo() {
  static const testing::TempDir folder;
  if (fs::exists(folder / "demo")) return folder / "demo";
  const auto first = testing::piddm(demo_command(folder / "demo"));
  EXPECT_EQ(first.code, 0) << first.err;
  return folder / "demo";
}

TEST(Demo, ReportsEveryMethodAndTask) {
  const auto out = finished_demo();
  const auto report = report_of(out);
  const std::vector<std::string> physics = {"pde_error", "rel_residual", "solution_error"},
                                 work = {"nfe", "backward", "seconds_per_sample"},
                                 spread = {"mmse", "mmse_u", "mmse_a", "smse", "smse_u", "smse_a"};
  for (const char* method : {"teacher", "distill", "piddm-1", "piddm-ref", "piddm-1-decoded"}) {
    SCOPED_TRACE(method);
    for (const auto& keys : {spread, physics, work}) expect_keys(report.at("methods").at(method), keys);
  }
  for (const char* task : {"forward", "inverse", "reconstruct"}) {
    SCOPED_TRACE(task);
    for (const auto& keys : {physics, work}) expect_keys(report.at("tasks").at(task), keys);
    expect_keys(report.at("tasks").at(task), {"mse_u", "mse_a", "misclassified", "mean_field_mse_u"});
    EXPECT_EQ(report.at("tasks").at(task).at("nfe"), 3.0);
  }
  for (const auto& keys : {spread, physics}) expect_keys(report.at("floor"), keys);
  EXPECT_EQ(report.at("methods").at("teacher").at("nfe"), 100.0);
  EXPECT_EQ(report.at("methods").at("piddm-1").at("nfe"), 1.0);
  EXPECT_EQ(report.at("methods").at("piddm-ref").at("nfe"), 80.0);
  EXPECT_LE(report.at("methods").at("piddm-1-decoded").at("rel_residual").get<double>(), 1e-8);
  for (const char* file : {"report.md", "samples.png", "tasks.png"}) EXPECT_GT(fs::file_size(out / file), 100U) << file;
}

TEST(Demo, EndsWithSensorsAndAnEnsembleThatItsCommandMakesAgain) {
  const testing::TempDir folder;
  const auto out = folder / "demo";
  fs::copy(finished_demo(), out, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  const auto demo = testing::piddm(demo_command(out));
  ASSERT_EQ(demo.code, 0) << demo.err;
  const auto from = demo.out.find("piddm solve " + (out / "student").string() + " --sensors ");
  ASSERT_NE(from, std::string::npos) << demo.out;
  std::istringstream words(demo.out.substr(from, demo.out.find("    (", from) - from));
  Arguments again;
  for (std::string word; words >> word;) again.push_back(word);
  const auto read = [&] { return load_dataset(out / "ensemble.npz").fields; };
  const auto members = read();
  EXPECT_EQ(members.size(0), 64);
  EXPECT_GT(members.std(0).min().item<double>(), 0);
  const auto sensors = testing::read_text(out / "sensors.csv");
  EXPECT_EQ(std::count(sensors.begin(), sensors.end(), '\n'), 41);
  EXPECT_GT(fs::file_size(out / "ensemble.png"), 100U);
  const auto row = report_of(out).at("ensemble");
  EXPECT_EQ(row.at("method"), "piddm");
  EXPECT_EQ(row.at("task"), "inverse");
  EXPECT_EQ(row.at("noisy_values"), 40);
  expect_keys(row, {"chi2", "spread_u", "spread_a", "mse_a", "seconds_per_sample"});

  fs::remove(out / "ensemble.npz");
  const auto solved = testing::piddm({again.begin() + 1, again.end()});
  ASSERT_EQ(solved.code, 0) << solved.err;
  EXPECT_TRUE(torch::equal(read(), members));
}

TEST(Demo, WorksForPdesWithScalarsEdgesAndThreeChannels) {
  for (const std::string pde : {"stokes", "navier-stokes"}) {
    SCOPED_TRACE(pde);
    const testing::TempDir folder;
    auto command = demo_command(folder / "demo");
    command.insert(command.end(), {"--pde", pde});
    const auto outcome = testing::piddm(command);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto report = report_of(folder / "demo");
    EXPECT_EQ(report.at("pde").at("name"), pde);
    EXPECT_EQ(report.at("floor").contains("boundary_error"), pde == "stokes");
    for (const auto& channel : report.at("pde").at("channels"))
      expect_keys(report.at("methods").at("piddm-1"), {"mmse_" + channel.get<std::string>()});
    EXPECT_LT(report.at("methods").at("piddm-1-decoded").at("solution_error").get<double>(), 1e-9);
    EXPECT_EQ(report.at("paper").at("teacher").at("nfe"), 100);
    EXPECT_THAT(testing::read_text(folder / "demo" / "report.md"), ::testing::HasSubstr("PIDDM-1, one evaluation"));
  }
}

TEST(Demo, RefusesAnUnknownPde) {
  const auto outcome = testing::piddm({"demo", "--pde", "poissno"});
  EXPECT_EQ(outcome.code, static_cast<int>(ExitCode::usage));
  EXPECT_THAT(outcome.err, ::testing::HasSubstr("did you mean 'poisson'"));
}

TEST(Demo, ComputesNothingTwice) {
  const auto out = finished_demo();
  const auto report = report_of(out);
  const auto steps = finished_steps(out);
  EXPECT_EQ(steps.size(), 15U);
  EXPECT_EQ(testing::piddm(demo_command(out)).code, 0);
  EXPECT_EQ(finished_steps(out), steps);
  EXPECT_EQ(timeless(report_of(out)), timeless(report));
}

TEST(Demo, DrawsItsPicturesInOtherFormats) {
  const testing::TempDir folder;
  const auto out = folder / "demo";
  fs::copy(finished_demo(), out, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  for (const std::string format : {"svg", "pdf"}) {
    auto command = demo_command(out);
    command.insert(command.end(), {"--format", format, "--dpi", "96"});
    const auto outcome = testing::piddm(command);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, ::testing::HasSubstr("samples." + format));
    for (const std::string name : {"samples", "tasks"}) {
      EXPECT_GT(fs::file_size(out / (name + "." + format)), 100U);
      const auto link = fmt::format("{}[{}]({}.{})", format == "pdf" ? "\n" : "!", name, name, format);
      EXPECT_THAT(testing::read_text(out / "report.md"), ::testing::HasSubstr(link));
    }
  }
}

TEST(Demo, ContinuesAfterKills) {
  const testing::TempDir folder;
  const auto out = folder / "killed";
  for (const char* step : {"teacher", "regression student"}) {
    Child child(demo_command(out));
    ASSERT_TRUE(child.wait_until([&] { return step_begun(out, step); })) << step << child.wait().err;
    child.signal(SIGKILL);
    EXPECT_EQ(child.wait().code, -SIGKILL);
    EXPECT_FALSE(fs::exists(out / "report.json"));
  }
  const auto done = finished_steps(out);
  EXPECT_GE(done.size(), 4U);  // both data sets, teacher, plain distillation
  ASSERT_EQ(testing::piddm(demo_command(out)).code, 0);
  const auto all = finished_steps(out);
  for (const auto& [name, time] : done) EXPECT_EQ(all.at(name), time) << name;
  EXPECT_EQ(timeless(report_of(out)), timeless(report_of(finished_demo())));
}

TEST(Demo, RunsOnARectangle) {
  const testing::TempDir folder;
  const auto out = folder / "demo";
  const auto outcome = testing::piddm(demo_command(out, "24x16"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  expect_keys(report_of(out).at("methods").at("piddm-1"), {"pde_error", "solution_error"});
  const auto samples = (folder / "samples.npz").string(), found = (folder / "found.npz").string();
  const auto student = (out / "student").string();
  for (const Arguments& command :
       {Arguments{"generate", student, "--n", "4", "--decode", "--quiet", "--out", samples},
        Arguments{"solve", student, "--task", "reconstruct", "--observe", samples, "--set", "task.iterations=2", "--n",
                  "1", "--quiet", "--out", found},
        Arguments{"evaluate", student, "--n", "4", "--resamples", "4", "--reference", samples, "--quiet"},
        Arguments{"plot", samples, "--quiet"}}) {
    const auto done = testing::piddm(command);
    EXPECT_EQ(done.code, 0) << done.err;
  }
  const auto info = testing::piddm({"data", "info", found});
  EXPECT_NE(info.out.find("1 samples of darcy on a 24x16 grid"), std::string::npos) << info.out;
}

}  // namespace
}  // namespace piddm
