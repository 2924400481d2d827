// --resume continues the run that is there, and no other.

#include "piddm/core/config.h"
#include "piddm/data/dataset.h"
#include "tests/cli/workshop.h"

namespace piddm {
namespace {

namespace fs = std::filesystem;
using testing::expect_failure;
using testing::Workshop;
using Arguments = std::vector<std::string>;

class CliResume : public ::testing::Test {
 protected:
  /// A copy of the workshop's finished run.
  std::string copy(const std::string& name) const {
    fs::copy(shop_ / name, folder_ / name, fs::copy_options::recursive);
    return (folder_ / name).string();
  }
  static std::string weights(const fs::path& run) { return testing::read_text(run / "model/model.safetensors"); }
  static Arguments joined(Arguments first, const Arguments& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  }

  const Workshop& shop_ = Workshop::get();
  testing::TempDir folder_;
};

TEST_F(CliResume, ATeacherIsNotOverwrittenByAStudentNorTheOtherWayRound) {
  const auto teacher = copy("teacher"), student = copy("student");
  const auto before = weights(teacher), after = weights(student);
  expect_failure({"distill", "--teacher", teacher, "--out", teacher, "--resume"}, ExitCode::usage,
                 "holds the run of a teacher, not of a student");
  expect_failure({"train", "--out", student, "--resume"}, ExitCode::usage,
                 "holds the run of a student, not of a teacher");
  EXPECT_EQ(weights(teacher), before);
  EXPECT_EQ(weights(student), after);
}

TEST_F(CliResume, WhatARunIsMadeOfCannotChange) {
  const auto run = copy("teacher");
  const Arguments train = {"train", "--out", run, "--resume"};
  expect_failure(joined(train, {"--set", "process=vp"}), ExitCode::usage, R"(begun with process = "linear", not "vp")");
  expect_failure(joined(train, {"--set", "model.width=8"}), ExitCode::usage, "model.width");
  expect_failure(joined(train, {"--seed", "5"}), ExitCode::usage, "seed");
  expect_failure(joined(train, {"--data", shop_.at("other.npz")}), ExitCode::usage, "was begun with another data");
  expect_failure({"train", "darcy-32", "--out", run, "--resume"}, ExitCode::usage, "was begun with");
  expect_failure({"train", "--out", (folder_ / "none").string(), "--resume"}, ExitCode::usage, "no run here");
  EXPECT_EQ(testing::piddm(train).code, 0);  // finished: nothing to do
  EXPECT_EQ(weights(run), weights(shop_ / "teacher"));
}

TEST_F(CliResume, DataThatDifferInOneValueAreOtherData) {
  const auto run = copy("teacher"), file = (folder_ / "data.npz").string();
  auto data = load_dataset(shop_.at("data.npz"));
  data.fields[7][0][3][4] += 0.5;
  save_dataset(file, data);
  expect_failure({"train", "--out", run, "--resume", "--data", file, "--set", "train.steps=24"}, ExitCode::usage,
                 "was begun with another data");
}

TEST_F(CliResume, TrainingMayGoOnForLongerAndSaysSo) {
  const auto run = copy("teacher");
  const auto outcome = testing::piddm({"train", "--out", run, "--resume", "--set", "train.steps=24"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, ::testing::HasSubstr("goes on with train.steps = 24 (was 20)"));
  EXPECT_EQ(load_config(run + "/config.toml").at("train").at("steps"), 24);
  EXPECT_NE(weights(run), weights(shop_ / "teacher"));
}

TEST_F(CliResume, AStudentKeepsItsTeacherAndItsLoss) {
  const auto run = copy("student"), teacher = shop_.at("teacher");
  const Arguments distill = {"distill", "--teacher", teacher, "--out", run, "--resume"};
  expect_failure(joined(distill, {"--set", "distill.loss.lambda=0.125"}), ExitCode::usage, "distill.loss.lambda");
  expect_failure(joined(distill, {"--physics", "off"}), ExitCode::usage, "distill.loss.lambda");
  expect_failure(joined(distill, {"--objective", "dmd"}), ExitCode::usage, "distill.objective");
  const auto other = (folder_ / "other").string();
  ASSERT_EQ(testing::piddm({"train", shop_.config(), "--seed", "7", "--out", other, "--quiet"}).code, 0);
  expect_failure({"distill", "--teacher", other, "--out", run, "--resume"}, ExitCode::usage,
                 "was begun with another teacher");
  EXPECT_EQ(testing::piddm(distill).code, 0);
  EXPECT_EQ(weights(run), weights(shop_ / "student"));
}

TEST_F(CliResume, ARefusedRunDoesNotBlockTheCorrectedOne) {
  const Arguments distill = {"distill", "--teacher", shop_.at("teacher"), "--out", (folder_ / "run").string(),
                             "--quiet"};
  for (const char* wrong : {"distill.train.steps=0", "distill.loss.lambda=-1", "distill.pairs.chunk=0"})
    expect_failure(joined(distill, {"--set", wrong}), ExitCode::usage, "must");
  EXPECT_EQ(testing::piddm(distill).code, 0);
  const Arguments train = {"train", shop_.config(), "--out", (folder_ / "teacher").string(), "--quiet"};
  expect_failure(joined(train, {"--set", "train.batch=0"}), ExitCode::usage, "train.batch");
  EXPECT_EQ(testing::piddm(train).code, 0);
}

}  // namespace
}  // namespace piddm
