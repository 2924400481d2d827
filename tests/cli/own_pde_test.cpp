// A PDE of one's own, from its file to sensors: every command takes the file; what is made with it needs it no more.

#include "piddm/data/data_file.h"
#include "piddm/data/dataset.h"
#include "tests/cli/child.h"
#include "tests/cli/workshop.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;
using testing::Arguments;

class OwnPde : public ::testing::Test {
 protected:
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  void copy(const std::string& example) const {
    fs::copy_file(testing::golden("../../examples/pdes") / (example + ".toml"), folder_ / (example + ".toml"));
  }
  json run(Arguments arguments) const {
    arguments.insert(arguments.end(), {"--json", "--quiet"});
    return testing::only_json(testing::piddm(arguments));
  }
  /// A network of 4 channels, trained for 20 steps on 16 samples.
  Arguments tiny(Arguments arguments, const std::string& prefix = "") const {
    for (const char* setting : {"model.width=4", "model.layers=2", "model.lifting=8", "model.projection=8", "data.n=16",
                                "train.steps=20", "train.batch=4", "distill.pairs.steps=4", "distill.pairs.chunk=8",
                                "distill.pairs.every=5", "distill.pairs.held_out=4", "distill.train.steps=20",
                                "distill.train.batch=4", "distill.train.validate_every=10", "solve.task.iterations=3"})
      arguments.insert(arguments.end(), {"--set", prefix + setting});
    return arguments;
  }
  void change(const std::string& file, const std::string& from, const std::string& to) const {
    auto text = testing::read_text(at(file));
    const auto begin = text.find(from);
    ASSERT_NE(begin, std::string::npos);
    testing::write_text(at(file), text.replace(begin, from.size(), to));
  }

  testing::TempDir folder_;
};

TEST_F(OwnPde, GoesFromItsFileToAnInverseProblem) {
  copy("fisher");
  const auto made = run({"data", "make", at("fisher.toml"), "--n", "16", "--out", at("train.npz")});
  EXPECT_EQ(made.at("description").at("grid"), json({64, 32}));
  EXPECT_EQ(made.at("description").at("pde"), "fisher");
  testing::succeed({"data", "make", at("fisher.toml"), "--n", "6", "--first", "1000000", "--out", at("test.npz")});
  EXPECT_TRUE(run({"data", "check", at("train.npz")}).at("pass"));
  run(tiny({"train", at("fisher.toml"), "--data", at("train.npz"), "--out", at("teacher")}));
  fs::remove(at("fisher.toml"));

  EXPECT_TRUE(run({"data", "check", at("train.npz")}).at("pass"));
  EXPECT_EQ(run({"data", "info", at("train.npz")}).at("description").at("definition").at("name"), "fisher");
  const auto resumed = run({"train", "--resume", "--out", at("teacher"), "--set", "train.steps=20"});
  EXPECT_EQ(resumed.at("run"), at("teacher"));
  run({"distill", "--teacher", at("teacher"), "--out", at("student")});
  const auto decoded = run({"generate", at("student"), "--n", "4", "--decode", "--out", at("decoded.npz")});
  EXPECT_LE(decoded.at("rel_residual").get<double>(), 1e-8);
  EXPECT_EQ(load_dataset(at("decoded.npz")).description.definition.at("name"), "fisher");
  const auto judged = run({"evaluate", at("teacher"), at("student"), at("decoded.npz"), "--reference", at("test.npz"),
                           "--n", "4", "--resamples", "0"})
                          .at("samples");
  EXPECT_LE(judged.at(at("decoded.npz")).at("pde_error").get<double>(), 1e-9);
  EXPECT_GT(judged.at(at("student")).at("pde_error").get<double>(), 1e-9);
  run({"plot", at("decoded.npz"), "--out", at("decoded.svg")});
  EXPECT_NE(testing::read_text(at("decoded.svg")).find("t (a)"), std::string::npos);  // the file's unit

  testing::write_text(at("s.csv"),
                      "kind,channel,x,t,x1,t1,value,sigma\npoint,u,0.5,0.4,,,0.7,0.05\n"
                      "box,u,1,0.5,1.5,0.8,0.6,0.05\n");
  const auto solved =
      run({"solve", at("student"), "--sensors", at("s.csv"), "--ensemble", "3", "--decode", "--out", at("found.npz")});
  EXPECT_EQ(solved.at("task"), "inverse");
  EXPECT_EQ(solved.at("noisy_values"), 2);
  EXPECT_LE(solved.at("rel_residual").get<double>(), 1e-8);
  run({"calibrate", at("student"), "--cases", "2", "--members", "3", "--points", "5"});
}

TEST_F(OwnPde, HasADemoAPosteriorAndAComparison) {
  copy("allen-cahn");
  const auto file = at("allen-cahn.toml");
  Arguments demo = {"demo", "--pde", file, "--grid", "16", "--out", at("demo")};
  for (const char* setting : {"held_out=6", "samples=4", "cases=1"}) demo.insert(demo.end(), {"--set", setting});
  const auto report = run(tiny(demo, "experiment."));
  EXPECT_EQ(report.at("pde").at("name"), "allen-cahn");
  EXPECT_EQ(report.at("pde").at("grid"), 16);
  EXPECT_EQ(report.at("pde").at("channels"), json({"u1", "u2", "u3", "u4", "u0"}));
  EXPECT_LE(report.at("methods").at("piddm-1-decoded").at("rel_residual").get<double>(), 1e-8);
  EXPECT_TRUE(report.at("methods").at("teacher").contains("solution_error"));

  run(tiny({"train", file, "--set", "pde.grid=16", "--set", "kind=posterior", "--out", at("posterior")}));
  fs::remove(file);
  run({"calibrate", at("posterior"), "--cases", "2", "--members", "3"});
  const auto compared = run({"compare", "--teacher", at("demo/teacher"), "--student", at("demo/student"), "--set",
                             "tasks=[\"generate\"]", "--set", "methods=[\"teacher\",\"piddm\"]", "--set", "samples=4",
                             "--set", "held_out=6", "--out", at("compare")});
  EXPECT_TRUE(compared.contains("rows"));
}

TEST_F(OwnPde, RefusesAnotherOfTheSameName) {
  copy("fisher");
  const auto file = at("fisher.toml");
  testing::succeed({"data", "make", file, "--n", "4", "--grid", "16", "--out", at("old.npz")});
  change("fisher.toml", "r*u*(1 - u)", "r*u*(1 - u^2)");
  testing::expect_failure({"train", file, "--data", at("old.npz"), "--out", at("run")}, ExitCode::data,
                          "these data are of another PDE of this name: equation is \"dt(u) = D*lap(u) + r*u*(1 - u)\", "
                          "not \"dt(u) = D*lap(u) + r*u*(1 - u^2)\"");
  testing::succeed({"data", "make", file, "--n", "4", "--grid", "16", "--out", at("new.npz")});
  testing::succeed(tiny({"train", file, "--data", at("new.npz"), "--out", at("run")}));
  const std::string difference = "another PDE of this name: equation is";
  testing::expect_failure({"solve", at("run"), "--task", "inverse", "--observe", at("old.npz"), "--out", at("no.npz")},
                          ExitCode::data, difference);
  testing::expect_failure({"evaluate", at("run"), "--reference", at("old.npz")}, ExitCode::data, difference);
  testing::expect_failure({"evaluate", at("new.npz"), "--reference", at("old.npz")}, ExitCode::data, difference);
  testing::expect_failure({"calibrate", at("run"), "--data", at("old.npz")}, ExitCode::data, difference);
  const auto checked = testing::piddm({"data", "check", at("old.npz"), "--pde", file});
  EXPECT_EQ(checked.code, 3) << checked.out;  // by the other equation: judged, and found wanting
  EXPECT_THAT(checked.err, ::testing::HasSubstr("the data do not pass"));
}

TEST_F(OwnPde, WarnsOfDataThatDoNotObeyIt) {
  copy("fisher");
  const auto file = at("fisher.toml");
  testing::succeed({"data", "make", file, "--n", "6", "--grid", "16", "--out", at("true.npz")});
  auto data = load_dataset(at("true.npz"));
  data.fields.select(1, 0) *= 1.1;
  data.description = {};
  save_dataset(at("own.npz"), data);
  testing::succeed({"data", "import", at("own.npz"), "--map", "u=u,D=D,r=r,u0=u0", "--axes", "nxt", "--pde", file,
                    "--out", at("imported.npz")});
  const auto train = [&](const std::string& name) {
    return testing::piddm(tiny({"train", file, "--data", at(name + ".npz"), "--out", at("run-" + name), "--quiet"}));
  };
  const auto odd = train("imported");
  EXPECT_EQ(odd.code, 0) << odd.err;
  EXPECT_THAT(odd.err, ::testing::HasSubstr("imported.npz does not obey the equation: pde_error "));
  EXPECT_THAT(odd.err, ::testing::HasSubstr("where solutions of fisher for the same coefficients have "));
  const auto good = train("true");
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_THAT(good.err, ::testing::Not(::testing::HasSubstr("does not obey")));
}

TEST_F(OwnPde, ADryRunPrintsTheSettingsAndTheirReasons) {
  copy("fisher");
  const auto shown = testing::piddm({"train", at("fisher.toml"), "--dry-run", "--quiet"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, ::testing::HasSubstr("# distill.loss.lambda = 10.0: white noise of one standard deviation"));
  testing::write_text(at("config.toml"), shown.out);  // a config as it stands
  const auto again = run({"train", at("config.toml"), "--dry-run"});
  const auto first = run({"train", at("fisher.toml"), "--dry-run"});
  EXPECT_EQ(nlohmann::json(again.at("experiment")), nlohmann::json(first.at("experiment")));
  EXPECT_TRUE(first.at("chosen").contains("distill.loss.lambda"));
  testing::expect_failure({"train", at("fishr.toml"), "--dry-run"}, ExitCode::data, "fishr.toml");
  testing::expect_failure({"data", "make", "fishr", "--out", at("a.npz")}, ExitCode::usage, "unknown PDE 'fishr'");
  testing::expect_failure({"demo", "--pde", at("config.toml"), "--out", at("demo")}, ExitCode::usage, "no PDE");
  testing::expect_failure({"reproduce", "table-generative", "--pdes", at("fisher.toml"), "--out", at("t")},
                          ExitCode::usage, "`piddm demo --pde FILE`");
}

}  // namespace
}  // namespace piddm
