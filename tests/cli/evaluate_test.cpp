// `piddm evaluate`: columns, intervals, FPD and its stand-in, tasks and ensembles.

#include "piddm/data/dataset.h"
#include "tests/cli/workshop.h"

namespace piddm {
namespace {

using testing::Arguments;
using testing::expect_failure;
using testing::Workshop;

class CliEvaluate : public ::testing::Test {
 protected:
  std::string out(const std::string& name) const { return (folder_ / name).string(); }

  Arguments command(Arguments more, const std::string& input = "samples.npz") const {
    Arguments all = {"evaluate", shop_.at(input), "--reference", shop_.at("other.npz")};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  json run(const Arguments& arguments) const {
    auto all = arguments;
    all.insert(all.end(), {"--json", "--quiet"});
    return testing::only_json(testing::piddm(all));
  }

  const Workshop& shop_ = Workshop::get();
  testing::TempDir folder_;
};

TEST_F(CliEvaluate, WithoutWeightsFpdIsAbsentAndTheStandInHasAnotherName) {
  const auto text = testing::succeed(command({"--features", shop_.at("teacher")})).out;
  EXPECT_THAT(text, ::testing::HasSubstr("absent"));
  EXPECT_THAT(text, ::testing::HasSubstr("frechet_teacher is no FPD"));
  const auto report = run(command({"--features", shop_.at("teacher"), "--resamples", "20"}));
  const auto& row = report.at("samples").at(shop_.at("samples.npz"));
  EXPECT_FALSE(row.contains("fpd"));
  EXPECT_TRUE(report.at("absent").contains("fpd"));
  EXPECT_GT(row.at("frechet_teacher").get<double>(), 0);
  EXPECT_TRUE(row.at("intervals").contains("frechet_teacher"));
  EXPECT_GT(report.at("floor").at("frechet_teacher").get<double>(), 0);
}

TEST_F(CliEvaluate, ACheckpointGivesFpdOfEveryField) {
  const auto report = run(command({"--poseidon", testing::golden("scot-tiny").string(), "--resamples", "0"}));
  const auto& row = report.at("samples").at(shop_.at("samples.npz"));
  EXPECT_TRUE(row.at("fpd").is_number());
  EXPECT_GT(row.at("fpd_a").get<double>(), 0);
  EXPECT_TRUE(report.at("floor").contains("fpd"));
  EXPECT_FALSE(report.contains("absent"));
  EXPECT_FALSE(row.contains("intervals"));
}

TEST_F(CliEvaluate, WrongFoldersAreNamed) {
  expect_failure(command({"--poseidon", out("none")}), ExitCode::data, "none: no such folder");
  expect_failure(command({"--poseidon", shop_.at("teacher/model")}), ExitCode::data, "a model of piddm");
  expect_failure(command({"--poseidon", folder_.path().string()}), ExitCode::data, "config.json is missing");
  expect_failure(command({"--features", shop_.at("student")}), ExitCode::usage, "is a student");
}

TEST_F(CliEvaluate, ColumnsCanBeChosen) {
  const auto written = out("table.csv");
  const auto text =
      testing::succeed(command({"--columns", "swd,mmse_u,peak_memory_mib", "--intervals", "--out", written}, "student"))
          .out;
  const auto csv = testing::read_text(written);
  EXPECT_EQ(csv.substr(0, csv.find('\n')), "samples,swd,mmse_u,peak_memory_mib");
  EXPECT_THAT(text, ::testing::HasSubstr("["));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("solution_error")));
  expect_failure(command({"--columns", "smd"}), ExitCode::usage, "did you mean");
}

TEST_F(CliEvaluate, ModelsShowWhatTheyCost) {
  const auto row = run(command({"--n", "4"}, "student")).at("samples").at(shop_.at("student"));
  EXPECT_GT(row.at("training_seconds").get<double>(), 0);
  EXPECT_GE(row.at("peak_memory_mib").get<double>(), 0);
}

// The hard replacement shows what was revealed: entries that are exactly the truth's.
TEST_F(CliEvaluate, AMaskSeedRevealsTheSameEntriesToOtherStarts) {
  const auto revealed = [&](const Arguments& seeds) {
    Arguments all = {
        "solve", shop_.at("student"), "--task", "reconstruct", "--observe", shop_.at("other.npz"), "--n", "2",
        "--set", "task.iterations=2", "--set",  "spread=1",    "--out",     out("answer.npz")};
    all.insert(all.end(), seeds.begin(), seeds.end());
    const auto report = run(all);
    EXPECT_EQ(report.at("precision"), "fp32");
    const auto answer = load_dataset(out("answer.npz")).fields;
    const auto truth = load_dataset(shop_.at("other.npz")).fields.narrow(0, 0, 2);
    return std::pair(((answer - truth).abs() < 1e-6 * truth.abs()).select(1, 0), answer);
  };
  const auto [usual, first] = revealed({"--seed", "3"});
  const auto [named, same] = revealed({"--seed", "3", "--mask-seed", "3"});
  EXPECT_TRUE(torch::equal(first, same));  // the mask is the seed's unless named
  const auto [kept, other] = revealed({"--seed", "4", "--mask-seed", "3"});
  EXPECT_TRUE(torch::equal(kept, usual));
  EXPECT_FALSE(torch::equal(other, first));
  const auto misfit = [&](const Arguments& seeds) {
    Arguments all = {"evaluate",    out("answer.npz"), "--reference",         shop_.at("other.npz"), "--task",
                     "reconstruct", "--observe",       shop_.at("other.npz"), "--resamples",         "0"};
    all.insert(all.end(), seeds.begin(), seeds.end());
    return run(all).at("samples").at(out("answer.npz")).at("constraint_error").get<double>();
  };
  EXPECT_LT(misfit({"--seed", "4", "--mask-seed", "3"}), 1e-10);
  EXPECT_GT(misfit({"--seed", "4"}), 1e-4);
  expect_failure({"solve", shop_.at("student"), "--task", "forward", "--observe", shop_.at("other.npz"), "--mask-seed",
                  "-1", "--out", out("answer.npz")},
                 ExitCode::usage, "--mask-seed");
}

TEST_F(CliEvaluate, JudgesTasksAndEnsembles) {
  Arguments files;
  for (const char* seed : {"1", "2"}) {
    files.push_back(out(std::string("solved") + seed + ".npz"));
    testing::succeed({"solve", shop_.at("student"), "--task", "inverse", "--observe", shop_.at("other.npz"), "--n", "3",
                      "--method", "piddm", "--seed", seed, "--out", files.back()});
  }
  Arguments arguments = {"evaluate",  files[0],  files[1],    "--reference",         shop_.at("other.npz"),
                         "--task",    "inverse", "--observe", shop_.at("other.npz"), "--ensemble",
                         "--columns", "mse_a",   "--model",   shop_.at("student")};
  const auto report = run(arguments);
  const auto& row = report.at("samples").at(files[0]);
  EXPECT_EQ(row.at("n"), 3);
  EXPECT_LT(row.at("constraint_error").get<double>(), 1e-10);  // hard
  EXPECT_GT(row.at("mse_a").get<double>(), 0);
  EXPECT_TRUE(row.at("intervals").contains("rel_l2_a"));
  EXPECT_EQ(report.at("ensemble").at("members"), 2);
  EXPECT_GT(report.at("ensemble").at("crps_a").get<double>(), 0);
  arguments.erase(arguments.begin() + 2);
  expect_failure(arguments, ExitCode::usage, "--ensemble");
}

TEST_F(CliEvaluate, FewerSamplesThanAMetricNeedsIsAClearError) {
  expect_failure(command({"--n", "1"}, "student"), ExitCode::usage, "--n: must be at least 2, got 1");
  testing::succeed({"generate", shop_.at("student"), "--n", "1", "--out", out("one.npz")});
  expect_failure({"evaluate", out("one.npz"), "--reference", shop_.at("other.npz")}, ExitCode::data,
                 "at least 2 samples, got 1");
  testing::succeed({"data", "make", "darcy", "--n", "3", "--grid", "16", "--out", out("few.npz")});
  expect_failure({"evaluate", shop_.at("student"), "--reference", out("few.npz"), "--n", "4"}, ExitCode::data,
                 "few.npz: 3 true samples");
  expect_failure(command({"--task", "inverse"}), ExitCode::usage, "--task and --observe go together");
}

TEST(CliTune, WritesEveryTryAndTheChosenOptions) {
  const auto& shop = Workshop::get();
  const testing::TempDir folder;
  const auto out = (folder / "tuned.json").string();
  const Arguments command = {"tune",   "cocogen", "--teacher", shop.at("teacher"), "--budget", "2", "--samples", "4",
                             "--keep", "1000",    "--set",     "steps=50",         "--out",    out};
  const auto text = testing::succeed(command).out;
  const auto report = json::parse(testing::read_text(out));
  EXPECT_EQ(report.at("tries").size(), 2u);
  EXPECT_EQ(report.at("tries").at(0).at("model"), shop.at("teacher"));
  EXPECT_THAT(text, ::testing::HasSubstr("--set 'by_method.cocogen="));
  expect_failure({"tune", "cocogen", "--out", out}, ExitCode::usage, "name a model");
  expect_failure({"tune", "eci", "--student", shop.at("student"), "--out", out}, ExitCode::usage, "is a student");
}

}  // namespace
}  // namespace piddm
